//! Lines in the combined log format of Apache and nginx.

use std::{io::Write as _, net::SocketAddr};

use http_stack::{Method, Version, clock};

use crate::util::format::canonical;

/// `"GET /path HTTP/1.1" 200`.
pub(super) fn request_line(method: &Method, version: Version, url: &str, status: Option<u16>) -> Vec<u8> {
    let mut text = Vec::with_capacity(128);
    text.push(b'"');
    escape(method.as_str().as_bytes(), &mut text);
    text.push(b' ');
    escape(target(url).as_bytes(), &mut text);
    let _ = write!(text, " {version:?}\" ");
    match status {
        Some(status) => drop(write!(text, "{status}")),
        // nginx's status for a client that closed the connection before the response.
        None => text.extend_from_slice(b"499"),
    }
    text
}

/// `"https://referer.example/" "Mozilla/5.0 ..."`, from the header fields of a request.
pub(super) fn client_fields<'f>(fields: impl Iterator<Item = (&'f str, &'f [u8])>) -> Box<[u8]> {
    let (mut referer, mut user_agent) = (None, None);
    for (name, value) in fields {
        if name.eq_ignore_ascii_case("referer") {
            referer = referer.or(Some(value));
        } else if name.eq_ignore_ascii_case("user-agent") {
            user_agent = user_agent.or(Some(value));
        }
    }
    let mut text = Vec::with_capacity(128);
    for (separator, value) in [(&b"\""[..], referer), (b"\" \"", user_agent)] {
        text.extend_from_slice(separator);
        match value {
            Some(value) => escape(&value[..value.len().min(MAX_FIELD_BYTES)], &mut text),
            None => text.push(b'-'),
        }
    }
    text.push(b'"');
    text.into()
}

/// `age_ns` is the time since the request began.
pub(super) fn write(
    remote: Option<SocketAddr>,
    (age_ns, body_bytes): (u64, u64),
    (request_line, client_fields): (&[u8], &[u8]),
    to: &mut Vec<u8>,
) {
    match remote.map(canonical) {
        Some(remote) => drop(write!(to, "{}", remote.ip())),
        None => to.push(b'-'),
    }
    let received = clock::wall_ns().saturating_sub(i64::try_from(age_ns).unwrap_or(0)) / 1_000_000_000;
    to.extend_from_slice(b" - - [");
    write_time(received, to);
    to.extend_from_slice(b"] ");
    to.extend_from_slice(request_line);
    let _ = write!(to, " {body_bytes} ");
    to.extend_from_slice(client_fields);
    to.push(b'\n');
}

/// `29/Nov/2026:15:04:05 +0000`.
fn write_time(seconds: i64, to: &mut Vec<u8>) {
    let since_epoch = std::time::Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let text = clock::rfc3339(since_epoch);
    let (date, time) = text.split_once('T').unwrap_or_default();
    let mut parts = date.split('-');
    let year = parts.next().unwrap_or_default();
    let month = parts.next().and_then(|month| month.parse::<usize>().ok()).unwrap_or(1);
    let day = parts.next().unwrap_or_default();
    let month = MONTHS.get(month.wrapping_sub(1)).unwrap_or(&"Jan");
    let _ = write!(to, "{day}/{month}/{year}:{} +0000", &time[..time.len().min(8)]);
}

/// As nginx does: quotes, backslashes, control characters and bytes beyond ASCII as `\xHH`.
fn escape(text: &[u8], to: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => drop(write!(to, "\\x{byte:02X}")),
            _ => to.push(byte),
        }
    }
}

/// The path and query of an absolute URL.
fn target(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("/", |at| &rest[at..])
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Fields may be as long as a whole header.
const MAX_FIELD_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combined_lines_cannot_be_forged() {
        let fields = [("Referer", &b"a\"b\\c\nd\x7f\xff"[..]), ("USER-AGENT", b"curl/8"), ("referer", b"x")];
        let fields = client_fields(fields.into_iter());
        assert_eq!(str::from_utf8(&fields).unwrap(), r#""a\x22b\x5Cc\x0Ad\x7F\xFF" "curl/8""#);
        assert_eq!(&*client_fields(std::iter::empty()), br#""-" "-""#);
        let line = request_line(&Method::GET, Version::HTTP_2, "https://a.example/b?\"c", Some(200));
        assert_eq!(str::from_utf8(&line).unwrap(), r#""GET /b?\x22c HTTP/2.0" 200"#);
        let none = request_line(&Method::HEAD, Version::HTTP_11, "https://a.example", None);
        assert_eq!(str::from_utf8(&none).unwrap(), r#""HEAD / HTTP/1.1" 499"#);
    }

    #[test]
    fn times_have_the_form_of_apache() {
        for (seconds, expected) in
            [(0, "01/Jan/1970:00:00:00 +0000"), (1_795_964_645, "29/Nov/2026:15:04:05 +0000")]
        {
            let mut text = Vec::new();
            write_time(seconds, &mut text);
            assert_eq!(str::from_utf8(&text).unwrap(), expected);
        }
    }
}
