//! A document of figures: the charts and tables of one experiment, each with a sentence on what it shows.
//!
//! Every number is computed here in Rust; page and drawings only draw. An experiment converts its result into
//! [`Figures`] with the constructors below, and passes them to [`crate::figures_html`] or [`crate::svg::figures`]:
//!
//! ```
//! use report::figures::{Axis, Figures, Line, Timeline};
//!
//! let arrived = Line::steps("arrived", 0.0, 1.0, [4.0, 40.0, 402.0, 508.0]);
//! let throughput = Timeline::new("Throughput", Axis::linear("throughput", "Mbit/s"))
//!     .says("The window opens for four seconds.")
//!     .line(arrived)
//!     .phase("fast", 0.0, 4.0);
//! let figures = Figures::new("An oscillating reader", "508 Mbit/s after 4 s.")
//!     .condition("round trip", "300 ms")
//!     .panel(throughput);
//! assert!(report::figures_html(&figures)?.contains("508 Mbit/s after 4 s."));
//! # Ok::<(), serde_json::Error>(())
//! ```

use claim::{Caveat, Doubt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Condition;

mod line;
mod panels;
mod points;

pub use line::{Line, Look};
pub use panels::{Axis, Bar, Bars, Multiples, Panel, Phase, Scale, Scatter, Small, Timeline};
pub use points::{Marks, Points};

/// Everything that a page of figures shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// [`FIGURES_SCHEMA`].
    pub schema: String,
    /// The title of the page.
    pub title: String,
    /// What it shows, in one or two sentences.
    pub summary: String,
    /// False if this program was the bottleneck: then the numbers describe the tool and not what it measured.
    pub valid: bool,
    /// The reasons, as sentences. Empty if it is valid.
    pub reasons: Vec<String>,
    /// The charts, in the order to show them. Adjacent charts of one kind are drawn as one: timelines share their
    /// time axis and a cursor, scatters with the same axes share their limits.
    pub panels: Vec<Panel>,
    /// The tables, shown below the charts.
    pub tables: Vec<Table>,
    /// The conditions of the measurement, in the order to show them.
    pub conditions: Vec<Condition>,
    /// What a reader must know before trusting the numbers, as sentences.
    pub warnings: Vec<String>,
    /// The reasons and the warnings, each with its kind.
    #[serde(default)]
    pub doubts: Vec<Caveat>,
}

impl Figures {
    /// An empty document with its title, and a summary of one or two sentences.
    pub fn new(title: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            schema: FIGURES_SCHEMA.to_owned(),
            title: title.into(),
            summary: summary.into(),
            valid: true,
            reasons: Vec::new(),
            panels: Vec::new(),
            tables: Vec::new(),
            conditions: Vec::new(),
            warnings: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// Adds a chart at the end.
    #[must_use]
    pub fn panel(mut self, panel: impl Into<Panel>) -> Self {
        self.panels.push(panel.into());
        self
    }

    /// Adds a table at the end.
    #[must_use]
    pub fn table(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// Adds a condition of the measurement.
    #[must_use]
    pub fn condition(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.conditions.push(Condition { name: name.into(), value: value.into() });
        self
    }

    /// Adds a reason to doubt the numbers. A doubt that makes them worthless makes the document
    /// invalid.
    #[must_use]
    pub fn doubt(self, doubt: impl Into<Caveat>) -> Self {
        let mut doubts = self.doubts;
        doubts.push(doubt.into());
        let (valid, reasons) = (claim::is_valid(&doubts), claim::reasons(&doubts));
        Self { valid, reasons, warnings: claim::warnings(&doubts), doubts, ..self }
    }

    /// Adds a warning, as a sentence.
    #[must_use]
    pub fn warning(self, sentence: impl Into<String>) -> Self {
        self.doubt(Doubt::Noticed(sentence.into()))
    }

    /// Marks the document as invalid. The reason is a sentence.
    #[must_use]
    pub fn invalid(self, reason: impl Into<String>) -> Self {
        self.doubt(Doubt::Recorded(reason.into()))
    }
}

/// A table of figures that are already formatted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// The title.
    pub title: String,
    /// Its columns. The first one names the rows.
    pub columns: Vec<Column>,
    /// Its rows: a text for each column, "" if there is none.
    pub rows: Vec<Vec<String>>,
    /// Notes for the reader, as sentences; may be empty.
    pub note: String,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().collect();
        Self { title: title.into(), columns, rows: Vec::new(), note: String::new() }
    }

    /// Adds a row: a text for each column.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = String>) -> Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// Adds a note below the table.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Its title, with the unit of its figures: "round trip (ms)".
    pub title: String,
    /// Whether figures are aligned by their digits.
    pub align: Align,
    /// Whether it is shown only if there is room for everything: on a page, and on a terminal with all details.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
}

impl Column {
    /// A column of words.
    pub fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), align: Align::Text, wide: false }
    }

    /// A column of figures.
    pub fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), align: Align::Number, wide: false }
    }

    /// The same, but shown only if there is room for everything.
    #[must_use]
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }
}

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// Left, for words.
    Text,
    /// Right, for figures.
    Number,
}

/// The schema of [`Figures`] that this version writes.
pub const FIGURES_SCHEMA: &str = "longhaul.figures/1";
