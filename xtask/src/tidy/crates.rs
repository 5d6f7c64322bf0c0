//! Checks the crates of the workspace against the metadata in their Cargo.toml: layer, dependencies, and size
//! with its reason.
//!
//! ```toml
//! [package.metadata.longhaul]
//! layer = "engine"
//! large = "why it is not two"   # only above 6000 lines
//! ```

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::{circles, imports::Crate};
use crate::root;

/// From bottom to top: a crate may depend on crates of its layer and of lower layers. Cargo prevents cycles
/// of crates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Layer {
    /// Parsing and formatting of quantities.
    Units,
    /// Pure logic without I/O; time is an argument.
    Engine,
    /// Reading and validation of files.
    Files,
    /// Comparison and presentation of results.
    Report,
    /// Sockets, namespaces, threads and time.
    Shell,
    /// Combination of shells into an experiment, and presentation of its results.
    Scenario,
    Binary,
}

/// The relevant parts of a Cargo.toml.
#[derive(Deserialize)]
struct Manifest {
    package: Package,
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    longhaul: Option<Room>,
}

/// Metadata of a crate.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Room {
    layer: Layer,
    large: Option<String>,
}

/// The findings about all crates. Prints the large ones.
pub(super) fn findings(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut manifests = Vec::new();
    for path in files.iter().filter(|path| is_member(path)) {
        let text = fs::read_to_string(root().join(path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Manifest =
            toml::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
        manifests.push((path.parent().unwrap_or(Path::new("")), manifest));
    }
    let rooms: BTreeMap<_, _> = manifests
        .iter()
        .filter_map(|(_, manifest)| {
            Some((manifest.package.name.as_str(), manifest.package.metadata.longhaul.clone()?))
        })
        .collect();
    let mut findings = Vec::new();
    for (folder, manifest) in &manifests {
        let shown = folder.display();
        let said = layering(manifest, &rooms).into_iter().map(|said| format!("{shown}/Cargo.toml: {said}"));
        findings.extend(said);
        let sources = sources(folder, files)?;
        let Some(room) = rooms.get(manifest.package.name.as_str()) else { continue };
        let lines = sources.iter().map(|(_, text)| lines(text)).sum();
        findings.extend(size(lines, room).map(|said| format!("{shown}/Cargo.toml: {said}")));
        if lines > LARGE {
            println!("{shown}: {lines} lines without tests");
        }
        let modules = Crate::new(sources.iter().map(|(path, text)| (path.as_path(), text.as_str())))?;
        let text = |path: &Path| sources.iter().find(|(other, _)| other == path).map_or("", |(_, text)| text);
        let circles = circles::findings(&modules, |path| text(path).to_owned());
        findings.extend(circles.into_iter().map(|said| format!("{shown}/src: {said}")));
        if room.layer <= Layer::Engine {
            let impure = modules.foreign().filter(|(_, path)| IMPURE.iter().any(|part| is_in(path, part)));
            findings.extend(impure.map(|(file, path)| {
                format!("{shown}/src/{}: {path}: an engine must not use it", file.display())
            }));
        }
    }
    Ok(findings)
}

/// Findings about the dependencies of a crate.
fn layering(manifest: &Manifest, rooms: &BTreeMap<&str, Room>) -> Vec<String> {
    let name = manifest.package.name.as_str();
    let Some(Room { layer, .. }) = rooms.get(name) else {
        return vec!["has no layer; expected [package.metadata.longhaul] with one".to_owned()];
    };
    let mut findings = Vec::new();
    for dependency in manifest.dependencies.keys().map(String::as_str) {
        if rooms.get(dependency).is_some_and(|other| other.layer > *layer) {
            findings.push(format!("{name} is below {dependency} and must not depend on it"));
        }
        if *layer <= Layer::Engine && SYSTEM.contains(&dependency) {
            findings.push(format!("an engine must not depend on {dependency}"));
        }
    }
    findings
}

/// The finding about the size of a crate.
fn size(lines: usize, room: &Room) -> Option<String> {
    match &room.large {
        None if lines > LARGE => {
            Some(format!("{lines} lines without tests; split it, or state the reason with large = \"...\""))
        }
        Some(_) if lines <= LARGE => Some(format!("is not large with {lines} lines; leave `large` out")),
        _ => None,
    }
}

/// The sources of a crate without its tests, with paths relative to src.
fn sources(folder: &Path, files: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut sources = Vec::new();
    for path in files {
        let Ok(name) = path.strip_prefix(folder.join("src")) else { continue };
        if super::is_rust(path) && !super::is_test(path) {
            let text = fs::read_to_string(root().join(path))
                .with_context(|| format!("cannot read {}", path.display()))?;
            sources.push((name.to_owned(), text));
        }
    }
    Ok(sources)
}

/// The number of lines without the tests at the end.
fn lines(text: &str) -> usize {
    let tests = ["#[cfg(test)]\nmod tests {", "#[cfg(test)]\nmod tests;"];
    let end = tests.iter().filter_map(|tests| text.find(tests)).min().unwrap_or(text.len());
    text[..end].lines().count()
}

fn is_member(path: &Path) -> bool {
    path.ends_with("Cargo.toml") && (path.starts_with("crates") || path.starts_with("xtask"))
}

fn is_in(path: &str, part: &str) -> bool {
    path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// A crate with more lines should be split, or state a reason.
const LARGE: usize = 6000;

/// Crates that could give an engine a clock, a socket or a file.
const SYSTEM: [&str; 7] = ["chrono", "libc", "mio", "nix", "socket2", "time", "tokio"];

/// Paths of the standard library with the same effect.
const IMPURE: [&str; 9] = [
    "std::env",
    "std::fs",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::os",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(text: &str) -> Manifest {
        toml::from_str(text).unwrap()
    }

    fn room(layer: Layer) -> Room {
        Room { layer, large: None }
    }

    #[test]
    fn a_crate_depends_on_its_own_layer_and_those_below() {
        let rooms = [
            ("low", Layer::Engine),
            ("middle", Layer::Shell),
            ("beside", Layer::Shell),
            ("top", Layer::Binary),
        ];
        let rooms = rooms.map(|(name, layer)| (name, room(layer))).into();
        let said = |text: &str| layering(&manifest(text), &rooms);
        let middle = "[package]\nname = 'middle'\n[dependencies]\nlow = 1\nbeside = 1\nserde = 1";
        assert_eq!(said(middle), [""; 0]);
        assert_eq!(said(&format!("{middle}\ntop = 1")), ["middle is below top and must not depend on it"]);
        // Development dependencies are allowed.
        assert_eq!(said(&format!("{middle}\n[dev-dependencies]\ntop = 1")), [""; 0]);
        let low = "[package]\nname = 'low'\n[dependencies]\ntokio = 1";
        assert_eq!(said(low), ["an engine must not depend on tokio"]);
        let none = said("[package]\nname = 'new'");
        assert!(none[0].starts_with("has no layer"), "{none:?}");
    }

    #[test]
    fn a_large_crate_says_why_and_a_small_one_does_not() {
        let plain = room(Layer::Shell);
        let large = Room { large: Some("one thing".to_owned()), ..plain.clone() };
        assert!(size(LARGE, &plain).is_none() && size(LARGE + 1, &large).is_none());
        assert!(size(LARGE + 1, &plain).unwrap().starts_with("6001 lines"));
        assert!(size(LARGE, &large).unwrap().starts_with("is not large"));
    }

    #[test]
    fn tests_are_no_lines() {
        assert_eq!(lines("//! a\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"), 3);
        assert_eq!(lines("//! a\n#[cfg(test)]\nfn for_tests() {}\nfn a() {}\n"), 4);
        assert_eq!(lines("//! a\n#[cfg(test)]\nmod tests;\n"), 1);
    }

    #[test]
    fn a_layer_is_one_of_those_that_there_are() {
        let wrong = "[package]\nname = 'a'\n[package.metadata.longhaul]\nlayer = 'cellar'";
        assert!(toml::from_str::<Manifest>(wrong).is_err());
        let right = manifest(&wrong.replace("cellar", "engine"));
        assert_eq!(right.package.metadata.longhaul.unwrap().layer, Layer::Engine);
    }

    #[test]
    fn a_part_of_the_standard_library_is_not_its_neighbour() {
        assert!(is_in("std::time::Instant::now", "std::time::Instant") && is_in("std::fs", "std::fs"));
        assert!(!is_in("std::fsx", "std::fs") && !is_in("std::time::Duration", "std::time::Instant"));
    }
}
