//! Detects processor usage by other programs during a measurement.

use std::{fs, time::Instant};

use anyhow::Context;
use nix::unistd::{SysconfVar, sysconf};

use crate::bench::edge::cpu::of_tree_us;

pub(super) struct Quiet {
    began: Instant,
    all_s: f64,
    ours_s: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) seconds: f64,
    pub(super) ours: f64,
    others: f64,
}

impl Quiet {
    pub(super) fn begin() -> anyhow::Result<Self> {
        let (all_s, ours_s) = now()?;
        Ok(Self { began: instant(), all_s, ours_s })
    }

    pub(super) fn end(self) -> anyhow::Result<Stretch> {
        let seconds = self.began.elapsed().as_secs_f64();
        let (all_s, ours_s) = now()?;
        let (all, ours) = ((all_s - self.all_s) / seconds, (ours_s - self.ours_s) / seconds);
        Ok(Stretch { seconds, ours, others: (all - ours).max(0.0) })
    }
}

impl Stretch {
    pub(super) fn doubt(self) -> Option<String> {
        let share = self.others * 100.0;
        (self.others > MOST_OF_OTHERS)
            .then(|| format!("other programs used {share:.0} % of a processor for {:.0} s", self.seconds))
    }
}

fn now() -> anyhow::Result<(f64, f64)> {
    let ticks = sysconf(SysconfVar::CLK_TCK)?.context("the kernel has no clock ticks")?;
    let all = busy(&fs::read_to_string("/proc/stat")?).context("/proc/stat has no line of all processors")?;
    #[expect(clippy::cast_precision_loss, reason = "ticks since the machine started fit")]
    let all_s = all as f64 / ticks as f64;
    Ok((all_s, of_tree_us(std::process::id())? / 1e6))
}

/// Interrupt time is excluded, because packet processing in interrupts belongs to no program.
fn busy(stat: &str) -> Option<u64> {
    let fields: Vec<u64> = stat
        .lines()
        .find_map(|line| line.strip_prefix("cpu "))?
        .split_whitespace()
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    [0, 1, 2, 7].iter().map(|at| fields.get(*at)).sum()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn instant() -> Instant {
    Instant::now()
}

/// Fraction of one processor: more than an idle system uses, less than a compiler uses.
const MOST_OF_OTHERS: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_other_machines_count_and_waiting_does_not() {
        // 100 + 20 + 30 + 7; without idle, iowait, irq and softirq.
        let stat = "cpu  100 20 30 5000 400 60 50 7 9 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(busy(stat), Some(157));
        assert_eq!(busy("cpu0 1 1 1 1 1 1 1 1 0 0\n"), None);
        assert_eq!(busy("cpu  1 2 3\n"), None);
    }

    #[test]
    fn a_disturbed_stretch_says_so() {
        let stretch = |others| Stretch { seconds: 3.0, ours: 1.0, others };
        assert_eq!(stretch(0.05).doubt(), None);
        assert_eq!(stretch(0.5).doubt().unwrap(), "other programs used 50 % of a processor for 3 s");
        let measured = Quiet::begin().unwrap().end();
        assert!(measured.is_ok_and(|measured| measured.others >= 0.0));
    }
}
