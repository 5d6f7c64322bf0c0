//! A value of a parameter, or the machine's default.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};
use units::Bytes;

/// The value of a parameter in one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Setting<T> {
    /// The machine's default, written "default".
    Default,
    /// This value.
    Is(T),
}

impl<T> Setting<T> {
    /// Whether this is the machine's default.
    pub fn is_default(&self) -> bool {
        self.value().is_none()
    }

    /// The value, unless it is the default.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Default => None,
            Self::Is(value) => Some(value),
        }
    }
}

impl<T: FromStr> FromStr for Setting<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        if text == DEFAULT { Ok(Self::Default) } else { text.parse().map(Self::Is) }
    }
}

impl<T: fmt::Display> fmt::Display for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str(DEFAULT),
            Self::Is(value) => value.fmt(f),
        }
    }
}

/// Shown in binary units: "32MiB" and not "33.554432MB".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub struct Size(pub Bytes);

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.0)
    }
}

impl FromStr for Size {
    type Err = units::Error;

    fn from_str(text: &str) -> Result<Self, units::Error> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.0;
        let whole = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
            .into_iter()
            .find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
        match whole {
            Some((name, unit)) => write!(f, "{}{name}", bytes / unit),
            None => self.0.fmt(f),
        }
    }
}

const DEFAULT: &str = "default";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_buffers_are_written() {
        for text in ["128KiB", "32MiB", "1GiB", "1536MiB", "4096KiB", "5KB", "0B", "default"] {
            let setting: Setting<Size> = text.parse().unwrap();
            let shown = setting.to_string();
            assert_eq!(shown.parse::<Setting<Size>>().unwrap(), setting, "{shown}");
            assert_eq!(shown, if text == "4096KiB" { "4MiB" } else { text });
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        assert!("much".parse::<Setting<Size>>().unwrap_err().to_string().contains("\"much\""));
    }
}
