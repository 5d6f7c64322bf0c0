//! The number that a claim is about.

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

/// A kind of measurement, named by its table in a scenario file: "probe".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source(&'static str);

/// The location of the number.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// The sum of the numbers at these paths in each object, folded over all objects of a side.
    Number {
        /// The paths.
        paths: Vec<Path>,
        /// The aggregation over several objects.
        fold: Fold,
    },
    /// The total of the numbers at one path divided by the total at another.
    Ratio {
        /// The path of the numerator.
        of: Path,
        /// The path of the denominator.
        to: Path,
    },
    /// In a distribution.
    Samples {
        /// The name of the distribution: "request".
        of: &'static str,
        /// The statistic.
        measure: Measure,
    },
    /// The share of page views that are faster than those of this side; ties count half.
    FasterThan(String),
    /// The share of all events whose label has a value.
    Share {
        /// The label: "cache".
        label: String,
        /// Its value: "hit".
        value: String,
    },
}

/// The aggregation of the numbers of several objects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fold {
    /// The number of the only object.
    First,
    /// The sum.
    Sum,
    /// The maximum.
    Max,
    /// A statistic of all numbers. The objects are the whole population, not a sample.
    Over(Statistic),
}

/// The adjective for a better value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tempo {
    /// "faster", for requests and transfers.
    Faster,
    /// "shorter", for silences.
    Shorter,
}

/// A named number that each object of a kind of measurement has.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// The name: "transfer.stall".
    pub name: &'static str,
    /// Paths in an object, whose numbers are added: "json.stall.longest_s".
    pub paths: &'static [&'static str],
    /// The aggregation over the objects of a side.
    pub fold: Fold,
    /// The unit.
    pub unit: Unit,
    /// The adjective for a better value.
    pub tempo: Tempo,
    /// Why the number is missing, if the object gives no reason; "" if the path is reason enough.
    pub without: &'static str,
}

impl Source {
    /// A kind named by its table.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name: "probe".
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl Subject {
    /// A named number of a kind of measurement. The adjective for a better time is "shorter" unless
    /// [`Self::tempo`] changes it.
    pub fn new(source: Source, name: impl Into<String>, query: Query, unit: Unit) -> Self {
        Self { name: name.into(), source, query, unit, tempo: Tempo::Shorter, without: "" }
    }

    /// The number with this name in a table of numbers.
    pub fn of_table(source: Source, table: &[Number], name: &str) -> Option<Self> {
        let number = table.iter().find(|number| number.name == name)?;
        let paths = number.paths.iter().map(|path| path.parse()).collect::<Result<_, _>>().ok()?;
        let subject = Self::new(source, name, Query::Number { paths, fold: number.fold }, number.unit);
        Some(Self { tempo: number.tempo, without: number.without, ..subject })
    }

    /// Sets the adjective for a better value.
    #[must_use]
    pub fn tempo(self, tempo: Tempo) -> Self {
        Self { tempo, ..self }
    }

    /// Sets the sentence for a side without this number. "SIDE" stands for the side.
    #[must_use]
    pub fn without(self, without: &'static str) -> Self {
        Self { without, ..self }
    }

    /// The kind of measurement.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The location of the number.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The unit.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    pub(crate) fn absent(&self, side: &str) -> Option<String> {
        (!self.without.is_empty()).then(|| self.without.replace("SIDE", side))
    }

    /// "faster" or "longer", for a side that gained this much.
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
