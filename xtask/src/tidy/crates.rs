//! Checks the crates of the workspace against the metadata in their Cargo.toml: layer,
//! dependencies, and size with its reason.
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
    thread,
};

use anyhow::{Context, anyhow};
use serde::Deserialize;

use super::{circles, imports::Crate, ratchet::Finding, source::without_tests};
use crate::root;

/// From bottom to top: a crate may depend on crates of its layer and of lower layers. Cargo
/// prevents cycles of crates.
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

/// The findings about a crate.
#[derive(Default)]
pub(super) struct CrateFindings {
    pub(super) forbidden: Vec<String>,
    pub(super) counted: Vec<Finding>,
    /// A line about a large crate.
    large: Option<String>,
}

/// The findings about all crates. Prints the large ones.
pub(super) fn findings(files: &[PathBuf]) -> anyhow::Result<CrateFindings> {
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
    let rooms = &rooms;
    let mut all = CrateFindings::default();
    thread::scope(|scope| {
        let of_crate = |(folder, manifest)| scope.spawn(move || of_crate(folder, manifest, rooms, files));
        let threads: Vec<_> =
            manifests.iter().map(|(folder, manifest)| of_crate((*folder, manifest))).collect();
        for thread in threads {
            let found = thread.join().map_err(|_| anyhow!("a thread panicked"))??;
            found.large.iter().for_each(|line| println!("{line}"));
            all.forbidden.extend(found.forbidden);
            all.counted.extend(found.counted);
        }
        anyhow::Ok(())
    })?;
    Ok(all)
}

fn of_crate(
    folder: &Path,
    manifest: &Manifest,
    rooms: &BTreeMap<&str, Room>,
    files: &[PathBuf],
) -> anyhow::Result<CrateFindings> {
    let (shown, name) = (folder.display(), manifest.package.name.as_str());
    let at_manifest = |text| format!("{shown}/Cargo.toml: {text}");
    let mut found = CrateFindings::default();
    found.forbidden.extend(layering(manifest, rooms).into_iter().map(at_manifest));
    let sources = sources(folder, files)?;
    let Some(room) = rooms.get(name) else { return Ok(found) };
    let lines = sources.iter().map(|(_, text)| lines(text)).sum();
    found.forbidden.extend(size(lines, room).map(at_manifest));
    found.large = (lines > LARGE).then(|| format!("{shown}: {lines} lines without tests"));
    let modules = Crate::new(sources.iter().map(|(path, text)| (path.as_path(), without_tests(text))))?;
    let uses = modules.uses();
    let text = |path: &Path| sources.iter().find(|(other, _)| other == path).map_or("", |(_, text)| text);
    let circles = circles::findings(&modules, &uses, |path| text(path).to_owned());
    found.forbidden.extend(circles.into_iter().map(|text| format!("{shown}/src: {text}")));
    found.counted.extend(circles::of_modules(&modules, &uses).into_iter().map(|(count, text)| {
        Finding::about("module-circles", name, &folder.join("src"), text).with_count(count)
    }));
    if room.layer <= Layer::Engine {
        let impure = modules.foreign().filter(|(_, path)| IMPURE.iter().any(|part| is_in(path, part)));
        found.forbidden.extend(impure.map(|(file, path)| {
            format!("{shown}/src/{}: {path}: an engine must not use it", file.display())
        }));
    }
    Ok(found)
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
    without_tests(text).lines().count()
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
