//! Reader programmes: the behaviour of a reader as data, from a TOML file or built in.

use std::{fmt, path::Path, str::FromStr, time::Duration};

use config_file::{Diagnostic, Document};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use tcp::Doing;
use toml::Spanned;
use units::{Bitrate, Probability};

use crate::Error;

/// The behaviour of a reader: a sequence of phases, repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Programme {
    /// Name of the built-in programme, or its file.
    pub name: String,
    /// Number of repetitions of the phases.
    pub repeat: u32,
    /// The phases, at least one.
    #[serde(rename = "phase")]
    pub phases: Vec<Phase>,
}

/// A period in which the reader reads in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase in results.
    pub name: String,
    /// The read rate: "unlimited", a rate such as "8Mbit", "5% of best", or "stop".
    #[schemars(with = "String")]
    pub rate: Rate,
    /// The duration, such as "5s".
    #[serde(with = "units::duration")]
    #[schemars(with = "String")]
    pub duration: Duration,
}

/// A read rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// As fast as possible.
    Unlimited,
    /// A fixed rate, in steps of 10 ms. Bytes missed in a step are not made up later.
    Limited(Bitrate),
    /// In each second reads a share of the best previous second as fast as possible, then nothing.
    OfBest(Probability),
    /// No reading.
    Stop,
}

/// The kind of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Unlimited rate.
    Fast,
    /// Limited rate, or a share of the best.
    Slow,
    /// Stopped.
    Stop,
}

impl Programme {
    /// The names of the built-in programmes, the default first.
    pub fn shipped() -> impl Iterator<Item = &'static str> {
        SHIPPED.into_iter().map(|(name, _)| name)
    }

    /// The text of a built-in programme.
    pub fn text(name: &str) -> Option<&'static str> {
        SHIPPED.into_iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| text)
    }

    /// Finds a built-in programme by its name, or reads a file.
    ///
    /// # Errors
    /// If neither exists, or the file contains a mistake.
    pub fn find(name: &str) -> Result<Self, Error> {
        if let Some(text) = Self::text(name) {
            return Ok(Self::parse(name, text)?);
        }
        let path = Path::new(name);
        if path.extension().is_none() && !path.exists() {
            let names: Vec<_> = Self::shipped().collect();
            return Err(Error::Tcp(tcp::Error::Input {
                what: format!(
                    "no programme is called \"{name}\"{}",
                    config_file::suggestion(name, Self::shipped())
                ),
                remedy: format!(
                    "one of {}, or a file as `longhaul tcp oscil programmes` prints",
                    names.join(", ")
                ),
            }));
        }
        let text = config_file::read_text(path).doing(|| format!("read the programme {name}"))?;
        Ok(Self::parse(name, &text)?)
    }

    /// Parses a programme. `name` is its name, and the file name in a [`Mistake`].
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let document = Document::new(name, text);
        let file: File = document.parse()?;
        if file.phases.is_empty() {
            return Err(document.mistake(0..0, "a programme has at least one [[phase]]"));
        }
        check(&document, &file.phases)?;
        let programme = Self {
            name: name.to_owned(),
            repeat: *file.repeat.get_ref(),
            phases: file.phases.into_iter().map(Spanned::into_inner).collect(),
        };
        match programme.duration() {
            Some(duration) if programme.repeat > 0 && duration <= LONGEST => Ok(programme),
            _ => Err(document.mistake(
                file.repeat.span(),
                format!(
                    "a programme is repeated once or more, and lasts {} at most",
                    units::duration::show(LONGEST)
                ),
            )),
        }
    }

    /// The total duration; `None` on overflow.
    pub fn duration(&self) -> Option<Duration> {
        let once =
            self.phases.iter().try_fold(Duration::ZERO, |sum, phase| sum.checked_add(phase.duration))?;
        once.checked_mul(self.repeat)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "once")]
    repeat: Spanned<u32>,
    #[serde(default, rename = "phase")]
    phases: Vec<Spanned<Phase>>,
}

fn check(document: &Document, phases: &[Spanned<Phase>]) -> Result<(), Diagnostic> {
    let mut has_read = false;
    for phase in phases {
        let Phase { name, rate, duration } = phase.get_ref();
        let wrong = |what: String| Err(document.mistake(phase.span(), what));
        if name.is_empty() || name.len() > LONGEST_NAME {
            return wrong(format!("a phase's name has 1 to {LONGEST_NAME} bytes"));
        }
        if *duration < SHORTEST {
            return wrong(format!("a phase lasts {} or longer", units::duration::show(SHORTEST)));
        }
        if matches!(rate, Rate::OfBest(_)) && !has_read {
            let needed = "a share of the best needs a phase before it that reads, unlimited or at a rate";
            return wrong(needed.to_owned());
        }
        has_read |= *rate != Rate::Stop;
    }
    Ok(())
}

fn once() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

