//! The kinds of charts, and how to build one.

// circle: one document: marks have a scale, and a panel has marks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Line, Marks, Points};

/// A chart of a document of figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Panel {
    /// Lines over time.
    Timeline(Timeline),
    /// Single events as points.
    Scatter(Scatter),
    /// Small charts with the same axes, one for each setting.
    Multiples(Multiples),
    /// A few amounts side by side.
    Bars(Bars),
}

impl From<Timeline> for Panel {
    fn from(panel: Timeline) -> Self {
        Self::Timeline(panel)
    }
}

impl From<Scatter> for Panel {
    fn from(panel: Scatter) -> Self {
        Self::Scatter(panel)
    }
}

impl From<Multiples> for Panel {
    fn from(panel: Multiples) -> Self {
        Self::Multiples(panel)
    }
}

impl From<Bars> for Panel {
    fn from(panel: Bars) -> Self {
        Self::Bars(panel)
    }
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// Its title: "throughput".
    pub title: String,
    /// The unit of its values, shown after them: "Mbit/s". Empty for plain numbers.
    pub unit: String,
    /// How its values are spaced.
    pub scale: Scale,
}

impl Axis {
    /// An axis on which equal steps are equal differences.
    pub fn linear(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { title: title.into(), unit: unit.into(), scale: Scale::Linear }
    }

    /// An axis on which equal steps are equal factors. Values of 0 or less lie at its lower end.
    pub fn log(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { title: title.into(), unit: unit.into(), scale: Scale::Log }
    }

    /// An axis of shares from 0 to 1, written in percent.
    pub fn share(title: impl Into<String>) -> Self {
        Self { title: title.into(), unit: "%".to_owned(), scale: Scale::Share }
    }

    pub(crate) fn text(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{} ({})", self.title, self.unit) }
    }
}

/// How the values of an axis are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal steps are equal differences. Begins at 0 unless the values are far from it.
    Linear,
    /// Equal steps are equal factors.
    Log,
    /// Shares: always from 0 to 1, written in percent.
    Share,
}

/// Lines of one unit over time, and what happened in that time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// The title.
    pub title: String,
    /// The message, as a sentence.
    pub sentence: String,
    /// The vertical axis.
    pub y: Axis,
    /// The lines; x is seconds since the start.
    pub lines: Vec<Line>,
    /// What was done when, drawn as bands.
    pub phases: Vec<Phase>,
}

impl Timeline {
    /// A timeline without lines.
    pub fn new(title: impl Into<String>, y: Axis) -> Self {
        Self { title: title.into(), sentence: String::new(), y, lines: Vec::new(), phases: Vec::new() }
    }

    /// Sets the message, a sentence.
    #[must_use]
    pub fn says(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = sentence.into();
        self
    }

    /// Adds a line; x is seconds since the start.
    #[must_use]
    pub fn line(mut self, line: Line) -> Self {
        self.lines.push(line);
        self
    }

    /// Adds a band: what was done from when until when. Bands with the same name look alike.
    #[must_use]
    pub fn phase(mut self, label: impl Into<String>, from_s: f64, to_s: f64) -> Self {
        self.phases.push(Phase { label: label.into(), from_s, to_s });
        self
    }
}

/// Something that was done for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// Its name: "slow".
    pub label: String,
    /// When it began, seconds since the start.
    pub from_s: f64,
    /// When it ended, seconds since the start.
    pub to_s: f64,
}

/// Single events as points, in classes of different colours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scatter {
    /// The title.
    pub title: String,
    /// The message, as a sentence.
    pub sentence: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The classes: even and odd ports, for instance.
    pub classes: Vec<Points>,
    /// Summaries of the points, drawn over them.
    pub lines: Vec<Line>,
    /// Events without a height, such as errors, marked at the upper edge.
    pub marks: Vec<Marks>,
}

impl Scatter {
    /// A scatter without points.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            sentence: String::new(),
            x,
            y,
            classes: Vec::new(),
            lines: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Sets the message, a sentence.
    #[must_use]
    pub fn says(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = sentence.into();
        self
    }

    /// Adds a class of points, as pairs of x and y. Of many points on one spot, one is kept.
    #[must_use]
    pub fn class(mut self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.classes.push(Points::new(name, points, (self.x.scale, self.y.scale)));
        self
    }

    /// Adds a summary of the points, such as their median along x.
    #[must_use]
    pub fn line(mut self, line: Line) -> Self {
        self.lines.push(line);
        self
    }

    /// Adds events without a height, such as errors, by their x.
    #[must_use]
    pub fn marks(mut self, name: impl Into<String>, at: impl IntoIterator<Item = f64>) -> Self {
        self.marks.push(Marks::new(name, at));
        self
    }
}

/// Small charts with the same axes: rows and columns for two settings, lines for a third.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Multiples {
    /// The title.
    pub title: String,
    /// The message, as a sentence.
    pub sentence: String,
    /// The horizontal axis of all charts.
    pub x: Axis,
    /// The vertical axis of all charts.
    pub y: Axis,
    /// The charts, row by row. Lines with the same name have the same colour in all of them.
    pub charts: Vec<Small>,
}

impl Multiples {
    /// Multiples without charts.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), sentence: String::new(), x, y, charts: Vec::new() }
    }

    /// Sets the message, a sentence.
    #[must_use]
    pub fn says(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = sentence.into();
        self
    }

    /// Adds a chart: its row ("1 Gbit/s"), its column ("cubic") and its lines. Either name may be
    /// empty.
    #[must_use]
    pub fn chart(
        mut self,
        row: impl Into<String>,
        column: impl Into<String>,
        lines: impl IntoIterator<Item = Line>,
    ) -> Self {
        let lines = lines.into_iter().collect();
        self.charts.push(Small { row: row.into(), column: column.into(), lines });
        self
    }
}

/// One of [`Multiples`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Small {
    /// The setting of its row: "1 Gbit/s". May be empty.
    pub row: String,
    /// The setting of its column: "cubic". May be empty.
    pub column: String,
    /// Its lines: a few points each, which are drawn as dots too.
    pub lines: Vec<Line>,
}

/// A few amounts side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// The message, as a sentence.
    pub sentence: String,
    /// The axis of the amounts, from 0.
    pub axis: Axis,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

impl Bars {
    /// A chart without bars.
    pub fn new(title: impl Into<String>, axis: Axis) -> Self {
        Self { title: title.into(), sentence: String::new(), axis, bars: Vec::new() }
    }

    /// Sets the message, a sentence.
    #[must_use]
    pub fn says(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = sentence.into();
        self
    }

    /// Adds a bar at the bottom.
    #[must_use]
    pub fn bar(mut self, label: impl Into<String>, value: f64) -> Self {
        self.bars.push(Bar { label: label.into(), value });
        self
    }
}

/// One of [`Bars`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its amount, 0 or more.
    pub value: f64,
}
