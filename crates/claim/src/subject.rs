//! The number that a claim is about: which kind of measurement has it, where it is, and how those of a side become one.
//! Pure.

use std::fmt;

use crate::{
    measure::{Measure, Statistic},
    path::Path,
    unit::{Faster, Unit},
};

/// The number that a claim is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    name: String,
    source: Source,
    query: Query,
    unit: Unit,
    tempo: Tempo,
    without: &'static str,
}

/// A kind of measurement, by the name of its table in a scenario file: "probe".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(&'static str);

/// Where the number is.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// In each object of a side: the sum of the numbers at these places, and those of all objects folded.
    Number {
        /// The places.
        paths: Vec<Path>,
        /// What is made of several objects.
        fold: Fold,
    },
    /// What the numbers at one place come to over what those at another come to.
    Ratio {
        /// The part.
        of: Path,
        /// The whole.
        to: Path,
    },
    /// In a distribution.
    Samples {
        /// The distribution: "request".
        of: &'static str,
        /// What of it.
        measure: Measure,
    },
    /// The share of page views that are faster than those of this side; two equal ones count half.
    FasterThan(String),
    /// The share of all events whose label has a value.
    Share {
        /// The label: "cache".
        label: String,
        /// Its value: "hit".
        value: String,
    },
}

/// How the numbers of several objects become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fold {
    /// There is one object.
    First,
    /// All of them together.
    Sum,
    /// The largest.
    Max,
    /// A number of their distribution. The objects are all that there are, and not a sample.
    Over(Statistic),
}

/// How a better value is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tempo {
    /// Requests and transfers are faster.
    Faster,
    /// Silences are shorter.
    Shorter,
}

/// A number that each object of a kind has, by a name of its own.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// The name: "transfer.stall".
    pub name: &'static str,
    /// Its places in an object, whose numbers are added up: "json.stall.longest_s".
    pub paths: &'static [&'static str],
    /// What is made of those of a side.
    pub fold: Fold,
    /// What it is counted in.
    pub unit: Unit,
    /// How a better value is called.
    pub tempo: Tempo,
    /// Why there is no number, where the object does not say why; "" if the place says enough.
    pub without: &'static str,
}

impl Source {
    /// A kind by the name of its table.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// "probe".
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Subject {
    /// A number of a kind of measurement, by the name that people write. Better values of a time are shorter until
    /// [`Self::tempo`] says otherwise.
    pub fn new(source: Source, name: impl Into<String>, query: Query, unit: Unit) -> Self {
        Self { name: name.into(), source, query, unit, tempo: Tempo::Shorter, without: "" }
    }

    /// The number of this name in a table of numbers.
    pub fn of_table(source: Source, table: &[Number], name: &str) -> Option<Self> {
        let number = table.iter().find(|number| number.name == name)?;
        let paths = number.paths.iter().map(|path| path.parse()).collect::<Result<_, _>>().ok()?;
        let subject = Self::new(source, name, Query::Number { paths, fold: number.fold }, number.unit);
        Some(Self { tempo: number.tempo, without: number.without, ..subject })
    }

    /// How a better value is called.
    #[must_use]
    pub fn tempo(self, tempo: Tempo) -> Self {
        Self { tempo, ..self }
    }

    /// Why a side has no such number: a sentence in which "SIDE" stands for the side.
    #[must_use]
    pub fn without(self, without: &'static str) -> Self {
        Self { without, ..self }
    }

    /// What measures it.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Where it is.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// What it is counted in.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Why a side has no such number; `None` if the subject does not say.
    pub(crate) fn absent(&self, side: &str) -> Option<String> {
        (!self.without.is_empty()).then(|| self.without.replace("SIDE", side))
    }

    /// "faster" or "longer": what a side is that has gained this much on the other.
    pub(crate) fn comparative(&self, gain: f64) -> &'static str {
        let is_fast = self.tempo == Tempo::Faster || self.unit.faster() == Some(Faster::More);
        match (is_fast, gain >= 0.0) {
            (true, true) => "faster",
            (true, false) => "slower",
            (false, true) => "shorter",
            (false, false) => "longer",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
