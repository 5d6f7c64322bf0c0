//! Commands: the numbers that claims speak of, of all that was printed.

use scenario::Printed;

use super::table::table;
use crate::text::{label, plain};

/// A row for each number.
pub(super) fn commands(printed: &[Printed]) -> String {
    let row = |one: &Printed| {
        let side = label(&one.side, LABEL);
        one.figures.clone().into_iter().map(move |figure| [side.clone(), figure.at, plain(&figure.text)])
    };
    let rows: Vec<_> = printed.iter().flat_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    table(["command", "figure", "value"].map(str::to_owned), rows)
}

const LABEL: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_beside_their_side() {
        let printed: Printed = serde_json::from_value(serde_json::json!({
            "side": "small", "host": "reader", "value": { "restart_s": 4.5, "more": [1, 2, 3] },
            "figures": [{ "at": "json.restart_s", "text": "4.50 s" }, { "at": "json.more.7", "text": "json.more has no 7" }],
        }))
        .unwrap();
        let text = commands(&[printed]);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[2], " small     json.restart_s               4.50 s");
        assert_eq!(lines[3], " small        json.more.7   json.more has no 7");
        assert_eq!(commands(&[]), "");
    }
}
