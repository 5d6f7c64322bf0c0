//! What the network's file says of a zone's tiers, in the words of the field's interface: each is on or off, and a client that knows these paths
//! can ask for them. The file is the same in all data centres, and stays the only place where they are changed.

use serde::{Deserialize, Serialize};

use crate::network::{Tiers, Zone};

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Whether data centres ask one another.
    Tiered,
    /// Whether the one nearest to the origin is asked by all.
    Smart,
    /// Whether one in the visitor's region is asked first.
    Regional,
}

/// The answer.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    id: &'static str,
    value: Value,
    editable: bool,
    modified_on: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Value {
    On,
    Off,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    value: Value,
}

impl Setting {
    /// The one at this path below a zone.
    pub(crate) fn at(path: &[&str]) -> Option<Self> {
        Some(match path {
            ["argo", "tiered_caching"] => Self::Tiered,
            ["cache", "tiered_cache_smart_topology_enable"] => Self::Smart,
            ["cache", "regional_tiered_cache"] => Self::Regional,
            _ => return None,
        })
    }

    /// What a zone has.
    pub(crate) fn of(self, zone: &Zone) -> Answer {
        let (id, is_on) = match self {
            Self::Tiered => ("tiered_caching", zone.tiers != Tiers::None),
            Self::Smart => ("tiered_cache_smart_topology_enable", zone.tiers == Tiers::Smart),
            Self::Regional => ("tc_regional", zone.regional),
        };
        let value = if is_on { Value::On } else { Value::Off };
        Answer { id, value, editable: false, modified_on: None }
    }

    /// Takes a change that is none; why not, if it is one. `Err(None)` if the text is not a change.
    pub(crate) fn change(self, zone: &Zone, text: &[u8]) -> Result<Answer, Option<String>> {
        let Wanted { value } = serde_json::from_slice(text).map_err(|_| None)?;
        let answer = self.of(zone);
        if answer.value == value {
            return Ok(answer);
        }
        let line = match (self, value) {
            (Self::Tiered | Self::Smart, Value::On) => "tiers = \"smart\"",
            (Self::Tiered, Value::Off) => "tiers = \"none\"",
            (Self::Smart, Value::Off) => "tiers = \"generic\", or \"none\"",
            (Self::Regional, Value::On) => "regional = true",
            (Self::Regional, Value::Off) => "regional = false",
        };
        Err(Some(format!(
            "the network's file decides this, for all data centres at once: write {line} in zone \"{}\" there, and send each edge SIGHUP",
            zone.name
        )))
    }
}

/// What a change that is none is answered with.
pub(crate) const EXPECTED: &str = "expected {\"value\": \"on\"} or {\"value\": \"off\"}";
