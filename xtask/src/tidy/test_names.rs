//! Rule `test-names`: the name of a test fits in a line of a report.

use super::{items::Item, ratchet::Finding, source::TextFile};

/// Tests with long names.
pub(super) fn findings(sources: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let has_long_name = |item: &&Item| item.kind == "fn" && item.name.len() > LONGEST;
        let tests =
            source.items().iter().filter(has_long_name).filter(|item| is_test(&source.text, item.line));
        for Item { line, name, .. } in tests {
            let length = name.len();
            let text = format!(
                "the name of the test has {length} characters; name subject, condition and result in {LONGEST}"
            );
            findings.push(Finding::new("test-names", source, *line, text));
        }
    }
    findings
}

/// Whether an attribute above a line marks a test.
fn is_test(text: &str, line: usize) -> bool {
    let above: Vec<_> = text.lines().take(line - 1).map(str::trim_start).collect();
    above.iter().rev().take_while(|line| line.starts_with(['#', '/'])).any(|line| marks_test(line))
}

/// Whether a line is `#[test]` or the attribute of another test harness.
fn marks_test(line: &str) -> bool {
    line.strip_prefix("#[")
        .and_then(|attribute| attribute.split(['(', ']']).next())
        .is_some_and(|path| path == "test" || path.ends_with("::test"))
}

/// Characters of a name.
const LONGEST: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(attribute: &str, name: &str) -> usize {
        let text = format!("#[{attribute}]\n#[ignore]\nasync fn {name}() {{}}\n");
        findings(&[TextFile::new("a/src/a.rs", "a", text)]).len()
    }

    #[test]
    fn long_name_is_found() {
        assert_eq!(found("test", &"n".repeat(61)), 1);
        assert_eq!(found("tokio::test(flavor = \"current_thread\")", &"n".repeat(61)), 1);
    }

    #[test]
    fn short_name_passes() {
        assert_eq!(found("test", &"n".repeat(60)), 0);
        assert_eq!(found("inline", &"n".repeat(61)), 0);
    }
}
