//! Checks faults against the world and the measurements.

use std::time::Duration;

use toml::Spanned;
use world::{Diagnostic, Document, Effect, HostDown, Layout, Timed, file::Fault};

use crate::kind::Measurement;

pub(super) fn check(
    fault: Spanned<Fault>,
    layout: &Layout,
    measurements: &[Measurement],
    end: Duration,
    document: &Document,
) -> Result<Timed, Diagnostic> {
    let (span, fault) = (fault.span(), fault.into_inner());
    let mistake = |message: String| document.mistake(span.clone(), message);
    let effect = layout.effect(&fault).map_err(mistake)?;
    let at = fault.at.ok_or_else(|| mistake("this fault has no time; expected at = \"10s\"".to_owned()))?;
    if at >= end {
        return Err(mistake(format!(
            "this fault begins at {}, and measuring ends at {}",
            units::duration::show(at),
            units::duration::show(end)
        )));
    }
    if let Effect::Host { host, how: HostDown::Killed } = effect
        && is_from(measurements, &layout.hosts[host].name)
    {
        return Err(mistake(format!(
            "this fault would kill the measuring program in \"{}\"; freeze the host or take its line down instead",
            layout.hosts[host].name
        )));
    }
    Ok(Timed { at, lasts: fault.lasts, fault, effect })
}

fn is_from(measurements: &[Measurement], host: &str) -> bool {
    measurements.iter().any(|one| one.measures().hosts().contains(&host))
}
