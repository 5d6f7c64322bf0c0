//! Detects the kind of an access log by its first lines.

use super::{AccessFormat, elb, fastly, haproxy};

type IsLine = fn(&[u8]) -> bool;

/// Of a file that is not JSON.
pub(in crate::read) fn detect(head: &[u8]) -> Option<AccessFormat> {
    if head.starts_with(b"#") {
        return w3c(head);
    }
    let formats: [(IsLine, AccessFormat); 4] = [
        (is_elb, AccessFormat::Elb),
        (is_traefik, AccessFormat::Traefik),
        (is_envoy, AccessFormat::EnvoyDefault),
        (haproxy::is_line, AccessFormat::Haproxy),
    ];
    let lines = || head.split(|&byte| byte == b'\n').take(LOOKED_AT);
    formats.into_iter().find_map(|(is, format)| lines().any(is).then_some(format))
}

/// Of a file that begins with an object. `has` is whether a key is in it.
pub(in crate::read) fn detect_json(has: impl Fn(&str) -> bool) -> Option<AccessFormat> {
    let all = |keys: &[&str]| keys.iter().all(|key| has(key));
    let any = |keys: &[&str]| keys.iter().any(|key| has(key));
    let is_fastly = fastly::DURATIONS.iter().any(|(key, ..)| has(key))
        && any(&[
            "fastly_is_edge",
            "fastly_server",
            "fastly_info_state",
            "cache_status",
            "response_state",
            "is_tls",
            "is_edge",
        ]);
    [
        (has("request_time"), AccessFormat::NginxJson),
        (all(&["DownstreamStatus", "Duration"]), AccessFormat::TraefikJson),
        (all(&["response_code", "duration"]), AccessFormat::EnvoyJson),
        (has("EdgeStartTimestamp"), AccessFormat::Cloudflare),
        (is_fastly, AccessFormat::Fastly),
        // Its first lines may be unrelated messages.
        (all(&["duration", "request", "status"]), AccessFormat::Caddy),
    ]
    .into_iter()
    .find_map(|(is, format)| is.then_some(format))
}

/// A log that is recognised but not readable, with the next step.
pub(in crate::read) fn refused(head: &[u8]) -> Option<&'static str> {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has = |text: &[u8]| memchr::memmem::find(line, text).is_some();
    if line.starts_with(b"tls ") && has(b" net/") {
        return Some(
            "this is a log of a Network Load Balancer, which has connections and no requests (use the log of the target)",
        );
    }
    if head.starts_with(b"#") && memchr::memmem::find(head, b"#Fields:").is_some() {
        return Some(
            "this is a W3C extended log of an unknown server (give it a header row and units as CSV)",
        );
    }
    None
}

fn w3c(head: &[u8]) -> Option<AccessFormat> {
    let fields = head.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"#Fields:"))?;
    let has = |text: &[u8]| memchr::memmem::find(fields, text).is_some();
    let is_iis =
        memchr::memmem::find(head, b"Internet Information Services").is_some() || has(b"sc-win32-status");
    match () {
        () if has(b"x-edge-location") => Some(AccessFormat::CloudFront),
        () if is_iis => Some(AccessFormat::Iis),
        () => None,
    }
}

/// "http 2018-07-02T22:23:00.186641Z app/...", or the same without the type and with a name of a
/// Classic Load Balancer.
fn is_elb(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ');
    let mut word = || words.next().unwrap_or_default();
    let (first, second, third) = (word(), word(), word());
    let is_time = |text: &[u8]| {
        text.len() >= 20 && text[10] == b'T' && text.ends_with(b"Z") && text[0].is_ascii_digit()
    };
    let is_application = elb::TYPES.contains(&first) && is_time(second) && third.starts_with(b"app/");
    // Three times, two statuses, two numbers of bytes.
    let is_number = |text: &[u8]| {
        !text.is_empty() && text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
    };
    let is_classic = is_time(first) && {
        let (_, times) = (word(), [word(), word(), word()]);
        times.into_iter().all(is_number)
    };
    is_application || is_classic
}

/// A number, two names in quotes, and milliseconds.
fn is_traefik(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some(rest) = line.strip_suffix(b"ms") else { return false };
    let mut words = rest.rsplit(|&byte| byte == b' ');
    let mut word = || words.next().unwrap_or_default();
    let (duration, server, router, requests) = (word(), word(), word(), word());
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_quoted = |text: &[u8]| text.len() > 2 && text.starts_with(b"\"") && text.ends_with(b"\"");
    is_number(duration) && is_quoted(server) && is_quoted(router) && (is_number(requests) || requests == b"-")
}

/// "[2016-04-15T20:17:00.310Z] \"".
fn is_envoy(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"[") else { return false };
    rest.len() > 26 && rest[10] == b'T' && rest[23] == b'Z' && rest[24..].starts_with(b"] \"")
}

/// Programs write messages before the first request.
const LOOKED_AT: usize = 100;
