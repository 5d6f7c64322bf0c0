//! A message in the purge stream: entries of one log as JSON. All lists and strings are bounded.

use ::tier_routing::{LogId, LogSlice};
use kv_nats::LONGEST_MESSAGE;
use serde::{Deserialize, Serialize};

use crate::purge::{
    log::{MAX_ENTRIES, MAX_PURGE_NAME_BYTES, format_log_id, parse_log_id},
    record::ZonePurge,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NatsRecord {
    pub(crate) publisher: String,
    pub(crate) piece: LogSlice<ZonePurge>,
}

#[derive(Serialize, Deserialize)]
struct NatsRecordWire {
    data_centre: String,
    log: String,
    first: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forgets: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    purges: Vec<ZonePurge>,
}

impl NatsRecord {
    pub(crate) fn new(by: &str, mut piece: LogSlice<ZonePurge>) -> Self {
        let mut bytes = 0;
        let fits = |order: &&ZonePurge| {
            bytes += serde_json::to_vec(order).map_or(0, |text| text.len());
            bytes <= MAX_PURGE_BYTES
        };
        let fit = piece.entries.iter().take(MAX_ENTRIES).take_while(fits).count();
        piece.entries.truncate(fit.max(1));
        Self { publisher: by.to_owned(), piece }
    }

    pub(crate) fn partition(&self) -> String {
        format_log_id(self.piece.log)
    }

    pub(crate) fn id(&self) -> String {
        let LogSlice { log, first, forgets, entries } = &self.piece;
        let forgets = if *forgets { "f" } else { "" };
        format!("{}:{first}{forgets}+{}", format_log_id(*log), entries.len())
    }

    pub(crate) fn last(&self) -> u64 {
        self.piece.first.saturating_sub(1).saturating_add(self.piece.entries.len() as u64)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let LogSlice { log, first, forgets, entries } = &self.piece;
        let written = NatsRecordWire {
            data_centre: self.publisher.clone(),
            log: format_log_id(*log),
            first: *first,
            forgets: *forgets,
            purges: entries.clone(),
        };
        serde_json::to_vec(&written).unwrap_or_default()
    }

    pub(crate) fn read(part: &str, text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= LONGEST_MESSAGE)?;
        let NatsRecordWire { data_centre, log, first, forgets, purges } =
            serde_json::from_slice(text).ok()?;
        let log: LogId = parse_log_id(&log).filter(|&log| format_log_id(log) == part)?;
        let is_bounded = |order: &ZonePurge| order.bytes() <= MAX_PURGE_NAME_BYTES;
        let are_bounded = purges.len() <= MAX_ENTRIES && purges.iter().all(is_bounded);
        if first == 0 || data_centre.len() > MAX_PUBLISHER_BYTES || !are_bounded {
            return None;
        }
        Some(Self { publisher: data_centre, piece: LogSlice { log, first, forgets, entries: purges } })
    }
}

/// Whether a parsed message survives serialisation; `None` if it cannot be parsed. For the fuzz
/// target.
pub fn nats_record_round_trips(part: &str, text: &[u8]) -> Option<bool> {
    let entry = NatsRecord::read(part, text)?;
    Some(NatsRecord::read(&entry.partition(), &entry.write()).as_ref() == Some(&entry))
}

/// JSON escapes can lengthen a purge of [`MAX_PURGE_NAME_BYTES`] bytes sixfold; it is then sent
/// alone.
const MAX_PURGE_BYTES: usize = 96 << 10;
const MAX_PUBLISHER_BYTES: usize = 1000;

#[cfg(test)]
mod tests {
    use http_cache::purge::{Depth, Purge};

    use super::*;

    fn entry(names: &[&str]) -> NatsRecord {
        let order = |name: &&str| ZonePurge::new("shop", Purge::Tag((*name).into()), Depth::Hard);
        let entries = names.iter().map(order).collect();
        NatsRecord::new("lhr", LogSlice { log: LogId(0x1f), first: 4, forgets: false, entries })
    }

    #[test]
    fn record_round_trips() {
        let one = entry(&["a", "b"]);
        assert_eq!((one.partition().as_str(), one.id().as_str(), one.last()), ("1f", "1f:4+2", 5));
        assert_eq!(NatsRecord::read("1f", &one.write()), Some(one.clone()));
        let none = NatsRecord { piece: LogSlice { forgets: true, entries: vec![], ..one.piece }, ..one };
        assert_eq!((none.id().as_str(), none.last()), ("1f:4f+0", 3));
        assert_eq!(NatsRecord::read("1f", &none.write()), Some(none));
    }

    #[test]
    fn record_of_another_partition_is_rejected() {
        let text = entry(&["a"]).write();
        assert!(NatsRecord::read("1f", &text).is_some());
        assert_eq!(NatsRecord::read("2f", &text), None);
        assert_eq!(NatsRecord::read("1f", &text[1..]), None);
        assert_eq!(NatsRecord::read("1f", b"{\"data_centre\":\"lhr\",\"log\":\"1f\",\"first\":0}"), None);
        let long = "x".repeat(MAX_PURGE_NAME_BYTES);
        assert_eq!(NatsRecord::read("1f", &entry(&[&long]).write()), None);
        let mut many = entry(&["a"]);
        many.piece.entries = vec![many.piece.entries[0].clone(); MAX_ENTRIES + 1];
        assert_eq!(NatsRecord::read("1f", &many.write()), None);
    }

    #[test]
    fn fuzz_seeds_are_read() {
        for seed in [
            include_str!("../../../../../../fuzz/seeds/bus/purges"),
            include_str!("../../../../../../fuzz/seeds/bus/forgotten"),
        ] {
            let (part, text) = seed.split_once('\n').unwrap();
            assert_eq!(nats_record_round_trips(part, text.as_bytes()), Some(true));
        }
    }

    #[test]
    fn record_fits_the_longest_purge_and_no_excess() {
        let long = "\u{1}".repeat(MAX_PURGE_NAME_BYTES - "shop".len());
        for names in [&[&long[..]; 3][..], &[&long[..1000]; 300]] {
            let one = entry(names);
            let text = one.write();
            assert!(text.len() <= LONGEST_MESSAGE && !one.piece.entries.is_empty(), "{}", text.len());
            assert!(one.piece.entries.len() < names.len());
            assert_eq!(NatsRecord::read("1f", &text), Some(one));
        }
    }
}
