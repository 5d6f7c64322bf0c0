//! Sorts samples, by counting where they are whole thousandths, as most files of milliseconds write
//! them.
//!
//! A clock of a microsecond and four seconds of range leave four million different values: these
//! are counted in one pass and written out in another.

/// The samples must be finite and not negative.
pub(crate) fn sort(samples: &mut [f64]) {
    if samples.len() < MANY || !by_counting(samples) {
        samples.sort_unstable_by(f64::total_cmp);
    }
}

/// If a sample is not a whole thousandth, leaves the samples unchanged and returns `false`.
fn by_counting(samples: &mut [f64]) -> bool {
    let mut counts: Vec<u32> = Vec::new();
    let mut above = Vec::new();
    let most_above = samples.len() / 16;
    for &sample in samples.iter() {
        let thousandths = sample * SCALE + 0.5;
        if thousandths >= RANGE {
            above.push(sample);
            if above.len() > most_above {
                return false;
            }
            continue;
        }
        let index = whole(thousandths);
        // The same division as where the text was read, so the same bits.
        if f64::from(index) / SCALE != sample {
            return false;
        }
        let index = index as usize;
        if index >= counts.len() {
            counts.resize((index + 1).next_power_of_two(), 0);
        }
        counts[index] += 1;
    }
    above.sort_unstable_by(f64::total_cmp);
    let in_range = samples.len() - above.len();
    let (mut rest, tail) = samples.split_at_mut(in_range);
    tail.copy_from_slice(&above);
    for (index, &count) in (0_u32..).zip(&counts) {
        let (equal, more) = rest.split_at_mut(count as usize);
        equal.fill(f64::from(index) / SCALE);
        rest = more;
    }
    true
}

/// `number` is not negative, and below [`RANGE`].
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded, as documented")]
fn whole(number: f64) -> u32 {
    number as u32
}

/// From here on counting is faster. Fewer than 2^32 of a value: they would take 32 GB.
const MANY: usize = 1 << 16;

const SCALE: f64 = 1000.0;

/// In thousandths, 4.2 s: beyond it, counts would not fit a processor's cache.
const RANGE: f64 = 4_194_304.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(samples: &[f64]) -> (Vec<u64>, Vec<u64>, bool) {
        let bits = |samples: &[f64]| samples.iter().map(|sample| sample.to_bits()).collect();
        let (mut counted, mut compared) = (samples.to_vec(), samples.to_vec());
        let is_counted = by_counting(&mut counted);
        compared.sort_unstable_by(f64::total_cmp);
        let counted = if is_counted { bits(&counted) } else { bits(samples) };
        (counted, bits(&compared), is_counted)
    }

    #[test]
    fn samples_that_are_no_thousandths_stay_as_they_were() {
        let samples = [3.0, 1.0005, 2.0];
        let (left, _, is_counted) = both(&samples);
        assert_eq!((left, is_counted), (samples.map(f64::to_bits).to_vec(), false));
        assert!(both(&[[1.0; 15].as_slice(), &[1e9]].concat()).2);
        assert!(!both(&[[1.0; 14].as_slice(), &[1e9, 1e8]].concat()).2);
    }

    proptest! {
        #[test]
        fn counting_is_sorting(thousandths in prop::collection::vec(0..5_000_000_u32, 1..400), divisor in 1..2000_u32) {
            let samples: Vec<f64> =
                thousandths.iter().map(|&value| f64::from(value / divisor) / 1000.0).collect();
            let (counted, compared, is_counted) = both(&samples);
            prop_assert!(!is_counted || counted == compared);
            prop_assert!(is_counted || divisor == 1);
        }
    }
}
