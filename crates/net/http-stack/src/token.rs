//! Bearer tokens of requests; a server stores only their hashes.

use std::{
    fmt::{self, Write as _},
    io,
    str::FromStr,
};

use ring::rand::{SecureRandom, SystemRandom};

/// The SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

/// The text is not the SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the SHA-256 of a token, which has 64 hexadecimal digits: `longhaul edge token` and `longhaul speed token` make both"
)]
pub struct NoHash;

impl TokenHash {
    /// Hashes a token.
    pub fn of(token: &[u8]) -> Self {
        Self(digest(token))
    }
}

/// In the format of `sha256sum`.
impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl FromStr for TokenHash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NoHash);
        }
        let mut hash = [0; 32];
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = str::from_utf8(digits).map_err(|_| NoHash)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NoHash)?;
        }
        Ok(Self(hash))
    }
}

/// Creates a token: 192 random bits in hexadecimal.
///
/// # Errors
/// The system provides no random numbers.
pub fn make() -> io::Result<String> {
    let mut bytes = [0; 24];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(hexadecimal(&bytes))
}

/// Returns the token in an Authorization field with the scheme Bearer (RFC 6750); `None` for other
/// schemes.
pub fn bearer(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = authorization.split_at_checked(BEARER.len())?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| token.trim_ascii())
}

/// Formats bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Computes SHA-256. Comparing digests does not leak by its timing how much of a token was correct.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let mut hash = [0; 32];
    hash.copy_from_slice(digest.as_ref());
    hash
}

const BEARER: &[u8] = b"Bearer ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_64_digits() {
        // From `printf root | sha256sum`.
        let text = "4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2";
        assert_eq!(text.parse(), Ok(TokenHash::of(b"root")));
        assert_eq!(TokenHash::of(b"root").to_string(), text);
        assert_eq!(text[1..].parse::<TokenHash>(), Err(NoHash));
        assert_eq!(text.replace('4', "+").parse::<TokenHash>(), Err(NoHash));
    }

    #[test]
    fn tokens_differ_and_are_found_in_their_field() {
        let (one, other) = (make().unwrap(), make().unwrap());
        assert_eq!((one.len(), other.len()), (48, 48));
        assert_ne!(one, other);
        assert_eq!(bearer(format!("bearer  {one} ").as_bytes()), Some(one.as_bytes()));
        assert_eq!((bearer(b"Basic a"), bearer(b"Bear")), (None, None));
    }
}
