//! Tests of completion: each script runs in its shell, with a running planet.

use std::process::Command;

use crate::harness::{Ended, Folder, LONGHAUL, Planet, World, longhaul};

fn planet(name: &str) -> Planet {
    World::named(name).host("origin", "newyork").host("visitor", "london").up()
}

fn folder(shell: &str) -> (Folder, String, String) {
    let folder = Folder::new();
    let script = folder.file("completion", longhaul(&["completions", shell]).ok());
    std::os::unix::fs::symlink(LONGHAUL, folder.path("longhaul")).unwrap();
    folder.file("my world.toml", "");
    let path = format!("{}:{}", folder.path("").display(), std::env::var("PATH").unwrap());
    (folder, script, path)
}

fn bash(line: &str) -> Vec<String> {
    let (folder, script, path) = folder("bash");
    // Bash splits words at blanks, `=` and `:`.
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let mut rest = word;
        while let Some(at) = rest.find(['=', ':']) {
            words.extend([&rest[..at], &rest[at..=at]].map(str::to_owned));
            rest = &rest[at + 1..];
        }
        words.push(rest.to_owned());
    }
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let test = format!(
        "compopt() {{ :; }}; . '{script}'; COMP_LINE='{line}'; COMP_POINT={}; COMP_WORDS=({}); COMP_CWORD={}; \
         _longhaul longhaul; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line.len(),
        quoted.join(" "),
        words.len() - 1,
    );
    let output =
        Command::new("bash").args(["-c", &test]).env("PATH", path).current_dir(folder.path("")).output();
    lines(&Ended::of(output.unwrap()).ok())
}

fn fish(line: &str) -> Vec<String> {
    let (folder, script, path) = folder("fish");
    let test = format!("source '{script}'; complete -C '{line}'");
    let output = Command::new("fish")
        .args(["--no-config", "-c", &test])
        .env("PATH", path)
        .env("HOME", folder.path(""))
        .current_dir(folder.path(""))
        .output();
    let text = Ended::of(output.unwrap()).ok();
    text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

/// Zsh completes in interactive shells only: runs one in a pseudo-terminal (zsh/zpty).
fn zsh(line: &str) -> Vec<String> {
    let (folder, script, path) = folder("zsh");
    let here = folder.path("").display().to_string();
    folder.file(
        ".zshrc",
        format!(
            "autoload -Uz compinit; compinit -u -D; source '{script}'
             compadd() {{
                 local -a found
                 builtin compadd -O found \"$@\"
                 (( $#found )) && print -rl -- $found >> '{here}/found'
                 builtin compadd \"$@\"
             }}
             cd '{here}'"
        ),
    );
    let drive = folder.file("drive", DRIVE);
    let output = Command::new("zsh").args(["-f", &drive, &here, line]).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut found = lines(&std::fs::read_to_string(folder.path("found")).unwrap_or_default());
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|candidate| seen.insert(candidate.replace('\\', "")));
    found
}

/// Before the prompt the terminal would edit the input, and the key deletes the line.
const DRIVE: &str = "
    zmodload zsh/zpty
    zpty z env ZDOTDIR=$1 HOME=$1 TERM=xterm zsh -i
    zpty -w z 'PS1=ready; print -r -- be''gin'
    zpty -r z out '*begin*ready*'
    zpty -w -n z \"$2\"$'\\t'
    zpty -w z $'\\C-u\\C-eprint -r -- en''ded'
    zpty -r z out '*ended*'
    zpty -d z
";

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn each_shell(planet: &Planet, complete: fn(&str) -> Vec<String>) {
    let exec = format!("longhaul lab exec --planet {} ", planet.name());
    assert_eq!(complete(&format!("{exec}v")), ["visitor"]);
    assert_eq!(complete(&exec), ["origin", "visitor"]);
    assert_eq!(complete("longhaul lab fault pa"), ["partition"]);
    assert_eq!(complete("longhaul compare a.csv --metric ttfb_"), ["ttfb_without_dns"]);
    let fault = format!("longhaul lab fault --planet {} london-n", planet.name());
    assert_eq!(complete(&fault), ["london-newyork"]);
    let planets = complete("longhaul lab status --planet test-");
    assert!(planets.contains(&planet.name().to_owned()), "{planets:?}");
}

#[test]
fn bash_completes() {
    let planet = planet("complete-bash");
    each_shell(&planet, bash);
    // Bash completes only the part after the last colon or equals sign.
    assert_eq!(bash("longhaul compare a.csv --metric=ttfb_"), ["ttfb_without_dns"]);
    assert_eq!(bash("longhaul lab up my"), ["my world.toml"]);
    assert_eq!(bash("longhaul compare new=my"), ["my world.toml"]);
    let copy = format!("longhaul lab cp --planet {} or", planet.name());
    assert_eq!(bash(&copy), ["origin:"]);
}

#[test]
fn zsh_completes() {
    let planet = planet("complete-zsh");
    each_shell(&planet, zsh);
    assert_eq!(zsh("longhaul lab up my"), ["my world.toml"]);
    assert_eq!(zsh("longhaul compare new=my"), ["my world.toml"]);
}

#[test]
fn fish_completes() {
    let planet = planet("complete-fish");
    each_shell(&planet, fish);
    assert_eq!(fish("longhaul compare a.csv --metric=ttfb_"), ["--metric=ttfb_without_dns"]);
    assert_eq!(fish("longhaul lab up my"), ["my world.toml"]);
    assert_eq!(fish("longhaul compare new=my"), ["new=my world.toml"]);
}
