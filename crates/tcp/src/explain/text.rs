//! Figures as sentences have them.

pub(super) use units::show::{plural, rate, share, time};

/// An amount of data, also of one that is the result of a division.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an amount is not negative")]
pub(super) fn bytes(bytes: impl Into<f64>) -> String {
    units::show::bytes(bytes.into().round() as u64)
}
