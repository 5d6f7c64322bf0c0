//! Serialisation of purges: notes on disk (lines of JSON, several purges per note), and entries that are sent
//! to peers.

use ::tiers::{LogId, New, Position};
use cache::purge::{Depth, Purge};
use serde::{Deserialize, Serialize};

/// A purge with its epoch in the local store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) epoch: u64,
    pub(crate) zone: String,
    pub(crate) purge: Purge,
    pub(crate) depth: Depth,
    /// Its place in the replicated logs, if it is replicated.
    pub(crate) place: Option<(LogId, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Before {
    /// Purges in epoch order. Objects on disk may be older than these.
    pub(crate) noted: Vec<Noted>,
    /// The position in all logs. It may include purges that are no longer in `noted`.
    pub(crate) reached: Position,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    zone: String,
    is_hard: bool,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Url(String),
    Tag(String),
    Host(String),
    Prefix(String),
    Group(String, String),
    Everything,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Purge(Numbered),
    Reached { reached: String },
}

#[derive(Serialize, Deserialize)]
struct Numbered {
    epoch: u64,
    #[serde(flatten)]
    order: Order,
    /// The ID of its log in hexadecimal digits, and its number in this log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<(String, u64)>,
}

impl Order {
    pub(crate) fn new(zone: &str, purge: Purge, depth: Depth) -> Self {
        let what = match purge {
            Purge::Url(url) => What::Url(url),
            Purge::Tag(tag) => What::Tag(tag),
            Purge::Host(host) => What::Host(host),
            Purge::Prefix(prefix) => What::Prefix(prefix),
            Purge::Group(origin, group) => What::Group(origin, group),
            Purge::Everything => What::Everything,
        };
        Self { zone: zone.to_owned(), is_hard: depth == Depth::Hard, what }
    }

    pub(crate) fn zone(&self) -> &str {
        &self.zone
    }

    pub(crate) fn depth(&self) -> Depth {
        if self.is_hard { Depth::Hard } else { Depth::Soft }
    }

    pub(crate) fn purge(&self) -> Purge {
        match self.what.clone() {
            What::Url(url) => Purge::Url(url),
            What::Tag(tag) => Purge::Tag(tag),
            What::Host(host) => Purge::Host(host),
            What::Prefix(prefix) => Purge::Prefix(prefix),
            What::Group(origin, group) => Purge::Group(origin, group),
            What::Everything => Purge::Everything,
        }
    }

    /// The size of its text, bytes.
    pub(crate) fn bytes(&self) -> usize {
        let what = match &self.what {
            What::Url(text) | What::Tag(text) | What::Host(text) | What::Prefix(text) => text.len(),
            What::Group(origin, group) => origin.len() + group.len(),
            What::Everything => 0,
        };
        self.zone.len() + what
    }
}

impl Noted {
    pub(crate) fn entry(&self) -> Option<New<Order>> {
        let (log, number) = self.place?;
        Some(New { log, number, entry: Order::new(&self.zone, self.purge.clone(), self.depth) })
    }
}

pub(crate) fn write<'n>(noted: impl IntoIterator<Item = &'n Noted>) -> Vec<Vec<u8>> {
    let line = |noted: &Noted| {
        let order = Order::new(&noted.zone, noted.purge.clone(), noted.depth);
        let place = noted.place.map(|(log, number)| (format!("{:x}", log.0), number));
        Line::Purge(Numbered { epoch: noted.epoch, order, place })
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

pub(crate) fn write_reached(position: &Position) -> Option<Vec<u8>> {
    let reached = position.to_string();
    if reached.is_empty() { None } else { serde_json::to_vec(&Line::Reached { reached }).ok() }
}

/// Parses notes; `None` if one is invalid.
pub(crate) fn read<N: AsRef<[u8]>>(notes: impl IntoIterator<Item = N>) -> Option<Before> {
    let mut before = Before::default();
    for note in notes {
        for line in serde_json::Deserializer::from_slice(note.as_ref()).into_iter() {
            match line.ok()? {
                Line::Purge(Numbered { epoch, order, place }) => {
                    let log = |digits: &str| Some(LogId(u64::from_str_radix(digits, 16).ok()?));
                    let place = match place {
                        Some((digits, number)) => Some((log(&digits)?, number)),
                        None => None,
                    };
                    let (zone, purge, depth) = (order.zone.clone(), order.purge(), order.depth());
                    before.noted.push(Noted { epoch, zone, purge, depth, place });
                }
                Line::Reached { reached } => before.reached.join(&reached.parse().ok()?),
            }
        }
    }
    Some(before)
}

/// The size of a full note, bytes: far below the limit of the disk format, because one purge may exceed it.
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
                let place = (epoch % 3 == 0).then_some((LogId(u64::MAX), epoch));
                Noted { epoch, zone: "z".into(), purge, depth, place }
            })
            .collect();
        assert_eq!(read(write(&noted)).unwrap().noted, noted);
        let many: Vec<_> = noted.into_iter().cycle().take(10_000).collect();
        let mut notes = write(&many);
        assert!(notes.len() > 1 && notes.iter().all(|note| note.len() <= FULL));
        let reached: Position = "1f:3 ab:7".parse().unwrap();
        notes.extend(write_reached(&reached));
        assert_eq!(read(&notes), Some(Before { noted: many, reached }));
        assert_eq!(read([b"x"]), None);
    }

    #[test]
    fn notes_of_a_run_that_had_no_others_are_read() {
        let note = br#"{"epoch":4,"zone":"z","is_hard":true,"what":{"tag":"a"}}"#;
        let (zone, purge, depth) = ("z".into(), Purge::Tag("a".into()), Depth::Hard);
        assert_eq!(read([note]).unwrap().noted, [Noted { epoch: 4, zone, purge, depth, place: None }]);
    }
}
