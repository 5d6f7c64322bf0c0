//! What a running planet's figures need beside [`units::show`].

/// "0", "0.4", "12": so many a second.
pub(super) fn number(number: f64) -> String {
    let decimals = usize::from(number > 0.0 && number < 10.0);
    format!("{number:.decimals$}")
}

/// A counter as a number that can be divided.
#[expect(clippy::cast_precision_loss, reason = "what is shown has three digits")]
pub(crate) fn whole(counter: u64) -> f64 {
    counter as f64
}
