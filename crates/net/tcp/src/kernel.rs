//! Versions of Linux, and version-dependent behaviour: the effect of a setting depends on the kernel.

mod rule;

use std::{fmt, fs, str::FromStr};

use schemars::JsonSchema;
use serde::Serialize;

pub use self::rule::Rule;
use crate::{Error, error::Doing};

/// A version of Linux, such as 5.15 or 6.18.44. Suffixes of distributions ("-fc", "-91-generic") are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "String")]
pub struct Version {
    major: u16,
    minor: u16,
    patch: u16,
}

impl Version {
    /// The first release of `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor, patch: 0 }
    }

    /// The stable release `patch` of the same series.
    pub const fn stable(self, patch: u16) -> Self {
        Self { patch, ..self }
    }

    /// Whether both are releases of one series, such as 6.6.1 and 6.6.33.
    pub const fn is_of_series(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }

    /// The oldest kernel with known defaults.
    pub const OLDEST: Self = Rule::RECEIVE_6_MIB.since;

    /// The newest tested kernel. Changes in newer kernels are unknown here.
    pub const NEWEST: Self = Self::new(7, 3);

    /// Checks that a version given by the user was released, and that its defaults are known. Versions newer
    /// than [`Self::NEWEST`] are accepted.
    pub fn released(self) -> Result<Self, Error> {
        let refuse = |what: String, remedy: &str| Err(Error::Input { what, remedy: remedy.to_owned() });
        if let Some((major, last)) = LAST_MINOR.iter().find(|(major, _)| *major == self.major)
            && self.minor > *last
        {
            let next = major + 1;
            return refuse(
                format!("there is no Linux {self}: {next}.0 follows {major}.{last}"),
                "write the version as uname -r does, such as \"5.15\" or \"6.6.30\"",
            );
        }
        if self < Self::OLDEST {
            return refuse(
                format!(
                    "Linux {self} is older than {}, the oldest whose defaults are known here",
                    Self::OLDEST
                ),
                "name this version or a newer one",
            );
        }
        Ok(self)
    }

    /// The running kernel. Fails if `/proc` is not mounted or contains no version.
    pub fn running() -> Result<Self, Error> {
        fs::read_to_string(RELEASE).doing(|| format!("read {RELEASE}"))?.trim().parse()
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = || Error::Input {
            what: format!("\"{text}\" is not a version of Linux"),
            remedy: "write it as \"5.15\" or \"6.6.30\"".to_owned(),
        };
        let release = text.split(['-', '+', '_', ' ']).next().unwrap_or_default();
        let mut numbers = release.split('.');
        let mut number = |otherwise: Option<u16>| {
            numbers.next().map_or(otherwise, |digits| digits.parse().ok()).ok_or_else(refused)
        };
        Ok(Self { major: number(None)?, minor: number(None)?, patch: number(Some(0))? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch } = self;
        match patch {
            0 => write!(f, "{major}.{minor}"),
            _ => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// The last series of each completed major version.
const LAST_MINOR: [(u16, u16); 5] = [(2, 6), (3, 19), (4, 20), (5, 19), (6, 19)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_released_or_is_too_old_to_be_known_is_refused() {
        let said =
            |text: &str| text.parse::<Version>().unwrap().released().map_err(|error| error.to_string());
        for text in ["3.4", "3.19.8", "4.20", "5.15", "6.6.30", "6.19", "7.0", "7.3", "8.1"] {
            assert_eq!(said(text).unwrap().to_string(), text);
        }
        for text in ["3.3.8", "3.2", "2.6.32", "2.4", "1.0", "0.0"] {
            let said = said(text).unwrap_err();
            assert!(said.contains(&format!("Linux {text} is older than 3.4")), "{said}");
        }
        for (text, after) in
            [("6.200", "7.0 follows 6.19"), ("4.21", "5.0 follows 4.20"), ("2.7", "3.0 follows 2.6")]
        {
            let said = said(text).unwrap_err();
            assert!(said.contains(after), "{text}: {said}");
        }
    }

    #[test]
    fn releases_of_distributions() {
        for (text, expected) in [
            ("6.18.44-fc-v669", Version::new(6, 18).stable(44)),
            ("5.15.0-91-generic", Version::new(5, 15)),
            ("6.19.0-rc3+", Version::new(6, 19)),
            ("5.15", Version::new(5, 15)),
            ("4.18.0-553.el8_10.x86_64", Version::new(4, 18)),
            ("2.6.32.71", Version::new(2, 6).stable(32)),
        ] {
            assert_eq!(text.parse::<Version>().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn no_version() {
        for text in ["", "6", "six", "6.x", "6.6.", "-6.6", "99999.1"] {
            let error = text.parse::<Version>().unwrap_err();
            assert_eq!(error.to_string(), format!("\"{text}\" is not a version of Linux"));
            assert_eq!(error.hint().unwrap(), "write it as \"5.15\" or \"6.6.30\"");
        }
    }

    #[test]
    fn order_and_text() {
        let versions =
            [Version::new(5, 15), Version::new(6, 6), Version::new(6, 6).stable(30), Version::new(6, 18)];
        assert!(versions.is_sorted());
        assert_eq!(versions.map(|version| version.to_string()), ["5.15", "6.6", "6.6.30", "6.18"]);
    }

    #[test]
    fn this_machine_has_one() {
        assert!(Version::running().unwrap() > Version::new(3, 0));
    }
}
