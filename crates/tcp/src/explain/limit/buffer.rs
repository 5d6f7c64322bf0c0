//! What send and receive buffers have in common: a program fixes them, or the kernel lets them grow to the end of a setting.

use crate::explain::{Case, Kind, text};

/// Whether a program has fixed a buffer, and so taken it from the kernel, which lets buffers grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    /// The socket says so.
    Yes,
    /// The kernel would have let it grow, and has not.
    Seemingly,
    /// It grows, or has grown as far as it may.
    No,
}

impl Fixed {
    /// Of a buffer of which all is used, by its sizes while it was looked at.
    pub(super) fn of<I: Iterator<Item = u32>>(
        chosen: Option<bool>,
        sizes: impl Fn() -> I,
        limits: Option<[u64; 3]>,
    ) -> Self {
        let is_constant = sizes().min() == sizes().max();
        match (chosen, sizes().last()) {
            (Some(true), _) => Self::Yes,
            (None, Some(size)) if is_constant && limits.is_some() && !is_at_most(size, limits) => {
                Self::Seemingly
            }
            _ => Self::No,
        }
    }
}

/// Whether a buffer has grown to the end of its setting, or nearly.
pub(super) fn is_at_most(buffer: u32, limits: Option<[u64; 3]>) -> bool {
    limits.is_some_and(|[_, _, most]| u64::from(buffer) >= most / 100 * 95)
}

/// Of three buffer sizes: whether the largest is below the kernel's own choice, and says so; and what it should be.
pub(super) fn most_of(case: &Case<'_>, setting: &str, [_, _, most]: [u64; 3]) -> (Option<Kind>, String, u64) {
    let below = case.around.kernel.and_then(|kernel| {
        let all = case.around.settings.below_default(kernel);
        all.into_iter().find(|each| each.setting == setting).map(|each| (kernel, each.default))
    });
    match below {
        // What the kernel chooses depends a little on the machine's memory.
        Some((kernel, default)) => {
            let said = format!(
                ", {}, where Linux {kernel} itself would go to {}",
                text::bytes(most as f64),
                text::bytes(default as f64)
            );
            (Some(Kind::SettingBelowDefault), said, default)
        }
        None => (None, format!(", {}", text::bytes(most as f64)), most.saturating_mul(4)),
    }
}
