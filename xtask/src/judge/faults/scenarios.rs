//! Applies and ends faults at their times, and waits for recovery.

use std::time::Duration;

use anyhow::Context;

use super::{
    clock::Clock,
    cluster::{CENTRES, Place},
    network::Network,
    timeline::{Fault, What},
};

/// `is_over` is called when the clients may stop. When it returns, no link is cut, all processes
/// are running, and all data centres are linked.
pub(super) fn play(
    faults: &[Fault],
    lasts: Duration,
    (place, network, clock): (&Place, &Network<'_>, Clock),
    set_own: impl Fn(bool) -> anyhow::Result<()>,
    is_over: impl Fn(),
) -> anyhow::Result<Vec<Fault>> {
    let begins = faults.iter().enumerate().map(|(number, fault)| (fault.from, number, true));
    let ends = faults.iter().enumerate().map(|(number, fault)| (fault.to, number, false));
    let mut steps: Vec<_> = begins.chain(ends).collect();
    steps.sort_unstable();
    let mut cuts = vec![None; faults.len()];
    let mut done = faults.to_vec();
    let play = || {
        for (at, number, begins) in steps {
            clock.wait_for(at);
            if begins {
                done[number].from = clock.now();
            }
            match (faults[number].what, begins) {
                (What::Killed(centre), true) => network.kill(centre)?,
                (What::Killed(centre), false) => network.begin(centre)?,
                (What::Cut(..) | What::Alone(_), true) => cuts[number] = place.cut(faults[number].what)?,
                (What::Cut(..) | What::Alone(_), false) => place.control.lift(cuts[number].take())?,
                (What::Clock(centre, by), true) => network.set_clock(centre, by)?,
                (What::Clock(..), false) => {}
                (What::Full | What::Server, begins) => set_own(begins)?,
            }
            if !begins {
                done[number].to = clock.now();
            }
        }
        clock.wait_for(lasts);
        anyhow::Ok(())
    };
    let played = play();
    is_over();
    // Even after an error, because the next run uses the same planet.
    place.control.lift(None)?;
    played?;
    for centre in 0..CENTRES.len() {
        network.begin(centre)?;
    }
    network.wait_until_whole(LONGEST).with_context(|| {
        let faults: Vec<_> = done.iter().map(ToString::to_string).collect();
        format!("after {}\n{}", faults.join(", "), network.logs())
    })?;
    Ok(done)
}

/// Broken links reconnect within seconds.
const LONGEST: Duration = Duration::from_secs(40);
