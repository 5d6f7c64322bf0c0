//! Rule for commits: the subject is `area: verb ...`, and a large change has a body.

use std::process::Command;

use crate::root;

/// The findings about the commits since the newest tag, or about the last ones if there is no tag.
/// None without git.
pub(super) fn findings() -> Vec<String> {
    let tag = git(&["describe", "--tags", "--abbrev=0"]);
    let range = tag.map_or_else(|| "HEAD".to_owned(), |tag| format!("{}..HEAD", tag.trim()));
    let most = format!("-{MOST}");
    let since = format!("--since={SINCE}");
    let format = "--format=%x01%h%x00%s%x00%b%x00";
    let log = git(&["log", "--no-merges", "--shortstat", &most, &since, format, &range, "--"]);
    log.as_deref().map(read).unwrap_or_default()
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output().ok()?;
    String::from_utf8(output.stdout).ok().filter(|_| output.status.success())
}

/// The findings in the output of `git log`.
fn read(log: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for commit in log.split('\u{1}') {
        let parts: Vec<_> = commit.splitn(4, '\0').collect();
        let [hash, subject, body, changes] = parts[..] else { continue };
        findings.extend(fault(subject).map(|fault| format!("commit {hash}: \"{subject}\": {fault}")));
        let lines = lines(changes);
        if body.trim().is_empty() && lines > LARGE {
            findings.push(format!(
                "commit {hash}: changes {lines} lines without a body; state the reason in a body"
            ));
        }
    }
    findings
}

/// The number of changed lines in "2 files changed, 3 insertions(+), 1 deletion(-)".
fn lines(changes: &str) -> usize {
    let numbers = changes.split(", ").skip(1);
    numbers.filter_map(|part| part.split(' ').next()?.parse::<usize>().ok()).sum()
}

/// The fault of a subject, and its remedy.
fn fault(subject: &str) -> Option<String> {
    let length = subject.chars().count();
    if length > LONGEST {
        return Some(format!("{length} characters; shorten it to {LONGEST}"));
    }
    let Some((area, text)) = subject.split_once(": ") else {
        return Some("no area; write `area: verb ...`".to_owned());
    };
    if area.is_empty() || area.chars().any(char::is_uppercase) {
        return Some("the area is not a lower-case name; write `area: verb ...`".to_owned());
    }
    let verb = text.split(' ').next().unwrap_or_default();
    let is_verb = VERBS.split_whitespace().any(|known| known == verb);
    (!is_verb).then(|| {
        format!("`{verb}` is not in the list of verbs; use the imperative, or add the verb to commits.rs")
    })
}

/// Earlier commits do not follow the rule.
const SINCE: &str = "2026-11-29T12:00:00Z";

/// Commits that are checked.
const MOST: usize = 20;

/// Characters of a subject.
const LONGEST: usize = 72;

/// Changed lines that need an explanation.
const LARGE: usize = 200;

const VERBS: &str = "
    abort accept adapt add adjust adopt allow apply avoid ban batch bind bound break build bump cache cancel cap carry
    change check clarify clean clear close collapse collect combine compare compress compute connect convert copy
    correct count cover cut decode declare decompress define delay delete deny deprecate derive describe detect
    disable discard distinguish document drop emit enable encode end ensure enforce escape evict exclude expect
    explain export expose extend extract fail filter find finish fix flush follow forbid forward free freeze generate
    give grade group handle hide honour hold honor ignore implement import improve include increase index inline
    install introduce invalidate isolate join keep label leave let lift limit link list load lock log loosen lower
    make map mark match measure merge migrate mirror model move name normalise note obey offer omit open optimise
    order own pack parse pass pin plot poll prefer prepare prevent print probe process protect prove publish purge
    quote raise read rebuild record recover redirect reduce refactor refresh refuse register regenerate reject
    relate relax release reload remove rename reorder repair repeat replace replay report request require reserve
    reset resolve respect restore restrict retry return reuse revert reword rewrite roll rotate round route run
    sample save scale schedule scrub search select send separate serve set settle share show shorten shrink
    simplify simulate size skip sort speed split start state stop store stream strip support suspend switch take
    test tighten time tolerate trace track translate treat trim truncate try tune turn undo unify update upgrade
    use validate verify wait warn widen wrap write
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_has_area_and_verb() {
        assert_eq!(fault("link: drop from the tail when the queue is full"), None);
        assert_eq!(fault("edge, xtask: write messages in plain English"), None);
        assert!(fault("Merge everything").unwrap().starts_with("no area"));
        assert!(fault("Edge: add a test").unwrap().starts_with("the area"));
        assert!(fault("edge: a test waits").unwrap().starts_with("`a` is not in the list"));
        assert!(fault(&format!("edge: add {}", "n".repeat(63))).unwrap().starts_with("73 characters"));
    }

    #[test]
    fn large_change_has_a_body() {
        let log = |body: &str, lines: usize| {
            format!(
                "\u{1}1a2b\0edge: add a test\0{body}\0\n\n 2 files changed, {lines} insertions(+), 1 deletion(-)\n"
            )
        };
        assert_eq!(read(&log("", 199)), [""; 0]);
        assert_eq!(read(&log("The reason.\n", 200)), [""; 0]);
        assert!(read(&log("", 200))[0].starts_with("commit 1a2b: changes 201 lines without a body"));
    }

    #[test]
    fn each_commit_is_checked() {
        let log = "\u{1}1\0no area\0\0\n\n 1 file changed, 1 insertion(+)\n\u{1}2\0edge: add a\0\0\n\u{1}3\0edge: adds a\0\0";
        assert_eq!(read(log).len(), 2);
    }
}
