//! Meanings that the user gives to columns of a CSV file.

use std::str::FromStr;

use crate::{Metric, Unit, error::Unknown};

/// The meaning of one column, such as `latency=elapsed:ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMapping {
    pub(crate) field: Field,
    /// In lower case.
    pub(crate) header: String,
    pub(crate) unit: Option<Unit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Metric(Metric),
    Started,
    Intended,
    Page,
    Status,
    Error,
}

impl ColumnMapping {
    /// The header must be in lower case.
    pub(crate) fn matches(&self, header: &str) -> bool {
        self.header == header
    }
}

impl Field {
    /// The header must be without its unit.
    pub(crate) fn is_called(self, stem: &str) -> bool {
        Self::from_name(stem) == Some(self)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.name(),
            Self::Started => "started",
            Self::Intended => "intended",
            Self::Page => "page",
            Self::Status => "status",
            Self::Error => "error",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "started" => Some(Self::Started),
            "intended" => Some(Self::Intended),
            "page" => Some(Self::Page),
            "status" => Some(Self::Status),
            "error" => Some(Self::Error),
            metric => Metric::from_name(metric).map(Self::Metric),
        }
    }
}

impl FromStr for ColumnMapping {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<Self, Unknown> {
        let unknown = || Unknown {
            what: "column",
            found: text.to_owned(),
            expected: "FIELD=HEADER or FIELD=HEADER:UNIT, such as latency=elapsed:ms; a field is a metric, started, intended, \
                       page, status or error",
        };
        let (field, header) = text.split_once('=').ok_or_else(unknown)?;
        let field = Field::from_name(field.trim()).ok_or_else(unknown)?;
        let has_unit = !matches!(field, Field::Page | Field::Status | Field::Error);
        // A header may have a colon itself.
        let (header, unit) = match header.rsplit_once(':') {
            Some((before, unit)) if has_unit && unit.parse::<Unit>().is_ok() => (before, unit.parse().ok()),
            _ => (header, None),
        };
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() { Err(unknown()) } else { Ok(Self { field, header, unit }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_a_field_a_header_and_perhaps_a_unit() {
        let column = |text: &str| text.parse::<ColumnMapping>().unwrap();
        let latency = Field::Metric(Metric::Latency);
        assert_eq!(
            column("latency=Elapsed:ms"),
            ColumnMapping { field: latency, header: "elapsed".into(), unit: Some(Unit::Ms) }
        );
        assert_eq!(column("latency=a=b"), ColumnMapping { field: latency, header: "a=b".into(), unit: None });
        assert_eq!(
            column("ttfb=http:wait"),
            ColumnMapping { field: Field::Metric(Metric::Ttfb), header: "http:wait".into(), unit: None }
        );
        assert_eq!(
            column("page=a:ms"),
            ColumnMapping { field: Field::Page, header: "a:ms".into(), unit: None }
        );
        for text in ["", "elapsed", "latency=", "latency=:ms", "speed=elapsed", "=elapsed"] {
            let error = text.parse::<ColumnMapping>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("unknown column \"{text}\"; expected FIELD=HEADER")),
                "{error}"
            );
        }
    }
}
