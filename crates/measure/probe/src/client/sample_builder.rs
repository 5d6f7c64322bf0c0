//! Converts results of requests to samples. The sample is reused: unchanged parts are not written
//! again.

use std::net::SocketAddr;

use http_stack::HeaderName;
use recording::Sample;

use super::{
    failure::Failure,
    measured::{Measured, Names},
};
use crate::Family;

#[derive(Debug, Default)]
pub(crate) struct SampleBuilder {
    sample: Sample,
    remote: Option<SocketAddr>,
    local: Option<SocketAddr>,
    names: Names,
    recorded: Vec<HeaderName>,
}

impl SampleBuilder {
    pub(crate) fn sample(&mut self, measured: Measured) -> &Sample {
        self.set_addresses(&measured);
        self.set_labels(&measured);
        let Measured { phases, stamps, head, wire_bytes, .. } = measured;
        let (cache, tier) = head.told.map(|told| (told.cache.to_owned(), told.tier)).unzip();
        let own = std::mem::take(&mut self.sample);
        self.sample = Sample {
            intended_ns: measured.intended,
            started_ns: measured.started,
            dns_ns: phases.dns,
            connect_ns: phases.connect,
            tls_ns: phases.tls,
            quic_ns: phases.quic,
            send_ns: phases.send,
            wait_ns: phases.wait,
            load_ns: phases.load,
            first_interim_ns: stamps.first_interim,
            final_headers_ns: stamps.final_headers,
            first_body_byte_ns: stamps.first_body_byte,
            last_byte_ns: stamps.last_byte,
            status: head.status.map(|status| status.as_u16()),
            body_bytes: measured.body_bytes,
            wire_sent_bytes: wire_bytes.map(|wire| wire.sent),
            wire_received_bytes: wire_bytes.map(|wire| wire.received),
            cache,
            tier,
            server_timing: head.server_timing,
            reused: measured.reused,
            fallback: measured.fallback,
            chain: measured.chain,
            page: measured.page,
            error: measured.failure.map(|failure| failure.to_string()),
            ..own
        };
        &self.sample
    }

    fn set_addresses(&mut self, measured: &Measured) {
        let (sample, remote, local) = (&mut self.sample, measured.remote, measured.local);
        if self.remote != remote {
            sample.remote = remote.map(|remote| remote.to_string());
            sample.family = remote.map(|remote| Family::of(remote.ip()).name().to_owned());
            self.remote = remote;
        }
        if self.local != local {
            sample.local = local.map(|local| local.to_string());
            self.local = local;
        }
    }

    fn set_labels(&mut self, measured: &Measured) {
        let labels = &mut self.sample.labels;
        if self.names != measured.names {
            self.names = measured.names;
            labels.clear();
            labels.extend(self.names.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        let location = measured.head.location.as_ref();
        let location = location.filter(|_| measured.failure == Some(Failure::Location));
        let own = [
            ("object", measured.object.map(|number| number.to_string())),
            ("url", measured.url.clone()),
            ("location", location.cloned()),
        ];
        for (name, value) in own {
            match value {
                Some(value) => drop(labels.insert(name.to_owned(), value)),
                None => drop(labels.remove(name)),
            }
        }
        for name in self.recorded.drain(..) {
            labels.remove(name.as_str());
        }
        for (name, value) in &measured.head.recorded {
            labels.insert(name.to_string(), value.clone());
            self.recorded.push(name.clone());
        }
    }
}

impl From<Measured> for Sample {
    fn from(measured: Measured) -> Self {
        let mut scribe = SampleBuilder::default();
        scribe.sample(measured);
        scribe.sample
    }
}

#[cfg(test)]
mod tests {
    use http_stack::{StatusCode, client::Trace};

    use super::{super::head::Head, *};

    #[test]
    fn nothing_is_left_of_the_sample_before() {
        let trace = |protocol, port: Option<u16>| {
            let mut trace = Trace::start(7);
            trace.protocol = protocol;
            trace.remote = port.map(|port| ([127, 0, 0, 1], port).into());
            trace.local = port.map(|port| ([127, 0, 0, 2], port).into());
            trace
        };
        let head = |recorded| Head {
            status: Some(StatusCode::OK),
            server_timing: Some("a;dur=1".to_owned()),
            recorded,
            ..Head::default()
        };
        let etag = || vec![(HeaderName::from_static("etag"), "\"1\"".to_owned())];
        let make = [
            || Measured::unsent(5),
            || Measured { object: Some(3), page: Some(1), ..Measured::default() },
            || {
                let head = Head { location: Some("mailto:x".to_owned()), ..Head::default() };
                let (url, failure) = (Some("http://a/".to_owned()), Some(Failure::Location));
                Measured { url, failure, head, ..Measured::default() }
            },
        ];
        let traces = [trace(Some("h2"), Some(1)), trace(Some("h2"), Some(2)), trace(None, None)];
        let all = || {
            let of_traces = traces.iter().zip([vec![], etag(), vec![]]);
            let of_traces = of_traces.map(|(trace, recorded)| Measured::of(trace, head(recorded), None));
            make.iter().map(|make| make()).chain(of_traces)
        };
        let count = all().count();
        let mut scribe = SampleBuilder::default();
        for (first, second) in (0..count).flat_map(|first| (0..count).map(move |second| (first, second))) {
            scribe.sample(all().nth(first).unwrap());
            let alone = Sample::from(all().nth(second).unwrap());
            assert_eq!(*scribe.sample(all().nth(second).unwrap()), alone, "{first} then {second}");
        }
    }
}
