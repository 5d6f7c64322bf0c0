//! Conversion of counters for [`units::show`].

#[expect(clippy::cast_precision_loss, reason = "what is shown has three digits")]
pub(crate) fn whole(counter: u64) -> f64 {
    counter as f64
}
