//! A page: many requests, of which a share must finish before the person is served.

use crate::{Error, limits::MOST_REQUESTS};

/// How many requests a person waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Page {
    requests: u32,
    required: f64,
}

impl Page {
    /// A page that makes `requests` requests (1..=[`MOST_REQUESTS`]), of which the share `required`
    /// (above 0, at most 1) must finish.
    ///
    /// # Errors
    /// Either number out of its range.
    pub fn new(requests: u32, required: f64) -> Result<Self, Error> {
        if !(1..=MOST_REQUESTS).contains(&requests) {
            return Err(Error::Requests { requests });
        }
        if !(required > 0.0 && required <= 1.0) {
            return Err(Error::Required { required });
        }
        Ok(Self { requests, required })
    }

    /// Requests that the page makes.
    pub fn requests(self) -> u32 {
        self.requests
    }

    /// Share of them that must finish, above 0 and at most 1.
    pub fn required(self) -> f64 {
        self.required
    }

    /// Requests that the user waits for: max(1, round(requests x required)), halves rounded up. The share
    /// counts as the decimal in its text: 28.5 % of 100 are 28.5 and so 29, although the f64 next to 0.285 is
    /// smaller.
    pub fn effective_requests(self) -> u32 {
        let (digits, places) = decimal(self.required);
        // Below 10^17 and 10^6. A share so small that its power of ten overflows rounds to 0.
        let product = u128::from(digits) * u128::from(self.requests);
        let rounded = 10_u128.checked_pow(places).map_or(0, |unit| (product + unit / 2) / unit);
        u32::try_from(rounded).unwrap_or(MOST_REQUESTS).clamp(1, self.requests)
    }

    /// The request percentile, as a share, that decides for a share of visitors: share^(1/effective
    /// requests). With 70 requests, half of all visitors meet nothing slower than the 99.01st request
    /// percentile.
    pub fn percentile_to_watch(self, visitors: f64) -> f64 {
        percentile_to_watch(self.effective_requests(), visitors)
    }
}

/// The shortest decimal that parses to `share`: digits, and how many follow the point.
fn decimal(share: f64) -> (u64, u32) {
    let text = format!("{share:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let places = i64::try_from(behind).unwrap_or(0) - exponent.parse::<i64>().unwrap_or(0);
    let digits = digits
        .chars()
        .filter_map(|digit| digit.to_digit(10))
        .fold(0, |sum, digit| sum * 10 + u64::from(digit));
    (digits, u32::try_from(places).unwrap_or(0))
}

/// `visitors` is clamped to 0..=1 and `requests` to at least 1.
pub(crate) fn percentile_to_watch(requests: u32, visitors: f64) -> f64 {
    visitors.clamp(0.0, 1.0).powf(1.0 / f64::from(requests.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_requests() {
        let effective = |requests, required| Page::new(requests, required).unwrap().effective_requests();
        assert_eq!(effective(180, 0.5), 90);
        assert_eq!(effective(1, 0.01), 1);
        assert_eq!(effective(5, 0.5), 3);
        assert_eq!(effective(MOST_REQUESTS, 1.0), MOST_REQUESTS);
        // 0.29 x 100 is 28.999999999999996 in f64.
        assert_eq!(effective(100, 0.29), 29);
        assert_eq!((effective(9, 1e-300), effective(7, f64::MIN_POSITIVE), effective(3, 1.0)), (1, 1, 3));
    }

    #[test]
    fn shares_are_decimal() {
        let effective = |requests, required| Page::new(requests, required).unwrap().effective_requests();
        // In f64 0.285 x 100 is 28.499999999999996 and 0.285 x 200 is 56.99999999999999.
        assert_eq!((effective(100, 0.285), effective(200, 0.285), effective(300, 0.285)), (29, 57, 86));
        for thousandths in 1..=1000_u32 {
            let share: f64 = format!("{}.{:03}", thousandths / 1000, thousandths % 1000).parse().unwrap();
            for requests in [1, 3, 7, 50, 100, 180, 200, 1000, 4999] {
                let expected = ((requests * thousandths + 500) / 1000).max(1);
                assert_eq!(effective(requests, share), expected, "{share} of {requests}");
            }
        }
    }

    #[test]
    fn percentiles_to_watch() {
        let watch = |requests, visitors| Page::new(requests, 1.0).unwrap().percentile_to_watch(visitors);
        // 0.5^(1/70) = exp(-0.693147/70) = exp(-0.00990210) = 0.9901468.
        assert!((watch(70, 0.5) - 0.990_146_8).abs() < 1e-7);
        // 0.99^(1/70) = exp(-0.01005034/70) = exp(-0.000143576) = 0.9998564.
        assert!((watch(70, 0.99) - 0.999_856_4).abs() < 1e-7);
        assert_eq!(watch(1, 0.9), 0.9);
        assert_eq!(watch(10, 0.0), 0.0);
        assert_eq!(watch(10, 1.0), 1.0);
        // The other way round: 0.5^70 of visitors never wait longer than the median request.
        assert!((watch(70, 0.5_f64.powi(70)) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn nonsense_says_what_was_expected() {
        let said = |requests, required| Page::new(requests, required).unwrap_err().to_string();
        assert_eq!(said(0, 0.5), "a page of 0 requests; a page makes 1 to 1000000 requests");
        assert_eq!(said(9, 0.0), "a required share of 0; it must be above 0 and at most 1");
        assert!(said(9, 1.5).contains("a required share of 1.5"));
        assert!(said(9, f64::NAN).contains("a required share of NaN"));
    }
}
