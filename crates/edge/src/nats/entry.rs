//! A message in the purge stream: entries of one log as JSON. All lists and strings are bounded.

use ::tiers::{LogId, Piece};
use jetstream::LONGEST_MESSAGE;
use serde::{Deserialize, Serialize};

use crate::{
    bus::{LONGEST_NAME, MOST_ENTRIES, digits, log_of},
    note::Order,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The publisher: the writer of the log, or another data centre that has received the entries.
    pub(crate) by: String,
    pub(crate) piece: Piece<Order>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    data_centre: String,
    log: String,
    first: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forgets: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    purges: Vec<Order>,
}

impl Entry {
    /// Truncates a piece to the size of a message. The remaining entries are sent in the next message.
    pub(crate) fn new(by: &str, mut piece: Piece<Order>) -> Self {
        let mut bytes = 0;
        let fits = |order: &&Order| {
            bytes += serde_json::to_vec(order).map_or(0, |text| text.len());
            bytes <= FULL
        };
        let fit = piece.entries.iter().take(MOST_ENTRIES).take_while(fits).count();
        piece.entries.truncate(fit.max(1));
        Self { by: by.to_owned(), piece }
    }

    /// The last token of its subject in the stream.
    pub(crate) fn part(&self) -> String {
        digits(self.piece.log)
    }

    /// The ID for deduplication in the stream.
    pub(crate) fn id(&self) -> String {
        let Piece { log, first, forgets, entries } = &self.piece;
        let forgets = if *forgets { "f" } else { "" };
        format!("{}:{first}{forgets}+{}", digits(*log), entries.len())
    }

    pub(crate) fn last(&self) -> u64 {
        self.piece.first.saturating_sub(1).saturating_add(self.piece.entries.len() as u64)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let Piece { log, first, forgets, entries } = &self.piece;
        let written = Written {
            data_centre: self.by.clone(),
            log: digits(*log),
            first: *first,
            forgets: *forgets,
            purges: entries.clone(),
        };
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// Parses a message; `None` if it is invalid, does not match `part`, or exceeds a limit.
    pub(crate) fn read(part: &str, text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= LONGEST_MESSAGE)?;
        let Written { data_centre, log, first, forgets, purges } = serde_json::from_slice(text).ok()?;
        let log: LogId = log_of(&log).filter(|&log| digits(log) == part)?;
        let is_bounded = |order: &Order| order.bytes() <= LONGEST_NAME;
        let are_bounded = purges.len() <= MOST_ENTRIES && purges.iter().all(is_bounded);
        if first == 0 || data_centre.len() > LONGEST_BY || !are_bounded {
            return None;
        }
        Some(Self { by: data_centre, piece: Piece { log, first, forgets, entries: purges } })
    }
}

/// Whether a parsed message survives serialisation; `None` if it cannot be parsed. For the fuzz target.
pub fn is_entry_read_as_written(part: &str, text: &[u8]) -> Option<bool> {
    let entry = Entry::read(part, text)?;
    Some(Entry::read(&entry.part(), &entry.write()).as_ref() == Some(&entry))
}

/// The maximum size of the purges in a message, bytes. JSON escapes can lengthen a purge of [`LONGEST_NAME`]
/// bytes sixfold; it is then sent alone.
const FULL: usize = 96 << 10;
/// The maximum size of a data centre's name, bytes.
const LONGEST_BY: usize = 1000;

#[cfg(test)]
mod tests {
    use cache::purge::{Depth, Purge};

    use super::*;

    fn entry(names: &[&str]) -> Entry {
        let order = |name: &&str| Order::new("shop", Purge::Tag((*name).into()), Depth::Hard);
        let entries = names.iter().map(order).collect();
        Entry::new("lhr", Piece { log: LogId(0x1f), first: 4, forgets: false, entries })
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let one = entry(&["a", "b"]);
        assert_eq!((one.part().as_str(), one.id().as_str(), one.last()), ("1f", "1f:4+2", 5));
        assert_eq!(Entry::read("1f", &one.write()), Some(one.clone()));
        let none = Entry { piece: Piece { forgets: true, entries: vec![], ..one.piece }, ..one };
        assert_eq!((none.id().as_str(), none.last()), ("1f:4f+0", 3));
        assert_eq!(Entry::read("1f", &none.write()), Some(none));
    }

    #[test]
    fn what_is_no_purge_of_its_part_is_not_read() {
        let text = entry(&["a"]).write();
        assert!(Entry::read("1f", &text).is_some());
        assert_eq!(Entry::read("2f", &text), None);
        assert_eq!(Entry::read("1f", &text[1..]), None);
        assert_eq!(Entry::read("1f", b"{\"data_centre\":\"lhr\",\"log\":\"1f\",\"first\":0}"), None);
        let long = "x".repeat(LONGEST_NAME);
        assert_eq!(Entry::read("1f", &entry(&[&long]).write()), None);
        let mut many = entry(&["a"]);
        many.piece.entries = vec![many.piece.entries[0].clone(); MOST_ENTRIES + 1];
        assert_eq!(Entry::read("1f", &many.write()), None);
    }

    #[test]
    fn what_the_fuzz_target_begins_with_is_read() {
        for seed in [
            include_str!("../../../../fuzz/seeds/bus/purges"),
            include_str!("../../../../fuzz/seeds/bus/forgotten"),
        ] {
            let (part, text) = seed.split_once('\n').unwrap();
            assert_eq!(is_entry_read_as_written(part, text.as_bytes()), Some(true));
        }
    }

    #[test]
    fn a_message_has_room_for_the_longest_purge_and_for_no_more_than_fits() {
        // Each of these bytes is escaped as six.
        let long = "\u{1}".repeat(LONGEST_NAME - "shop".len());
        for names in [&[&long[..]; 3][..], &[&long[..1000]; 300]] {
            let one = entry(names);
            let text = one.write();
            assert!(text.len() <= LONGEST_MESSAGE && !one.piece.entries.is_empty(), "{}", text.len());
            assert!(one.piece.entries.len() < names.len());
            assert_eq!(Entry::read("1f", &text), Some(one));
        }
    }
}
