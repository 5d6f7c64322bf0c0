//! The named distributions of `tc ... netem ... distribution NAME`.
//!
//! netem draws from a table of 4096 deviations in units of 1/8192 jitter. iproute2 computes its tables from
//! formulas, and this module repeats them exactly, including where a table deviates from the distribution
//! it is named after. Its Pareto table is truncated at four deviations, and has a standard deviation of
//! 0.82 and a mean of -0.03.

use std::sync::{Arc, LazyLock};

use crate::{Shape, Table};

pub(super) fn named(name: &str) -> Option<Shape> {
    let table = match name {
        "uniform" => return Some(Shape::Uniform),
        "normal" => &NORMAL,
        "pareto" => &PARETO,
        "paretonormal" => &PARETO_NORMAL,
        _ => return None,
    };
    Some(Shape::Table(Arc::clone(table)))
}

static NORMAL: LazyLock<Arc<Table>> =
    LazyLock::new(|| table(normal_quantiles().map(|x| (x * SCALE).round_ties_even())));

static PARETO: LazyLock<Arc<Table>> = LazyLock::new(|| table(pareto_quantiles()));

/// One quarter normal and three quarters Pareto, truncated to integers.
static PARETO_NORMAL: LazyLock<Arc<Table>> = LazyLock::new(|| {
    let normal = normal_quantiles().map(|x| (x * SCALE).round_ties_even());
    table(normal.zip(pareto_quantiles()).map(|(normal, pareto)| ((normal + 3.0 * pareto) / 4.0).trunc()))
});

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, which is how the tables are cut off")]
fn table(deviations: impl Iterator<Item = f64>) -> Arc<Table> {
    Arc::new(Table::new(deviations.map(|deviation| deviation as i16).collect()).expect("4096 deviations"))
}

/// The last step of 0.00005 at which the distribution function, in 16384ths and rounded, is 0, 4, 8
/// and so on. The function is summed incrementally.
fn normal_quantiles() -> impl Iterator<Item = f64> {
    let (mut steps, mut below) = (0_u32, 0.0);
    (0..ENTRIES).map(move |entry| {
        loop {
            let x = LEAST + f64::from(steps) * STEP;
            let density = (-0.5 * (x + STEP / 2.0).powi(2)).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let next = below + density * STEP;
            if next * 16_384.0 >= f64::from(entry * 4) + 0.5 {
                return x;
            }
            (steps, below) = (steps + 1, next);
        }
    })
}

/// u^(-1/3) - 3/2 for u from 1 down to 1/4096, scaled by 4/3 and rounded.
fn pareto_quantiles() -> impl Iterator<Item = f64> {
    (0..ENTRIES).map(|entry| {
        let share = 1.0 - f64::from(entry) / f64::from(ENTRIES);
        let deviation = (share.powf(-1.0 / 3.0) - 1.5) * 4.0 / 3.0 * SCALE;
        deviation.min(f64::from(i16::MAX)).round_ties_even()
    })
}

const ENTRIES: u32 = 4096;

/// NETEM_DIST_SCALE in Linux' pkt_sched.h.
const SCALE: f64 = 8192.0;

const LEAST: f64 = -10.0;
const STEP: f64 = 0.00005;

#[cfg(test)]
mod tests {
    use super::*;

    fn deviations(name: &str) -> Vec<i16> {
        match named(name) {
            Some(Shape::Table(table)) => table.deviations().to_vec(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn each_has_as_many_entries_as_netem_reads() {
        for name in ["normal", "pareto", "paretonormal"] {
            let all = deviations(name);
            assert_eq!(all.len(), 4096, "{name}");
            assert!(all.is_sorted(), "{name}");
        }
        assert_eq!(named("uniform"), Some(Shape::Uniform));
        assert_eq!(named("experimental"), None);
    }

    #[test]
    fn the_bell_has_its_quantiles() {
        let all = deviations("normal");
        // Values under -4.008 are below 0.5 of 16384: truncated. The next entry is below 4.5:
        // -3.4555.
        assert_eq!(all[..2], [i16::MIN, -28_307]);
        assert_eq!(all[2048], 0);
        // 15.87 % are below -1: entry 650 of 4096.
        assert!((f64::from(all[650]) / SCALE + 1.0).abs() < 0.001, "{}", all[650]);
    }

    #[test]
    fn paretos_law_is_cut_off_at_four_deviations() {
        let all = deviations("pareto");
        // (1 - 3/2) 4/3 = -2/3; u = 1/8 gives (2 - 3/2) 4/3 = 2/3.
        assert_eq!((all[0], all[3584]), (-5461, 5461));
        // 4.5^-3 of all values, 44.9 of 4096, exceed 4.5 = 3/2 + 4 x 3/4.
        assert_eq!(all.iter().filter(|&&deviation| deviation == i16::MAX).count(), 44);
        // 5 ms of jitter add less than 20 ms.
        assert!(f64::from(all[4095]) / SCALE * 5.0 < 20.0);
    }

    #[test]
    fn paretonormal_is_three_quarters_of_the_one_and_a_quarter_of_the_other() {
        let [both, pareto, normal] = ["paretonormal", "pareto", "normal"].map(deviations);
        for entry in 1..4096 {
            let expected = (i32::from(normal[entry]) + 3 * i32::from(pareto[entry])) / 4;
            assert_eq!(i32::from(both[entry]), expected, "entry {entry}");
        }
    }
}
