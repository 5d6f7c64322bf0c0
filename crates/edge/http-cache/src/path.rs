//! The normal form of a URL's path, and alternative readings by origins.
//!
//! The normal form follows RFC 3986 section 6.2.2, with encoded non-ASCII bytes. Repeated slashes
//! are kept, because some origins treat them as distinct resources.

use std::borrow::Cow;

/// The normal form of a path that begins with `/`. It is idempotent and at most three times as
/// long.
pub fn normal(path: &str) -> Cow<'_, str> {
    if is_normal(path.as_bytes()) {
        return Cow::Borrowed(path);
    }
    let encoded = normal_encoding(path);
    match without_dot_segments(&encoded) {
        Some(path) => Cow::Owned(path),
        None => Cow::Owned(encoded.into_owned()),
    }
}

/// Normalises the percent-encodings of a query or a part of a path.
pub fn normal_encoding(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if bytes.iter().all(|byte| byte.is_ascii() && *byte != b'%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for &byte in bytes {
        if !byte.is_ascii() {
            push_encoded(&mut out, byte);
            continue;
        }
        out.push(char::from(byte));
        // A decoded character may complete another encoding, as in `%4%31`.
        while let Some(start) = out.len().checked_sub(ENCODED)
            && let Some(decoded) = encoded_byte(out.as_bytes(), start)
        {
            out.truncate(start);
            if !is_unreserved(decoded) {
                push_encoded(&mut out, decoded);
                break;
            }
            out.push(char::from(decoded));
        }
    }
    Cow::Owned(out)
}

