//! The expiration of a value, which its writer sets as a time or as a duration.

use crate::Millis;

/// The second since 1970 at whose start the value expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expiration(pub u64);

/// Why an expiration is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpirationError {
    /// The duration is not an integer above 0.
    #[error("Invalid expiration_ttl of {0}. Please specify integer greater than 0.")]
    NoTtl(String),
    /// The duration is too short.
    #[error("Invalid expiration_ttl of {0}. Expiration TTL must be at least {LEAST_TTL}.")]
    ShortTtl(u64),
    /// The time is not an integer, or is in the past.
    #[error(
        "Invalid expiration of {0}. Please specify integer greater than the current number of seconds since the UNIX epoch."
    )]
    Past(String),
    /// The time is too close.
    #[error(
        "Invalid expiration of {0}. Expiration times must be at least {LEAST_TTL} seconds in the future."
    )]
    Soon(u64),
}

impl Expiration {
    /// Parses the parameters `expiration` and `expiration_ttl`, both in seconds. The latter has
    /// precedence.
    ///
    /// # Errors
    /// When it is not an integer, in the past, or less than [`LEAST_TTL`] away.
    pub fn asked(
        expiration: Option<&str>,
        ttl: Option<&str>,
        now: Millis,
    ) -> Result<Option<Self>, ExpirationError> {
        let now = now.seconds();
        if let Some(text) = ttl {
            let ttl: Option<u64> = text.parse().ok().filter(|&ttl| ttl > 0);
            let ttl = ttl.ok_or_else(|| ExpirationError::NoTtl(text.to_owned()))?;
            if ttl < LEAST_TTL {
                return Err(ExpirationError::ShortTtl(ttl));
            }
            return Ok(Some(Self(now.saturating_add(ttl))));
        }
        let Some(text) = expiration else { return Ok(None) };
        let at: Option<u64> = text.parse().ok().filter(|&at| at > now);
        let at = at.ok_or_else(|| ExpirationError::Past(text.to_owned()))?;
        if at < now.saturating_add(LEAST_TTL) {
            return Err(ExpirationError::Soon(at));
        }
        Ok(Some(Self(at)))
    }

    /// Whether the value has expired.
    pub fn is_past(self, now: Millis) -> bool {
        self.0 <= now.seconds()
    }
}

/// The shortest lifetime of a value in seconds.
pub const LEAST_TTL: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_000_000_999);

    #[test]
    fn it_is_a_minute_away_at_least() {
        let asked = |at, ttl| Expiration::asked(at, ttl, NOW);
        assert_eq!(asked(None, None), Ok(None));
        assert_eq!(asked(Some("1000060"), None), Ok(Some(Expiration(1_000_060))));
        assert_eq!(asked(Some("1000059"), None), Err(ExpirationError::Soon(1_000_059)));
        assert_eq!(asked(Some("1000000"), None), Err(ExpirationError::Past("1000000".into())));
        assert_eq!(asked(Some("soon"), None), Err(ExpirationError::Past("soon".into())));
        assert_eq!(asked(Some("5"), Some("60")), Ok(Some(Expiration(1_000_060))));
        assert_eq!(asked(None, Some("59")), Err(ExpirationError::ShortTtl(59)));
        assert_eq!(asked(None, Some("-5")), Err(ExpirationError::NoTtl("-5".into())));
        assert_eq!(asked(None, Some("18446744073709551615")), Ok(Some(Expiration(u64::MAX))));
    }

    #[test]
    fn a_value_is_gone_from_the_beginning_of_its_second_on() {
        assert!(!Expiration(1_000_001).is_past(NOW) && Expiration(1_000_000).is_past(NOW));
    }
}