impl Rate {
    /// The kind of this rate.
    pub fn kind(self) -> Kind {
        match self {
            Self::Unlimited => Kind::Fast,
            Self::Limited(_) | Self::OfBest(_) => Kind::Slow,
            Self::Stop => Kind::Stop,
        }
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = |why: &dyn fmt::Display| format!("{why}; {EXPECTED}");
        match text.trim() {
            "unlimited" => Ok(Self::Unlimited),
            "stop" => Ok(Self::Stop),
            text => match text.strip_suffix("of best") {
                Some(share) => share.trim().parse().map(Self::OfBest).map_err(|error| refused(&error)),
                None => text.parse().map(Self::Limited).map_err(|error| refused(&error)),
            },
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Limited(rate) => rate.fmt(f),
            Self::OfBest(share) => write!(f, "{share} of best"),
            Self::Stop => f.write_str("stop"),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

const SHIPPED: [(&str, &str); 5] = [
    ("oscillating", include_str!("programmes/oscillating.toml")),
    ("steady", include_str!("programmes/steady.toml")),
    ("stalls", include_str!("programmes/stalls.toml")),
    ("disk", include_str!("programmes/disk.toml")),
    ("batch", include_str!("programmes/batch.toml")),
];

const EXPECTED: &str = "a rate is \"unlimited\", \"8Mbit\", \"5% of best\" or \"stop\"";

/// Fits into a table column.
const LONGEST_NAME: usize = 32;

/// A busy machine may miss a shorter phase.
const SHORTEST: Duration = Duration::from_millis(10);

/// All seconds and phases are kept in memory.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        Programme::parse("p.toml", text).unwrap_err().to_string()
    }

    fn phase(rate: &str, duration: &str) -> String {
        format!("[[phase]]\nname = \"a\"\nrate = \"{rate}\"\nduration = \"{duration}\"\n")
    }

    #[test]
    fn those_that_come_along_are_without_mistake() {
        for name in Programme::shipped() {
            let programme = Programme::find(name).unwrap();
            let duration = programme.duration().unwrap();
            assert!(duration >= Duration::from_secs(30), "{name} lasts {duration:?}");
            let json = serde_json::to_string(&programme).unwrap();
            assert_eq!(serde_json::from_str::<Programme>(&json).unwrap(), programme);
        }
        let published = Programme::find(Programme::shipped().next().unwrap()).unwrap();
        let phases: Vec<_> =
            published.phases.iter().map(|phase| (phase.rate.to_string(), phase.duration)).collect();
        let seconds = Duration::from_secs;
        assert_eq!(phases, [("unlimited".to_owned(), seconds(5)), ("5% of best".to_owned(), seconds(15))]);
        assert_eq!(published.duration(), Some(seconds(60)));
    }

    #[test]
    fn rates_are_read_as_they_are_printed() {
        for text in ["unlimited", "8Mbit", "0.1% of best", "stop"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("5 % of best".parse(), Ok(Rate::OfBest(Probability::new(0.05).unwrap())));
    }

    #[test]
    fn mistakes_are_located() {
        let good = phase("unlimited", "1s");
        for (text, expected) in [
            (String::new(), "p.toml:1:1: a programme has at least one [[phase]]"),
            (
                format!("repaet = 2\n{good}"),
                "p.toml:1:1: unknown field `repaet`, expected `repeat` or `phase`; did you mean \"repeat\"?",
            ),
            (
                format!("repeat = 0\n{good}"),
                "p.toml:1:10: a programme is repeated once or more, and lasts 86400s at most",
            ),
            (format!("repeat = 86401\n{good}"), "p.toml:1:10: a programme is repeated once or more"),
            (
                format!("repeat = 4294967295\n{}", phase("stop", "3600h")),
                "p.toml:1:10: a programme is repeated",
            ),
            (phase("fast", "1s"), "p.toml:3:8: \"fast\" does not start with a number"),
            (phase("200% of best", "1s"), "p.toml:3:8: \"200%\" is out of range"),
            (phase("8Mbit", "1"), "p.toml:4:12: \"1\" has no unit"),
            (good.clone() + &phase("stop", "9ms"), "p.toml:5:1: a phase lasts 10ms or longer"),
            (phase("5% of best", "1s"), "p.toml:1:1: a share of the best needs a phase before it"),
            (good.replace("\"a\"", "\"\""), "p.toml:1:1: a phase's name has 1 to 32 bytes"),
            ("repeat = ".to_owned(), "p.toml:1:10: "),
        ] {
            let said = said(&text);
            assert!(said.starts_with(expected), "{text}\nsaid     {said}\nexpected {expected}");
        }
        assert!(said(&phase("fast", "1s")).ends_with(EXPECTED));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let said = Programme::find("ocillating").unwrap_err();
        assert!(said.to_string().ends_with("did you mean \"oscillating\"?"), "{said}");
        assert!(said.hint().unwrap().contains("steady"), "{:?}", said.hint());
        let said = Programme::find("/nowhere/p.toml").unwrap_err().to_string();
        assert!(said.starts_with("cannot read the programme /nowhere/p.toml: No such file"), "{said}");
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(repeat|\\[\\[phase\\]\\]|rate|duration|name|=|\"|[0-9a-z% \n]){0,40}") {
            let _ = Programme::parse("p.toml", &text);
        }
    }
}
