//! Tier settings of a zone as on/off values, under the API paths that CDN clients expect. They are
//! read-only, because all data centres have the same network file.

use serde::{Deserialize, Serialize};

use crate::config::{Tiers, Zone};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TierSetting {
    Tiered,
    Smart,
    Regional,
}

#[derive(Debug, Serialize)]
pub(crate) struct SettingReply {
    id: &'static str,
    value: SettingValue,
    editable: bool,
    modified_on: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SettingValue {
    On,
    Off,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingPatch {
    value: SettingValue,
}

impl TierSetting {
    pub(crate) fn at(path: &[&str]) -> Option<Self> {
        Some(match path {
            ["argo", "tiered_caching"] => Self::Tiered,
            ["cache", "tiered_cache_smart_topology_enable"] => Self::Smart,
            ["cache", "regional_tiered_cache"] => Self::Regional,
            _ => return None,
        })
    }

    pub(crate) fn of(self, zone: &Zone) -> SettingReply {
        let (id, is_on) = match self {
            Self::Tiered => ("tiered_caching", zone.tiers != Tiers::None),
            Self::Smart => ("tiered_cache_smart_topology_enable", zone.tiers == Tiers::Smart),
            Self::Regional => ("tc_regional", zone.regional),
        };
        let value = if is_on { SettingValue::On } else { SettingValue::Off };
        SettingReply { id, value, editable: false, modified_on: None }
    }

    /// Accepts a change to the current value only. `Err(None)` means that the body is invalid.
    pub(crate) fn change(self, zone: &Zone, text: &[u8]) -> Result<SettingReply, Option<String>> {
        let SettingPatch { value } = serde_json::from_slice(text).map_err(|_| None)?;
        let answer = self.of(zone);
        if answer.value == value {
            return Ok(answer);
        }
        let line = match (self, value) {
            (Self::Tiered | Self::Smart, SettingValue::On) => "tiers = \"smart\"",
            (Self::Tiered, SettingValue::Off) => "tiers = \"none\"",
            (Self::Smart, SettingValue::Off) => "tiers = \"generic\", or \"none\"",
            (Self::Regional, SettingValue::On) => "regional = true",
            (Self::Regional, SettingValue::Off) => "regional = false",
        };
        Err(Some(format!(
            "this setting comes from the network's file of all data centres: set {line} in zone \"{}\" there and send SIGHUP to each edge",
            zone.name
        )))
    }
}

pub(crate) const EXPECTED: &str = "expected {\"value\": \"on\"} or {\"value\": \"off\"}";
