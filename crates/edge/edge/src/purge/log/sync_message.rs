//! Messages about purges between data centres. The format is JSON; all lists and strings are
//! bounded.

use ::tier_routing::{LogId, LogSlice, MOST_LOGS, Position};
use serde::{Deserialize, Serialize};

use crate::purge::record::ZonePurge;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyncMessage {
    pub(crate) network: String,
    pub(crate) log: LogId,
    pub(crate) position: Position,
    /// Logs in the last reported position of the receiver that are settled, with their last
    /// entries.
    pub(crate) ended_logs: Position,
    /// The time since the sender last had all purges of each peer, ms.
    pub(crate) peer_ages: Vec<(String, u64)>,
    pub(crate) pieces: Vec<LogSlice<ZonePurge>>,
}

#[derive(Serialize, Deserialize)]
struct SyncMessageWire {
    network: String,
    log: String,
    position: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    over: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heard: Vec<AgeWire>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<PieceWire>,
}

#[derive(Serialize, Deserialize)]
struct AgeWire {
    data_centre: String,
    age_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct PieceWire {
    log: String,
    first: u64,
    #[serde(default)]
    forgets: bool,
    purges: Vec<ZonePurge>,
}

impl SyncMessage {
    pub(crate) const MAX_BYTES: usize = 4 << 20;

    pub(crate) fn write(&self) -> Vec<u8> {
        let Self { network, log, position, ended_logs: over, peer_ages: heard, pieces } = self;
        let age = |(name, age_ms): &(String, u64)| AgeWire { data_centre: name.clone(), age_ms: *age_ms };
        let piece = |piece: &LogSlice<ZonePurge>| PieceWire {
            log: format_log_id(piece.log),
            first: piece.first,
            forgets: piece.forgets,
            purges: piece.entries.clone(),
        };
        let written = SyncMessageWire {
            network: network.clone(),
            log: format_log_id(*log),
            position: position.to_string(),
            over: over.to_string(),
            heard: heard.iter().map(age).collect(),
            pieces: pieces.iter().map(piece).collect(),
        };
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// `None` if the message is invalid or exceeds a limit.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= Self::MAX_BYTES)?;
        let SyncMessageWire { network, log, position, over, heard, pieces } =
            serde_json::from_slice(text).ok()?;
        let is_bounded = |order: &ZonePurge| order.bytes() <= MAX_PURGE_NAME_BYTES;
        let entries: usize = pieces.iter().map(|piece| piece.purges.len()).sum();
        let are_bounded = heard.len() <= MAX_PEERS
            && pieces.len() <= MOST_LOGS
            && entries <= MAX_ENTRIES
            && pieces.iter().flat_map(|piece| &piece.purges).all(is_bounded);
        let [position, over]: [Position; 2] =
            Some([position.parse().ok()?, over.parse().ok()?]).filter(|_| are_bounded)?;
        if position.logs().count().max(over.logs().count()) > MOST_LOGS {
            return None;
        }
        let piece = |piece: PieceWire| {
            let PieceWire { log, first, forgets, purges } = piece;
            Some(LogSlice { log: parse_log_id(&log)?, first, forgets, entries: purges })
        };
        Some(Self {
            network,
            log: parse_log_id(&log)?,
            position,
            ended_logs: over,
            peer_ages: heard.into_iter().map(|age| (age.data_centre, age.age_ms)).collect(),
            pieces: pieces.into_iter().map(piece).collect::<Option<_>>()?,
        })
    }
}

/// Whether a parsed message survives serialisation; `None` if it cannot be parsed. For the fuzz
/// target.
pub fn sync_message_round_trips(text: &[u8]) -> Option<bool> {
    let message = SyncMessage::read(text)?;
    Some(SyncMessage::read(&message.write()).as_ref() == Some(&message))
}

pub(super) fn truncate_pieces(mut pieces: Vec<LogSlice<ZonePurge>>) -> Vec<LogSlice<ZonePurge>> {
    let mut bytes = 0;
    let mut is_full = false;
    for piece in &mut pieces {
        let fits = |order: &&ZonePurge| {
            bytes += order.bytes();
            bytes <= MAX_PURGE_BYTES
        };
        let fit = if is_full { 0 } else { piece.entries.iter().take_while(fits).count() };
        is_full |= fit < piece.entries.len();
        piece.entries.truncate(fit);
    }
    pieces.retain(|piece| piece.forgets || !piece.entries.is_empty());
    pieces
}

pub(crate) fn format_log_id(log: LogId) -> String {
    format!("{:x}", log.0)
}

pub(crate) fn parse_log_id(digits: &str) -> Option<LogId> {
    Some(LogId(u64::from_str_radix(digits, 16).ok()?))
}

pub(crate) const MAX_ENTRIES: usize = 1000;
/// Escaped quotation marks double the size, and log IDs are added, so it is far below
/// [`SyncMessage::MAX_BYTES`].
const MAX_PURGE_BYTES: usize = 1 << 20;
pub(super) const MAX_PEERS: usize = 1000;
/// Includes the zone; longer than any URL in use.
pub(crate) const MAX_PURGE_NAME_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use http_cache::purge::{Depth, Purge};

    use super::*;

    fn message(names: &[&str]) -> SyncMessage {
        let order = |name: &&str| ZonePurge::new("shop", Purge::Tag((*name).into()), Depth::Hard);
        SyncMessage {
            network: "n".into(),
            log: LogId(0x1f),
            position: "1f:3 2:1".parse().unwrap(),
            ended_logs: "7:12".parse().unwrap(),
            peer_ages: vec![("fra".into(), 1500)],
            pieces: vec![LogSlice {
                log: LogId(2),
                first: 4,
                forgets: true,
                entries: names.iter().map(order).collect(),
            }],
        }
    }

    #[test]
    fn message_round_trips() {
        let message = message(&["a", "b"]);
        assert_eq!(SyncMessage::read(&message.write()), Some(message));
    }

    #[test]
    fn oversized_message_is_rejected() {
        assert_eq!(SyncMessage::read(b"{}"), None);
        let long = "x".repeat(MAX_PURGE_NAME_BYTES);
        assert_eq!(SyncMessage::read(&message(&[&long]).write()), None);
        assert!(SyncMessage::read(&message(&vec!["x"; MAX_ENTRIES]).write()).is_some());
        assert_eq!(SyncMessage::read(&message(&vec!["x"; MAX_ENTRIES + 1]).write()), None);
        let mut crowded = message(&[]);
        crowded.peer_ages = vec![("x".into(), 1); MAX_PEERS + 1];
        assert_eq!(SyncMessage::read(&crowded.write()), None);
    }

    #[test]
    fn excess_entries_wait_for_the_next_message() {
        let long = "\"".repeat(MAX_PURGE_NAME_BYTES - 100);
        let mut many = message(&vec![&long[..]; 200]);
        many.pieces.push(many.pieces[0].clone());
        many.pieces.push(LogSlice { forgets: false, ..many.pieces[0].clone() });
        many.pieces = truncate_pieces(many.pieces);
        assert_eq!(many.pieces.len(), 2);
        assert_eq!(many.pieces[0].entries.len(), MAX_PURGE_BYTES / (MAX_PURGE_NAME_BYTES - 96));
        assert!(many.pieces[1].entries.is_empty());
        assert!(SyncMessage::read(&many.write()).is_some());
    }
}
