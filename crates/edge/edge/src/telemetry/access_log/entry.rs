//! A line of the access log: a sample of a native recording from the server's side.

use std::{io::Write as _, net::SocketAddr, sync::Arc};

use http_stack::{Method, Version, server::Delivery};

use super::{RequestOutcome, combined, upstream_timing::PhaseTimes};
use crate::util::format::canonical;

/// Times are nanoseconds since the log began.
#[derive(Debug, Clone)]
pub(crate) struct LogEntry {
    pub(crate) began: u64,
    pub(crate) answered: u64,
    pub(crate) upstream_times: Option<PhaseTimes>,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) suffix: Arc<[u8]>,
    /// Only in the combined format: Referer and User-Agent. The suffix is then the request line.
    pub(crate) client_fields: Option<Box<[u8]>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Completion {
    Sent { delivery: Delivery, at: u64 },
    Aborted,
}

impl Completion {
    pub(super) fn is_failure(self) -> bool {
        !matches!(self, Self::Sent { delivery: Delivery { is_whole: true, .. }, .. })
    }
}

impl LogEntry {
    /// `now` is in nanoseconds since the log began.
    pub(super) fn write(&self, ending: &Completion, now: u64, to: &mut Vec<u8>) {
        let Some(client_fields) = &self.client_fields else { return self.write_sample(ending, to) };
        let body_bytes = match ending {
            Completion::Sent { delivery, .. } => delivery.body_bytes,
            Completion::Aborted => 0,
        };
        let age = now.saturating_sub(self.began);
        combined::write(self.remote, (age, body_bytes), (&self.suffix, client_fields), to);
    }

    fn write_sample(&self, ending: &Completion, to: &mut Vec<u8>) {
        let wait = self.answered.saturating_sub(self.began);
        let _ = write!(to, "{{\"started_ns\":{}", self.began);
        match self.upstream_times {
            Some(times) => times.write(wait, to),
            None => drop(write!(to, ",\"wait_ns\":{wait}")),
        }
        match ending {
            Completion::Sent { delivery, at } => {
                let Delivery { is_whole, body_bytes, bytes } = delivery;
                let _ = write!(to, ",\"final_headers_ns\":{wait}");
                if *is_whole && *body_bytes > 0 {
                    let _ = write!(to, ",\"load_ns\":{}", at.saturating_sub(self.answered));
                }
                if *is_whole {
                    let _ = write!(to, ",\"last_byte_ns\":{}", at.saturating_sub(self.began));
                } else {
                    to.extend_from_slice(b",\"error\":\"broke off\"");
                }
                let _ = write!(to, ",\"body_bytes\":{body_bytes}");
                if let Some(bytes) = bytes {
                    let _ = write!(to, ",\"bytes_out\":{bytes}");
                }
            }
            Completion::Aborted => to.extend_from_slice(b",\"error\":\"the client left\""),
        }
        if let Some(remote) = self.remote.map(canonical) {
            let _ = write!(to, ",\"remote\":\"{remote}\"");
        }
        to.extend_from_slice(&self.suffix);
    }
}

pub(super) fn suffix(
    (method, version, url): (&Method, Version, &str),
    status: Option<u16>,
    outcome: Option<&RequestOutcome>,
    tier: Option<&str>,
) -> Arc<[u8]> {
    let mut text = Vec::with_capacity(256);
    if let Some(status) = status {
        let _ = write!(text, ",\"status\":{status}");
    }
    let zone = outcome.and_then(|outcome| outcome.zone.as_deref());
    let cache = outcome.map(|outcome| outcome.result.name());
    for (name, value) in [("cache", cache), ("tier", tier), ("zone", zone)] {
        if let Some(value) = value {
            put(&mut text, &format!(",\"{name}\":"), value);
        }
    }
    put(&mut text, ",\"labels\":{\"method\":", method.as_str());
    put(&mut text, ",\"protocol\":", protocol(version));
    put(&mut text, ",\"url\":", truncate_url(url));
    text.extend_from_slice(b"}}\n");
    text.into()
}

fn put(text: &mut Vec<u8>, name: &str, value: &str) {
    text.extend_from_slice(name.as_bytes());
    let _ = serde_json::to_writer(text, value);
}

fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "h2",
        Version::HTTP_3 => "h3",
        Version::HTTP_10 => "http/1.0",
        _ => "http/1.1",
    }
}

/// URLs may be as long as a whole header.
fn truncate_url(url: &str) -> &str {
    let end = (0..=MAX_URL_BYTES.min(url.len())).rev().find(|&end| url.is_char_boundary(end));
    &url[..end.unwrap_or(0)]
}

const MAX_URL_BYTES: usize = 2048;
