//! Purges as they are noted on disk: lines of JSON, those that were done at once in one note if it has room for them.

use cache::purge::{Depth, Purge};
use serde::{Deserialize, Serialize};

/// A purge with its place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) epoch: u64,
    pub(crate) zone: String,
    pub(crate) purge: Purge,
    pub(crate) depth: Depth,
}

#[derive(Serialize, Deserialize)]
struct Line {
    epoch: u64,
    zone: String,
    is_hard: bool,
    what: What,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Url(String),
    Tag(String),
    Host(String),
    Prefix(String),
    Group(String, String),
    Everything,
}

/// Writes them, in as many notes as it takes.
pub(crate) fn write<'n>(noted: impl IntoIterator<Item = &'n Noted>) -> Vec<Vec<u8>> {
    let line = |noted: &Noted| Line {
        epoch: noted.epoch,
        zone: noted.zone.clone(),
        is_hard: noted.depth == Depth::Hard,
        what: match noted.purge.clone() {
            Purge::Url(url) => What::Url(url),
            Purge::Tag(tag) => What::Tag(tag),
            Purge::Host(host) => What::Host(host),
            Purge::Prefix(prefix) => What::Prefix(prefix),
            Purge::Group(origin, group) => What::Group(origin, group),
            Purge::Everything => What::Everything,
        },
    };
    let mut notes: Vec<Vec<u8>> = Vec::new();
    for noted in noted {
        let line = serde_json::to_vec(&line(noted)).unwrap_or_default();
        match notes.last_mut().filter(|note| note.len() + line.len() < FULL) {
            Some(note) => {
                note.push(b'\n');
                note.extend(line);
            }
            None => notes.push(line),
        }
    }
    notes
}

/// Reads them; `None` if they are not what was written.
pub(crate) fn read(note: &[u8]) -> Option<Vec<Noted>> {
    let noted = |line: Line| Noted {
        epoch: line.epoch,
        zone: line.zone,
        depth: if line.is_hard { Depth::Hard } else { Depth::Soft },
        purge: match line.what {
            What::Url(url) => Purge::Url(url),
            What::Tag(tag) => Purge::Tag(tag),
            What::Host(host) => Purge::Host(host),
            What::Prefix(prefix) => Purge::Prefix(prefix),
            What::Group(origin, group) => Purge::Group(origin, group),
            What::Everything => Purge::Everything,
        },
    };
    serde_json::Deserializer::from_slice(note).into_iter().map(|line| line.ok().map(noted)).collect()
}

/// When a note is full: far below the longest that there can be, as a purge has no limit of its own.
const FULL: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let purges = [
            Purge::Url("http://a/".into()),
            Purge::Tag("t".into()),
            Purge::Host("a".into()),
            Purge::Prefix("a/b".into()),
            Purge::Group("http://a".into(), "g".into()),
            Purge::Everything,
        ];
        let noted: Vec<_> = purges
            .into_iter()
            .zip(3..)
            .map(|(purge, epoch)| {
                let depth = if epoch % 2 == 0 { Depth::Soft } else { Depth::Hard };
                Noted { epoch, zone: "z".into(), purge, depth }
            })
            .collect();
        assert_eq!(read(&write(&noted).concat()), Some(noted.clone()));
        let many: Vec<_> = noted.into_iter().cycle().take(10_000).collect();
        let notes = write(&many);
        assert!(notes.len() > 1 && notes.iter().all(|note| note.len() <= FULL));
        let again: Option<Vec<_>> = notes.iter().map(|note| read(note)).collect();
        assert_eq!(again.unwrap().concat(), many);
        assert_eq!(read(b"x"), None);
    }
}
