//! Reads the output of `curl -w '%{json}'`: an object for each transfer, with timestamps in seconds
//! since its start.
//!
//! A timestamp of 0 was never set. `time_queue` (from 8.12) is subtracted from the name lookup;
//! without `time_posttransfer` (from 8.10) sending is a part of `wait`. After redirects (`-L`) curl
//! adds up timestamps (`progress.total` in its `lib/progress.c`), so only the total remains.

use std::net::IpAddr;

use serde::Deserialize;

use super::{
    Frame, Input, Options,
    json::{self, Loose, Seconds, Text, between, host, label, status},
};
use crate::{Error, Event, Sample, Sink, error::counted};

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut sample = Sample::default();
    let (mut number, mut redirected) = (0, 0);
    let cut = json::each_object(input, EXPECTED, |transfer: Transfer| {
        number += 1;
        redirected += u64::from(transfer.is_redirected());
        transfer.fill(&mut sample);
        transfer.label(&mut sample, options);
        sink.event(&Event { number, sample: &sample, exact: &[] })
    })?;
    let mut warnings = Vec::new();
    if redirected > 0 {
        warnings.push(format!(
            "{} of {} followed redirects: curl adds up the phases of all requests of a chain, so only the total is \
             taken.",
            redirected,
            counted(number, "transfer")
        ));
    }
    warnings.extend(cut);
    Ok(Frame { warnings, ..Frame::default() })
}

#[derive(Deserialize)]
struct Transfer {
    time_queue: Option<Seconds>,
    time_namelookup: Option<Seconds>,
    time_connect: Option<Seconds>,
    time_appconnect: Option<Seconds>,
    time_pretransfer: Option<Seconds>,
    time_posttransfer: Option<Seconds>,
    time_starttransfer: Option<Seconds>,
    time_total: Option<Seconds>,
    num_redirects: Option<i64>,
    num_connects: Option<i64>,
    exitcode: Option<i64>,
    errormsg: Option<Text>,
    http_code: Option<i64>,
    response_code: Option<i64>,
    size_download: Option<f64>,
    #[serde(default)]
    http_version: Loose,
    #[serde(default)]
    method: Loose,
    #[serde(default)]
    remote_ip: Loose,
    #[serde(default)]
    scheme: Loose,
    #[serde(default)]
    url: Loose,
    #[serde(default)]
    url_effective: Loose,
}

impl Transfer {
    fn is_redirected(&self) -> bool {
        self.num_redirects.is_some_and(|redirects| redirects > 0)
    }

    fn url(&self) -> Option<&str> {
        self.url_effective.text().or(self.url.text())
    }

    fn fill(&self, sample: &mut Sample) {
        let labels = std::mem::take(&mut sample.labels);
        *sample = Sample {
            last_byte_ns: stamp(self.time_total),
            status: status(self.response_code.or(self.http_code)),
            error: self.failure(),
            labels,
            ..Sample::default()
        };
        sample.body_bytes = self.size_download.filter(|_| sample.error.is_none()).map(bytes);
        if self.is_redirected() {
            return;
        }
        sample.reused = self.num_connects.filter(|_| sample.error.is_none()).map(|connects| connects == 0);
        if sample.reused != Some(true) {
            self.fill_connection(sample);
        }
        let (before, sent) = (stamp(self.time_pretransfer), stamp(self.time_posttransfer));
        let first_byte = stamp(self.time_starttransfer);
        sample.send_ns = between(before, sent);
        sample.wait_ns = between(sent.or(before), first_byte);
        sample.load_ns = between(first_byte, sample.last_byte_ns);
        // The stamp includes curl's own queue, the phases do not.
        sample.ttfb_ns = first_byte.filter(|_| sample.wait_ns.is_none());
    }

    fn fill_connection(&self, sample: &mut Sample) {
        let queued = self.time_queue.map_or(0, |Seconds(nanos)| nanos);
        let (named, connected) = (stamp(self.time_namelookup), stamp(self.time_connect));
        let secured = stamp(self.time_appconnect);
        // curl also sets the stamp for an address, without a lookup.
        sample.dns_ns = between(Some(queued), named).filter(|_| !self.is_address());
        let started = Some(named.unwrap_or(queued));
        if self.http_version.text().is_some_and(|version| version.starts_with('3')) {
            sample.quic_ns = between(started, secured);
        } else {
            sample.connect_ns = between(started, connected);
            sample.tls_ns = connected.and(between(connected, secured));
        }
    }

    fn is_address(&self) -> bool {
        let Some(host) = self.url().and_then(host) else { return false };
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or(rest),
            None => host.split(':').next().unwrap_or(host),
        };
        name.parse::<IpAddr>().is_ok()
    }

    /// curl before 7.75 does not report a reason.
    fn failure(&self) -> Option<String> {
        let message =
            self.errormsg.as_ref().map(|Text(message)| message).filter(|message| !message.is_empty());
        match self.exitcode {
            Some(0) => None,
            Some(code) => Some(message.map_or_else(|| format!("exit code {code}"), String::clone)),
            None => (self.response_code.or(self.http_code) == Some(0)).then(|| "no response".to_owned()),
        }
    }

    fn label(&self, sample: &mut Sample, options: &Options) {
        let protocol = self.http_version.text().filter(|&version| version != "0");
        let protocol = protocol.map(|version| format!("HTTP/{version}"));
        let redirects = self.num_redirects.map(|redirects| redirects.to_string());
        for (name, value) in [
            ("url", self.url()),
            ("host", self.url().and_then(host)),
            ("method", self.method.text()),
            ("protocol", protocol.as_deref()),
            ("scheme", self.scheme.text()),
            ("remote_ip", self.remote_ip.text()),
            ("redirects", redirects.as_deref()),
        ] {
            label(sample, &options.labels, name, value);
        }
    }
}

/// `None` if the stamp was not set.
fn stamp(time: Option<Seconds>) -> Option<u64> {
    time.map(|Seconds(nanos)| nanos).filter(|&nanos| nanos > 0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturating; no file is that large"
)]
fn bytes(size: f64) -> u64 {
    size as u64
}

const EXPECTED: &str = "what curl -w '%{json}\\n' writes, one object a transfer";

#[cfg(test)]
mod tests;
