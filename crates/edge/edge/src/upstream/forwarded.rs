//! The Forwarded field (RFC 7239): the element that this data centre appends, and the check whether
//! it may be appended.

pub(crate) fn element<'p>(
    address: &'p str,
    is_ipv6: bool,
    proto: &'p str,
    host: Option<&'p str>,
) -> [&'p str; 9] {
    let (before, after) = if is_ipv6 { ("\"[", "]\"") } else { ("", "") };
    let (begin, host, end) = host.map_or(("", "", ""), |host| (";host=\"", host, "\""));
    ["for=", before, address, after, ";proto=", proto, begin, host, end]
}

/// RFC 7239 section 4. An element appended to a malformed line could become part of a quoted string
/// that the client did not close.
pub(crate) fn is_list(line: &[u8]) -> bool {
    let mut rest = line.trim_ascii_start();
    loop {
        let name = rest.iter().take_while(|byte| is_in_token(**byte)).count();
        if name > 0 {
            let Some(value) = rest[name..].strip_prefix(b"=") else { return false };
            let Some(length) = value_length(value) else { return false };
            rest = value[length..].trim_ascii_start();
        }
        rest = match rest.split_first() {
            None => return true,
            Some((b',' | b';', after)) => after.trim_ascii_start(),
            Some(_) => return false,
        };
    }
}

/// `None` for an unterminated string. Addresses are accepted without the quotes that colons and
/// brackets require.
fn value_length(value: &[u8]) -> Option<usize> {
    let Some(quoted) = value.strip_prefix(b"\"") else {
        let is_in_value = |byte: u8| is_in_token(byte) || b":[]".contains(&byte);
        return Some(value.iter().take_while(|byte| is_in_value(**byte)).count());
    };
    let mut is_escaped = false;
    let end = quoted.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map(|end| end + 2)
}

/// RFC 9110 section 5.6.2.
fn is_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_has_closed_strings_only() {
        for (line, expected) in [
            ("", true),
            ("for=192.0.2.43", true),
            ("for=192.0.2.43, for=198.51.100.17;by=203.0.113.60;proto=http;host=example.com", true),
            ("For=\"[2001:db8:cafe::17]:4711\"", true),
            ("for=[2001:db8::1]:80", true),
            ("for=\"_gazonk\" , ,for=unknown;", true),
            ("for=\"a\\\"b,c\", for=d", true),
            ("for=\"x", false),
            ("for=\"x\\\"", false),
            ("for=x\"", false),
            ("for=a b", false),
            ("for", false),
            ("=a", false),
            ("for=\"a\"b", false),
            ("for=a, \"", false),
        ] {
            assert_eq!(is_list(line.as_bytes()), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_list_that_is_continued_is_a_list(line in "[a=\";,\\\\ :]{0,12}") {
            let appended = format!("{line}, for=192.0.2.1;proto=http");
            prop_assert_eq!(is_list(line.as_bytes()), is_list(appended.as_bytes()), "{}", line);
        }
    }
}
