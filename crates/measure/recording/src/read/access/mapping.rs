//! Meanings that the user gives to variables of a log: `ttfb=upstream_header_time:ms`.

use std::collections::BTreeSet;

use super::{
    Problem,
    format::{Kind, Parsed, Piece, Scale},
};
use crate::{ColumnMapping, Metric, read::column_mapping::Field};

pub(super) fn refused(columns: &[ColumnMapping], names: &BTreeSet<String>) -> Option<Problem> {
    let found = || {
        let shown: Vec<_> =
            names.iter().take(SHOWN).map(|name| format!("{:?}", name.trim_start_matches('$'))).collect();
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        format!("the variables {}{more}", shown.join(", "))
    };
    let is_there = |column: &ColumnMapping| names.iter().any(|name| is_for(column, name));
    columns.iter().enumerate().find_map(|(index, column)| {
        let before = &columns[..index];
        let (field, header) = (column.field.name(), &column.header);
        let expected = match column.field {
            _ if before.iter().any(|other| other.header == *header) => {
                format!("one --column for \"{header}\", not several")
            }
            _ if before.iter().any(|other| other.field == column.field) => {
                format!("one --column for the field {field}, not several")
            }
            Field::Metric(_) | Field::Status if is_there(column) => return None,
            Field::Metric(_) | Field::Status => format!("one with the name \"{header}\""),
            _ => format!("--column with a metric or status for an access log, not {field}"),
        };
        Some(Problem { offset: 0, found: found(), expected })
    })
}

/// With or without the signs that mark a variable.
fn is_for(column: &ColumnMapping, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    column.matches(&name) || column.matches(bare(&name))
}

fn bare(name: &str) -> &str {
    name.trim_matches(['$', '%', '@', '{', '}'])
}

pub(super) fn mapped(columns: &[ColumnMapping], name: &str, kind: Kind) -> Kind {
    if columns.is_empty() {
        return kind;
    }
    let Some(column) = columns.iter().find(|column| is_for(column, name)) else {
        // Another variable is the user's choice for its metric.
        let is_replaced = |metric| columns.iter().any(|column| column.field == Field::Metric(metric));
        return match metric(&kind) {
            Some((metric, _)) if is_replaced(metric) => {
                Kind::Label(bare(&name.to_ascii_lowercase()).to_owned())
            }
            _ => kind,
        };
    };
    let usual = metric(&kind).map(|(_, scale)| scale);
    let scale = column.unit.map(Scale::Fixed).or(usual).unwrap_or(Scale::Proven);
    match column.field {
        Field::Metric(metric) if matches!(kind, Kind::Durations(..)) => Kind::Durations(metric, scale),
        Field::Metric(metric) => Kind::Duration(metric, scale),
        Field::Status => Kind::Status,
        _ => kind,
    }
}

fn metric(kind: &Kind) -> Option<(Metric, Scale)> {
    match kind {
        Kind::Duration(metric, scale) | Kind::Durations(metric, scale) => Some((*metric, *scale)),
        _ => None,
    }
}

impl Parsed {
    pub fn names(&self) -> BTreeSet<String> {
        let fields = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field(field) => Some(field.name.clone()),
            Piece::Text(_) => None,
        });
        fields.collect()
    }

    pub fn mapped(mut self, columns: &[ColumnMapping]) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Field(field) = piece {
                let kind = std::mem::replace(&mut field.kind, Kind::Path);
                field.kind = mapped(columns, &field.name, kind);
            }
        }
        self
    }
}

const SHOWN: usize = 20;
