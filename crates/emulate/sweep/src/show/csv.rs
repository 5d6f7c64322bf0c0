//! A sweep as a CSV file: one line per cell, columns named as in the JSON.

use serde_json::{Map, Value};

use crate::Sweep;

/// Header and cells. Absent values are empty.
pub fn csv(sweep: &Sweep) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for cell in &sweep.cells {
        // Cannot fail: all keys of a cell are strings.
        let Ok(Value::Object(fields)) = serde_json::to_value(cell) else { continue };
        let values: Vec<_> = COLUMNS.iter().map(|column| field(&fields, column)).collect();
        text += &(values.join(",") + "\n");
    }
    text
}

/// "fast_low_mbps" is the first of the two numbers in "fast_mbps".
fn field(fields: &Map<String, Value>, column: &str) -> String {
    let find = |name: &str| fields.get(name).or_else(|| fields.get("parameters")?.get(name));
    let value = if column.contains("_low_") {
        find(&column.replace("_low_", "_")).and_then(|range| range.get(0))
    } else if column.contains("_high_") {
        find(&column.replace("_high_", "_")).and_then(|range| range.get(1))
    } else {
        find(column)
    };
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => quoted(text),
        Some(other) => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.chars().all(is_plain) { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

const COLUMNS: [&str; 25] = [
    "rtt_ms",
    "rate_mbps",
    "rmem_bytes",
    "adv_win_scale",
    "notsent_lowat_bytes",
    "congestion",
    "programme",
    "valid",
    "n",
    "bytes",
    "fast_low_mbps",
    "fast_high_mbps",
    "fast_mean_mbps",
    "network_low_mbps",
    "network_high_mbps",
    "slow_mbps",
    "restart_s",
    "restart_max_s",
    "restarts_missed",
    "max_pause_ms",
    "window_bytes",
    "rcvbuf_bytes",
    "metadata_ratio",
    "prunes",
    "collapses",
];
