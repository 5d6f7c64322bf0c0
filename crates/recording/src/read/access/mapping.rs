//! Meanings that the user gives to variables of a log: `ttfb=upstream_header_time:ms`.

use super::format::{Kind, Parsed, Piece, Scale};
use crate::{ColumnMapping, Metric, read::column_mapping::Field};

/// The kind of a variable with this name and this usual kind.
pub(super) fn mapped(columns: &[ColumnMapping], name: &str, kind: Kind) -> Kind {
    if columns.is_empty() {
        return kind;
    }
    let name = name.to_ascii_lowercase();
    let bare = name.trim_matches(['$', '%', '@', '{', '}']);
    let Some(column) = columns.iter().find(|column| column.matches(&name) || column.matches(bare)) else {
        // Another variable is the user's choice for its metric.
        let is_replaced = |metric| columns.iter().any(|column| column.field == Field::Metric(metric));
        return match metric(&kind) {
            Some((metric, _)) if is_replaced(metric) => Kind::Label(bare.to_owned()),
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
    /// The same with the user's meanings.
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
