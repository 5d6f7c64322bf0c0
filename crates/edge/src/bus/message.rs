//! Messages about purges between data centres: the position of the sender, entries that the receiver lacks,
//! and the age of the state of each peer. The format is JSON; all lists and strings are bounded.

use ::tiers::{LogId, MOST_LOGS, Piece, Position};
use serde::{Deserialize, Serialize};

use crate::note::Order;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) network: String,
    pub(crate) log: LogId,
    pub(crate) position: Position,
    /// Logs in the last reported position of the receiver that are settled, with their last entries.
    pub(crate) over: Position,
    /// The time since the sender last had all purges of each peer, ms.
    pub(crate) heard: Vec<(String, u64)>,
    pub(crate) pieces: Vec<Piece<Order>>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    network: String,
    log: String,
    position: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    over: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heard: Vec<WrittenAge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<WrittenPiece>,
}

#[derive(Serialize, Deserialize)]
struct WrittenAge {
    data_centre: String,
    age_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct WrittenPiece {
    log: String,
    first: u64,
    #[serde(default)]
    forgets: bool,
    purges: Vec<Order>,
}

impl Message {
    /// The maximum size, bytes.
    pub(crate) const LONGEST: usize = 4 << 20;

    pub(crate) fn write(&self) -> Vec<u8> {
        let Self { network, log, position, over, heard, pieces } = self;
        let age = |(name, age_ms): &(String, u64)| WrittenAge { data_centre: name.clone(), age_ms: *age_ms };
        let piece = |piece: &Piece<Order>| WrittenPiece {
            log: digits(piece.log),
            first: piece.first,
            forgets: piece.forgets,
            purges: piece.entries.clone(),
        };
        let written = Written {
            network: network.clone(),
            log: digits(*log),
            position: position.to_string(),
            over: over.to_string(),
            heard: heard.iter().map(age).collect(),
            pieces: pieces.iter().map(piece).collect(),
        };
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// Parses a message; `None` if it is invalid or exceeds a limit.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text = Some(text).filter(|text| text.len() <= Self::LONGEST)?;
        let Written { network, log, position, over, heard, pieces } = serde_json::from_slice(text).ok()?;
        let is_bounded = |order: &Order| order.bytes() <= LONGEST_NAME;
        let entries: usize = pieces.iter().map(|piece| piece.purges.len()).sum();
        let are_bounded = heard.len() <= MOST_HEARD
            && pieces.len() <= MOST_LOGS
            && entries <= MOST_ENTRIES
            && pieces.iter().flat_map(|piece| &piece.purges).all(is_bounded);
        let [position, over]: [Position; 2] =
            Some([position.parse().ok()?, over.parse().ok()?]).filter(|_| are_bounded)?;
        if position.logs().count().max(over.logs().count()) > MOST_LOGS {
            return None;
        }
        let piece = |piece: WrittenPiece| {
            let WrittenPiece { log, first, forgets, purges } = piece;
            Some(Piece { log: log_of(&log)?, first, forgets, entries: purges })
        };
        Some(Self {
            network,
            log: log_of(&log)?,
            position,
            over,
            heard: heard.into_iter().map(|age| (age.data_centre, age.age_ms)).collect(),
            pieces: pieces.into_iter().map(piece).collect::<Option<_>>()?,
        })
    }
}

/// Whether a parsed message survives serialisation; `None` if it cannot be parsed. For the fuzz target.
pub fn is_message_read_as_written(text: &[u8]) -> Option<bool> {
    let message = Message::read(text)?;
    Some(Message::read(&message.write()).as_ref() == Some(&message))
}

/// Truncates the pieces to the size limit of a message. The remaining entries are sent in the next message.
pub(super) fn within_bounds(mut pieces: Vec<Piece<Order>>) -> Vec<Piece<Order>> {
    let mut bytes = 0;
    let mut is_full = false;
    for piece in &mut pieces {
        let fits = |order: &&Order| {
            bytes += order.bytes();
            bytes <= FULL
        };
        let fit = if is_full { 0 } else { piece.entries.iter().take_while(fits).count() };
        is_full |= fit < piece.entries.len();
        piece.entries.truncate(fit);
    }
    pieces.retain(|piece| piece.forgets || !piece.entries.is_empty());
    pieces
}

pub(crate) fn digits(log: LogId) -> String {
    format!("{:x}", log.0)
}

pub(crate) fn log_of(digits: &str) -> Option<LogId> {
    Some(LogId(u64::from_str_radix(digits, 16).ok()?))
}

/// The maximum number of purges per message. Further purges are sent in the next message.
pub(crate) const MOST_ENTRIES: usize = 1000;
/// The maximum size of the purges of a message, bytes. Escaped quotation marks double it, and log IDs are
/// added, so it is far below [`Message::LONGEST`].
const FULL: usize = 1 << 20;
pub(super) const MOST_HEARD: usize = 1000;
/// The maximum size of a purge with its zone, bytes: longer than any URL in use.
pub(crate) const LONGEST_NAME: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use cache::purge::{Depth, Purge};

    use super::*;

    fn message(names: &[&str]) -> Message {
        let order = |name: &&str| Order::new("shop", Purge::Tag((*name).into()), Depth::Hard);
        Message {
            network: "n".into(),
            log: LogId(0x1f),
            position: "1f:3 2:1".parse().unwrap(),
            over: "7:12".parse().unwrap(),
            heard: vec![("fra".into(), 1500)],
            pieces: vec![Piece {
                log: LogId(2),
                first: 4,
                forgets: true,
                entries: names.iter().map(order).collect(),
            }],
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let message = message(&["a", "b"]);
        assert_eq!(Message::read(&message.write()), Some(message));
    }

    #[test]
    fn what_says_more_than_there_can_be_is_no_message() {
        assert_eq!(Message::read(b"{}"), None);
        let long = "x".repeat(LONGEST_NAME);
        assert_eq!(Message::read(&message(&[&long]).write()), None);
        assert!(Message::read(&message(&vec!["x"; MOST_ENTRIES]).write()).is_some());
        assert_eq!(Message::read(&message(&vec!["x"; MOST_ENTRIES + 1]).write()), None);
        let mut crowded = message(&[]);
        crowded.heard = vec![("x".into(), 1); MOST_HEARD + 1];
        assert_eq!(Message::read(&crowded.write()), None);
    }

    #[test]
    fn what_does_not_fit_is_left_for_later() {
        let long = "\"".repeat(LONGEST_NAME - 100);
        let mut many = message(&vec![&long[..]; 200]);
        many.pieces.push(many.pieces[0].clone());
        many.pieces.push(Piece { forgets: false, ..many.pieces[0].clone() });
        many.pieces = within_bounds(many.pieces);
        // The first piece is truncated, the second one only has its `forgets` mark, and the third one is
        // removed.
        assert_eq!(many.pieces.len(), 2);
        assert_eq!(many.pieces[0].entries.len(), FULL / (LONGEST_NAME - 96));
        assert!(many.pieces[1].entries.is_empty());
        assert!(Message::read(&many.write()).is_some());
    }
}
