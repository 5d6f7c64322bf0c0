//! The impairment keys that links and access lines share.

use link::{Discipline, Limit, Loss};
use serde::{
    Serialize,
    de::{Error, MapAccess},
};
use toml::Spanned;
use units::Probability;

use super::{
    Contents, Jitter,
    text::{self, Written},
};

/// The keys that a link and an access line share.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Impairment {
    /// The queue limit, in time, bytes or packets.
    #[serde(serialize_with = "text::serialize", skip_serializing_if = "Option::is_none")]
    pub queue: Option<Limit>,
    /// The queue discipline; absent: "droptail".
    #[serde(serialize_with = "text::serialize", skip_serializing_if = "Option::is_none")]
    pub aqm: Option<Discipline>,
    /// Whether `aqm` marks packets that support it instead of dropping them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// The delay variation.
    #[serde(serialize_with = "text::serialize", skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// The jitter distribution from a file, in the format of netem's `distribution`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_table: Option<Spanned<Contents>>,
    /// The loss model of each direction: a share, or bursts.
    #[serde(serialize_with = "text::serialize", skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// Recorded losses, from a file of 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_trace: Option<Spanned<Contents>>,
    /// Probability of a duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// Probability of a bit error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
    /// Framing bytes of each segment; absent: [`ETHERNET`](super::ETHERNET).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<u16>,
    /// Options in the syntax of Linux `tc ... netem`. Other keys take precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netem: Option<Spanned<String>>,
}

impl Impairment {
    pub(super) const KEYS: [&'static str; 11] = [
        "queue",
        "aqm",
        "ecn",
        "jitter",
        "jitter_table",
        "loss",
        "loss_trace",
        "duplicate",
        "corrupt",
        "overhead",
        "netem",
    ];

    pub(super) fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, table: &mut A) -> Result<(), A::Error> {
        match key {
            "queue" => self.queue = Some(table.next_value::<Written<_>>()?.0),
            "aqm" => self.aqm = Some(table.next_value::<Written<_>>()?.0),
            "ecn" => self.ecn = table.next_value()?,
            "jitter" => self.jitter = Some(table.next_value::<Written<_>>()?.0),
            "jitter_table" => self.jitter_table = Some(table.next_value()?),
            "loss" => self.loss = Some(table.next_value::<Written<_>>()?.0),
            "loss_trace" => self.loss_trace = Some(table.next_value()?),
            "duplicate" => self.duplicate = Some(table.next_value()?),
            "corrupt" => self.corrupt = Some(table.next_value()?),
            "overhead" => self.overhead = Some(table.next_value()?),
            "netem" => self.netem = Some(table.next_value()?),
            _ => return Err(A::Error::unknown_field(key, &Self::KEYS)),
        }
        Ok(())
    }

    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        self.loss_trace.iter_mut().chain(&mut self.jitter_table)
    }
}

#[cfg(test)]
mod tests {
    use config_file::Document;

    use super::*;
    use crate::file::Link;

    #[test]
    fn every_key_is_in_the_list_and_is_read_as_it_was_written() {
        let contents = |file: &str| Some(Spanned::new(0..0, Contents::File(file.to_owned())));
        // All fields, so that the compiler reports a new one here.
        let all = Impairment {
            queue: "50ms".parse().ok(),
            aqm: "codel".parse().ok(),
            ecn: true,
            jitter: "2ms normal free".parse().ok(),
            jitter_table: contents("bell.dist"),
            loss: "1%".parse().ok(),
            loss_trace: contents("losses"),
            duplicate: Probability::new(0.1),
            corrupt: Probability::new(0.2),
            overhead: Some(0),
            netem: Some(Spanned::new(0..0, "delay 1ms".to_owned())),
        };
        let text = toml::to_string(&all).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let (mut written, mut known) =
            (table.keys().map(String::as_str).collect::<Vec<_>>(), Impairment::KEYS);
        written.sort_unstable();
        known.sort_unstable();
        assert_eq!(written, known);
        let link: Link = Document::new("w.toml", format!("between = ['a', 'b']\n{text}")).parse().unwrap();
        assert_eq!(toml::to_string(&link.impairment).unwrap(), text);
    }
}
