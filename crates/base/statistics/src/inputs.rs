//! Checks of the input that all statistics over columns share.

use crate::{Error, distribution::checked};

pub(crate) fn check_values(values_ms: &[f64]) -> Result<(), Error> {
    if values_ms.is_empty() {
        return Err(Error::Empty);
    }
    values_ms.iter().enumerate().try_for_each(|(index, &value)| checked(index, value).map(drop))
}

/// The earliest and the latest time. At least one value, as many times, none negative.
pub(crate) fn time_range(started_s: &[f64], values: usize) -> Result<(f64, f64), Error> {
    if started_s.len() != values {
        return Err(Error::Unpaired { times: started_s.len(), values });
    }
    if started_s.is_empty() {
        return Err(Error::Empty);
    }
    let (mut earliest, mut latest) = (f64::INFINITY, 0.0_f64);
    for (index, &value) in started_s.iter().enumerate() {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::Time { index, value });
        }
        earliest = earliest.min(value);
        latest = latest.max(value);
    }
    Ok((earliest, latest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_nonsense_has_its_name_and_place() {
        assert_eq!(check_values(&[]), Err(Error::Empty));
        assert_eq!(check_values(&[1.0, -2.0]), Err(Error::Negative { index: 1, value: -2.0 }));
        assert!(matches!(check_values(&[f64::NAN]), Err(Error::NotFinite { index: 0, .. })));
        assert_eq!(check_values(&[0.0, 2e100]), Err(Error::TooLarge { index: 1, value: 2e100 }));
        assert_eq!(check_values(&[0.0, 1e100]), Ok(()));
        assert_eq!(time_range(&[], 0), Err(Error::Empty));
        assert_eq!(time_range(&[1.0], 2), Err(Error::Unpaired { times: 1, values: 2 }));
        assert_eq!(time_range(&[1.0, -1.0], 2), Err(Error::Time { index: 1, value: -1.0 }));
        assert_eq!(time_range(&[3.0, 1.0, 2.0], 3), Ok((1.0, 3.0)));
    }
}
