//! Converts counts to floating point.

#[expect(clippy::cast_precision_loss, reason = "numbers of ports and connects, far below 2^53")]
pub(super) fn as_f64(n: usize) -> f64 {
    n as f64
}
