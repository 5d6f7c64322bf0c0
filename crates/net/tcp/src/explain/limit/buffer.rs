//! Common parts of send and receive buffers: fixed by a program, or autotuned up to the maximum of a setting.

use crate::explain::{Case, Kind, text};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fixed {
    Yes,
    Seemingly,
    No,
}

impl Fixed {
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

pub(super) fn is_at_most(buffer: u32, limits: Option<[u64; 3]>) -> bool {
    limits.is_some_and(|[_, _, most]| u64::from(buffer) >= most / 100 * 95)
}

pub(super) fn most_of(case: &Case<'_>, setting: &str, [_, _, most]: [u64; 3]) -> (Option<Kind>, String, u64) {
    let below = case.around.kernel.and_then(|kernel| {
        let all = case.around.settings.below_default(kernel);
        all.into_iter().find(|each| each.setting == setting).map(|each| (kernel, each.default))
    });
    match below {
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