/// Merges repeated slashes.
pub fn merged(path: &str) -> Cow<'_, str> {
    if !path.contains("//") {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter != '/' || !out.ends_with('/') {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// Other paths that an origin may serve for a normal path. Empty for most paths.
pub fn readings(path: &str) -> Vec<String> {
    if !may_be_read_otherwise(path.as_bytes()) {
        return Vec::new();
    }
    let mut readings = Vec::new();
    let mut add = |reading: String| {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    };
    let mut decoded = path.to_owned();
    for _ in 0..DECODINGS {
        for cut in [&decoded[..], without_rest(&decoded)] {
            for text in [cut.to_owned(), without_parameters(cut)] {
                for text in [with_plain_dots(&text), text] {
                    // Origins differ in the order of these two steps.
                    add(merged(&resolved(&text)).into_owned());
                    add(resolved(&merged(&text)));
                }
            }
        }
        let next = with_decoded_separators(&decoded);
        if next == decoded {
            break;
        }
        decoded = next;
    }
    readings.retain(|reading| *reading != merged(path));
    readings
}

/// Decodes a query or form field, with `+` as a space.
pub fn decoded_field(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let encoded = encoded_byte(bytes, at);
        out.push(encoded.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        at += if encoded.is_some() { ENCODED } else { 1 };
    }
    Cow::Owned(out)
}

fn is_normal(path: &[u8]) -> bool {
    let mut before = 0;
    for (at, &byte) in path.iter().enumerate() {
        let is_suspect = match byte {
            b'%' => true,
            b'.' => before == b'/' && is_dot_segment(segment(path, at)),
            byte => !byte.is_ascii(),
        };
        if is_suspect && !is_normal_encoding(path, at) {
            return false;
        }
        before = byte;
    }
    true
}

fn is_normal_encoding(path: &[u8], at: usize) -> bool {
    if path[at] != b'%' {
        return false;
    }
    match encoded_byte(path, at) {
        None => true,
        Some(byte) => !is_unreserved(byte) && !path[at + 1..at + ENCODED].iter().any(u8::is_ascii_lowercase),
    }
}

fn segment(path: &[u8], at: usize) -> &[u8] {
    path[at..].split(|&byte| byte == b'/').next().unwrap_or_default()
}

fn is_dot_segment(segment: &[u8]) -> bool {
    matches!(segment, b"." | b"..")
}

pub(crate) fn without_dot_segments(path: &str) -> Option<String> {
    if !path.split('/').any(|segment| is_dot_segment(segment.as_bytes())) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    Some(format!("/{}", kept.join("/")))
}

fn may_be_read_otherwise(path: &[u8]) -> bool {
    path.iter().enumerate().any(|(at, byte)| match byte {
        b'\\' | b';' => true,
        b'%' => {
            encoded_byte(path, at)
                .is_some_and(|byte| matches!(byte, b'/' | b'\\' | b'%' | b';') || is_end(byte))
                || overlong(path, at).is_some()
        }
        b'.' => at > 0 && path[at - 1] == b'/' && is_blank_dots(segment(path, at)),
        _ => false,
    })
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\0' | b'\n' | b'\r' | b'?' | b'#')
}

fn resolved(path: &str) -> String {
    without_dot_segments(path).unwrap_or_else(|| path.to_owned())
}

/// `%25` may begin another encoding. Overlong UTF-8 becomes the percent-encoded character.
fn with_decoded_separators(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find(['%', '\\']) {
        out.push_str(&rest[..at]);
        if let Some((byte, length)) = overlong(rest.as_bytes(), at) {
            push_encoded(&mut out, byte);
            rest = &rest[at + length..];
            continue;
        }
        let (read, length) = match encoded_byte(rest.as_bytes(), at) {
            Some(b'/' | b'\\') => ('/', ENCODED),
            Some(b';') => (';', ENCODED),
            Some(b'%') => ('%', ENCODED),
            _ if rest[at..].starts_with('\\') => ('/', 1),
            _ => ('%', 1),
        };
        out.push(read);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    normal_encoding(&out).into_owned()
}

/// As servlet containers do with everything after `;` in a segment.
fn without_parameters(path: &str) -> String {
    let bare: Vec<_> = path.split('/').map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    bare.join("/")
}

/// Windows removes trailing blanks of names.
fn with_plain_dots(path: &str) -> String {
    let plain = |segment| if is_blank_dots(str::as_bytes(segment)) { ".." } else { segment };
    path.split('/').map(plain).collect::<Vec<_>>().join("/")
}

fn is_blank_dots(segment: &[u8]) -> bool {
    let dots = segment.iter().take_while(|byte| **byte == b'.').count();
    let blanks = &segment[dots..];
    dots > 0 && !blanks.is_empty() && blanks.chunks(ENCODED).all(|blank| matches!(blank, b"%20" | b"%09"))
}

/// As overlong UTF-8, or as `%u` (IIS), with the length of the encoding.
fn overlong(path: &[u8], at: usize) -> Option<(u8, usize)> {
    if let [b'%', b'u' | b'U', digits @ ..] = path.get(at..at + "%u002e".len())? {
        let code =
            std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, 16).ok())?;
        return u8::try_from(code).ok().filter(u8::is_ascii).map(|byte| (byte, "%u002e".len()));
    }
    let first = encoded_byte(path, at)?;
    // Only these lengths can encode ASCII (RFC 3629 section 3).
    let length = match first {
        0xc0 | 0xc1 => 2,
        0xe0 => 3,
        0xf0 => 4,
        _ => return None,
    };
    let mut code = u32::from(first & 0x01);
    for place in 1..length {
        let next = encoded_byte(path, at + place * ENCODED).filter(|next| next & 0xc0 == 0x80)?;
        code = code << 6 | u32::from(next & 0x3f);
    }
    u8::try_from(code).ok().filter(u8::is_ascii).map(|byte| (byte, length * ENCODED))
}

fn without_rest(path: &str) -> &str {
    let ends = |(at, _): &(usize, &str)| encoded_byte(path.as_bytes(), *at).is_some_and(is_end);
    let end = path.match_indices('%').find(ends).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

fn encoded_byte(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = *bytes.get(at..at + ENCODED)? else { return None };
    let digit = |letter: u8| char::from(letter).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

fn push_encoded(out: &mut String, byte: u8) {
    out.push('%');
    for digit in [byte >> 4, byte & 15] {
        out.push(char::from(HEX[usize::from(digit)]));
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";
const ENCODED: usize = "%41".len();
const DECODINGS: usize = 4;

#[cfg(test)]
mod tests;
