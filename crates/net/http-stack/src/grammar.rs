//! Parts of the grammar of header fields (RFC 9110 section 5.6).

/// Parses digits only: `u64::from_str` also accepts a plus sign.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// A character of a token (RFC 9110 section 5.6.2).
pub(crate) fn is_token_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
