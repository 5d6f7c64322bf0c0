//! Serialisation of purges: records on disk (lines of JSON, several purges per note), and entries
//! that are sent to peers.

use ::tier_routing::{LogId, New, Position};
use http_cache::purge::{Depth, Purge};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PurgeRecord {
    pub(crate) epoch: u64,
    pub(crate) zone: String,
    pub(crate) purge: Purge,
    pub(crate) depth: Depth,
    /// The place in the replicated logs; `None` if the purge is not replicated.
    pub(crate) place: Option<(LogId, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RecoveredPurges {
    pub(crate) records: Vec<PurgeRecord>,
    /// The position in all logs. It may include purges that are no longer in `records`.
    pub(crate) position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ZonePurge {
    zone: String,
    is_hard: bool,
    what: Selector,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Selector {
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
    Reached { position: String },
}

#[derive(Serialize, Deserialize)]
struct Numbered {
    epoch: u64,
    #[serde(flatten)]
    order: ZonePurge,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<(String, u64)>,
}

impl ZonePurge {
    pub(crate) fn new(zone: &str, purge: Purge, depth: Depth) -> Self {
        let what = match purge {
            Purge::Url(url) => Selector::Url(url),
            Purge::Tag(tag) => Selector::Tag(tag),
            Purge::Host(host) => Selector::Host(host),
            Purge::Prefix(prefix) => Selector::Prefix(prefix),
            Purge::Group(origin, group) => Selector::Group(origin, group),
            Purge::Everything => Selector::Everything,
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
            Selector::Url(url) => Purge::Url(url),
            Selector::Tag(tag) => Purge::Tag(tag),
            Selector::Host(host) => Purge::Host(host),
            Selector::Prefix(prefix) => Purge::Prefix(prefix),
            Selector::Group(origin, group) => Purge::Group(origin, group),
            Selector::Everything => Purge::Everything,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let what = match &self.what {
            Selector::Url(text) | Selector::Tag(text) | Selector::Host(text) | Selector::Prefix(text) => {
                text.len()
            }
            Selector::Group(origin, group) => origin.len() + group.len(),
            Selector::Everything => 0,
        };
        self.zone.len() + what
    }
}

impl PurgeRecord {
    pub(crate) fn log_entry(&self) -> Option<New<ZonePurge>> {
        let (log, number) = self.place?;
        Some(New { log, number, entry: ZonePurge::new(&self.zone, self.purge.clone(), self.depth) })
    }
}

pub(crate) fn write<'n>(records: impl IntoIterator<Item = &'n PurgeRecord>) -> Vec<Vec<u8>> {
    let line = |records: &PurgeRecord| {
        let order = ZonePurge::new(&records.zone, records.purge.clone(), records.depth);
        let place = records.place.map(|(log, number)| (format!("{:x}", log.0), number));
        Line::Purge(Numbered { epoch: records.epoch, order, place })
    };
    let mut notes: Vec<Vec<u8>> = Vec::new();
    for records in records {
        let line = serde_json::to_vec(&line(records)).unwrap_or_default();
        match notes.last_mut().filter(|note| note.len() + line.len() < MAX_NOTE_BYTES) {
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
    let position = position.to_string();
    if position.is_empty() { None } else { serde_json::to_vec(&Line::Reached { position }).ok() }
}

pub(crate) fn read<N: AsRef<[u8]>>(notes: impl IntoIterator<Item = N>) -> Option<RecoveredPurges> {
    let mut recovered = RecoveredPurges::default();
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
                    recovered.records.push(PurgeRecord { epoch, zone, purge, depth, place });
                }
                Line::Reached { position } => recovered.position.join(&position.parse().ok()?),
            }
        }
    }
    Some(recovered)
}

/// Far below the limit of the disk format, because one purge may exceed it.
const MAX_NOTE_BYTES: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purge_records_round_trip() {
        let purges = [
            Purge::Url("http://a/".into()),
            Purge::Tag("t".into()),
            Purge::Host("a".into()),
            Purge::Prefix("a/b".into()),
            Purge::Group("http://a".into(), "g".into()),
            Purge::Everything,
        ];
        let records: Vec<_> = purges
            .into_iter()
            .zip(3..)
            .map(|(purge, epoch)| {
                let depth = if epoch % 2 == 0 { Depth::Soft } else { Depth::Hard };
                let place = (epoch % 3 == 0).then_some((LogId(u64::MAX), epoch));
                PurgeRecord { epoch, zone: "z".into(), purge, depth, place }
            })
            .collect();
        assert_eq!(read(write(&records)).unwrap().records, records);
        let many: Vec<_> = records.into_iter().cycle().take(10_000).collect();
        let mut notes = write(&many);
        assert!(notes.len() > 1 && notes.iter().all(|note| note.len() <= MAX_NOTE_BYTES));
        let position: Position = "1f:3 ab:7".parse().unwrap();
        notes.extend(write_reached(&position));
        assert_eq!(read(&notes), Some(RecoveredPurges { records: many, position }));
        assert_eq!(read([b"x"]), None);
    }

    #[test]
    fn records_without_a_log_place_are_read() {
        let note = br#"{"epoch":4,"zone":"z","is_hard":true,"what":{"tag":"a"}}"#;
        let (zone, purge, depth) = ("z".into(), Purge::Tag("a".into()), Depth::Hard);
        assert_eq!(
            read([note]).unwrap().records,
            [PurgeRecord { epoch: 4, zone, purge, depth, place: None }]
        );
    }
}
