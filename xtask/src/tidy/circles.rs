//! Import cycles between files of a crate, and between its modules.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::imports::{Crate, Uses};

/// The findings of a crate, a sentence each. `text` returns a file's text.
///
/// A cycle is allowed if one of its files states the reason in a line `// circle: <reason>`.
pub(crate) fn findings(all: &Crate, uses: &Uses, text: impl Fn(&Path) -> String) -> Vec<String> {
    let reason = |file: usize| text(&all.files[file]).lines().find_map(reason).is_some();
    let circles = circles(uses, all.files.len());
    let unexplained = circles.iter().filter(|circle| !circle.iter().any(|&file| reason(file)));
    let mut findings: Vec<_> = unexplained.map(|circle| sentence(all, uses, circle)).collect();
    let stale = (0..all.files.len()).filter(|&file| reason(file));
    findings.extend(stale.filter(|file| !circles.iter().any(|circle| circle.contains(file))).map(|file| {
        format!("{}: has a comment about a circle that no longer exists", all.files[file].display())
    }));
    findings
}

/// The cycles: sets of files that use each other, directly or indirectly.
fn circles(uses: &Uses, files: usize) -> Vec<BTreeSet<usize>> {
    let reached: Vec<_> = (0..files).map(|file| reached(uses, file)).collect();
    let mut circles = Vec::new();
    for file in 0..files {
        let circle: BTreeSet<_> =
            reached[file].iter().copied().filter(|&other| reached[other].contains(&file)).collect();
        if circle.first() == Some(&file) {
            circles.push(circle);
        }
    }
    circles
}

/// All files that a file uses, directly or indirectly; contains the file itself only if it is part
/// of a cycle.
fn reached(uses: &Uses, from: usize) -> BTreeSet<usize> {
    let next = |file: usize| uses.range((file, 0)..=(file, usize::MAX)).map(|(&(_, to), _)| to);
    let mut reached = BTreeSet::new();
    let mut todo: Vec<_> = next(from).collect();
    while let Some(file) = todo.pop() {
        if reached.insert(file) {
            todo.extend(next(file));
        }
    }
    reached
}

fn sentence(all: &Crate, uses: &Uses, circle: &BTreeSet<usize>) -> String {
    let inside = uses.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
    let edges: Vec<_> = inside
        .map(|((from, to), path)| {
            format!("{} uses {} ({path})", all.files[*from].display(), all.files[*to].display())
        })
        .collect();
    format!(
        "files that use each other; break the circle, or state the reason with `// circle:`:\n    {}",
        edges.join("\n    ")
    )
}

/// The cycles between the top modules of a crate: the number of modules, and a sentence. Without
/// cycles, the modules have an order in which each one uses only earlier ones.
pub(crate) fn of_modules(all: &Crate, files: &Uses) -> Vec<(usize, String)> {
    let modules: Vec<_> = all.files.iter().map(|file| module(file)).collect();
    let names: Vec<_> = modules.iter().flatten().collect::<BTreeSet<_>>().into_iter().collect();
    let index = |file: usize| modules[file].as_ref().and_then(|name| names.binary_search(&name).ok());
    let mut uses = Uses::new();
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for (&(from, to), path) in files {
        let (Some(from), Some(to)) = (index(from), index(to)) else { continue };
        if from != to {
            uses.insert((from, to), path.clone());
            *counts.entry((from, to)).or_default() += 1;
        }
    }
    let sentence = |circle: BTreeSet<usize>| {
        let inside = counts.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
        let rarest = inside.min_by_key(|(_, count)| **count);
        let rarest = rarest.map(|((from, to), _)| format!("{} uses {}", names[*from], uses[&(*from, *to)]));
        let shown: Vec<_> = circle.iter().map(|&module| names[module].as_str()).collect();
        let text = format!(
            "the modules {} use each other, so that no reading order exists; begin with: {}",
            shown.join(", "),
            rarest.unwrap_or_default()
        );
        (circle.len(), text)
    };
    circles(&uses, names.len()).into_iter().map(sentence).collect()
}

/// The top module of a file; `None` for the root.
fn module(file: &Path) -> Option<String> {
    let first = Path::new(file.iter().next()?).with_extension("");
    let name = first.to_str()?;
    (!["lib", "main", "bin"].contains(&name)).then(|| name.to_owned())
}

/// The reason for a cycle in a line.
fn reason(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("// circle:").map(str::trim).filter(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings of a crate with these files.
    fn said(files: &[(&str, &str)]) -> Vec<String> {
        let root = [("lib.rs", "")];
        let all = root.iter().chain(files).map(|(path, text)| (Path::new(path), *text));
        let all = Crate::new(all).unwrap();
        let files = [root.as_slice(), files].concat();
        let text = |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).unwrap().1.to_owned();
        findings(&all, &all.uses(), text)
    }

    #[test]
    fn a_circle_is_told_with_its_edges() {
        let three = [
            ("a.rs", "use crate::b::B;\npub struct A;"),
            ("b.rs", "use crate::c::C;\npub struct B;"),
            ("c.rs", "use crate::a::A;\npub struct C;"),
            ("d.rs", "use crate::a::A;"),
        ];
        let said = said(&three);
        let [circle] = said.as_slice() else { panic!("{said:?}") };
        let edges: Vec<_> = circle.lines().skip(1).map(str::trim).collect();
        assert_eq!(
            edges,
            ["a.rs uses b.rs (crate::b::B)", "b.rs uses c.rs (crate::c::C)", "c.rs uses a.rs (crate::a::A)",]
        );
    }

    #[test]
    fn two_circles_are_two() {
        let said = said(&[
            ("a.rs", "use crate::b::B;\npub struct A;"),
            ("b.rs", "use crate::a::A;\npub struct B;"),
            ("c.rs", "use crate::{a::A, d::D};\npub struct C;"),
            ("d.rs", "use crate::c::C;\npub struct D;"),
        ]);
        assert_eq!(said.len(), 2, "{said:?}");
    }

    #[test]
    fn a_reason_allows_a_circle_and_one_that_is_stale_does_not_stay() {
        let b = ("b.rs", "use crate::a::A;\npub struct B;");
        let a = "use crate::b::B;\npub struct A;";
        assert_eq!(said(&[("a.rs", a), b]).len(), 1);
        let explained = format!("// circle: a tree and its leaves\n{a}");
        assert_eq!(said(&[("a.rs", &explained), b]), [""; 0]);
        let empty = format!("// circle:\n{a}");
        assert_eq!(said(&[("a.rs", &empty), b]).len(), 1, "no reason is none");
        let stale = said(&[("a.rs", "// circle: once there was one\npub struct A;"), b]);
        assert_eq!(stale, ["a.rs: has a comment about a circle that no longer exists"]);
    }

    #[test]
    fn modules_that_use_each_other_are_found() {
        let files = [
            ("lib.rs", "use crate::a::A;"),
            ("a.rs", "use crate::b::c::C;\npub struct A;"),
            ("b.rs", "use crate::a::A;\npub mod c;"),
            ("b/c.rs", "pub struct C;"),
            ("d.rs", "use crate::{a::A, b::c::C};"),
        ];
        let found = |files: &[(&str, &str)]| {
            let all = Crate::new(files.iter().map(|(path, text)| (Path::new(*path), *text))).unwrap();
            of_modules(&all, &all.uses())
        };
        let [(2, text)] = &found(&files)[..] else { panic!("{:?}", found(&files)) };
        assert!(text.starts_with("the modules a, b use each other"), "{text}");
        assert_eq!(found(&[files[0], files[1], files[3], files[4]]), [], "b does not use a");
    }
}
