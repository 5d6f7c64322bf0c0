//! Tier settings of a zone as on/off values, under the API paths that CDN clients expect. They are read-only,
//! because they come from the network's file, which is the same in all data centres.

use serde::{Deserialize, Serialize};

use crate::network::{Tiers, Zone};

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Whether the zone uses tiers.
    Tiered,
    /// Whether the upper tier is the data centre nearest to the origin.
    Smart,
    /// Whether a data centre in the client's region is used first.
    Regional,
}

/// A response.
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
    /// Returns the setting with this path below a zone.
    pub(crate) fn at(path: &[&str]) -> Option<Self> {
        Some(match path {
            ["argo", "tiered_caching"] => Self::Tiered,
            ["cache", "tiered_cache_smart_topology_enable"] => Self::Smart,
            ["cache", "regional_tiered_cache"] => Self::Regional,
            _ => return None,
        })
    }

    /// Returns the value for a zone.
    pub(crate) fn of(self, zone: &Zone) -> Answer {
        let (id, is_on) = match self {
            Self::Tiered => ("tiered_caching", zone.tiers != Tiers::None),
            Self::Smart => ("tiered_cache_smart_topology_enable", zone.tiers == Tiers::Smart),
            Self::Regional => ("tc_regional", zone.regional),
        };
        let value = if is_on { Value::On } else { Value::Off };
        Answer { id, value, editable: false, modified_on: None }
    }

    /// Accepts a change to the current value and rejects others with a message. `Err(None)` means that the
    /// body is invalid.
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
            "this setting comes from the network's file of all data centres: set {line} in zone \"{}\" there and send SIGHUP to each edge",
            zone.name
        )))
    }
}

/// Error message for an invalid body.
pub(crate) const EXPECTED: &str = "expected {\"value\": \"on\"} or {\"value\": \"off\"}";
