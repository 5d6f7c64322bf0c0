//! Metrics of client requests per zone, and of TLS handshakes.

use http_stack::server::{HandshakeCounts, TlsHandshakes};

use super::Page;
use crate::telemetry::{histogram::DurationCounts, traffic::TrafficMetrics};

impl Page<'_> {
    pub(super) fn traffic(&mut self, traffic: &TrafficMetrics, handshakes: &TlsHandshakes) {
        let zones = traffic.report();
        self.family(
            "zone_requests_total",
            "counter",
            "Client requests by zone, method, status class and cache result.",
        );
        for zone in &zones {
            for (method, status, cache, number) in &zone.requests {
                let labels = [("zone", zone.name), ("method", method), ("status", status), ("cache", cache)];
                self.value("zone_requests_total", &labels, number);
            }
        }
        self.family("zone_response_body_bytes_total", "counter", "Bytes of response bodies sent to clients.");
        for zone in &zones {
            self.value("zone_response_body_bytes_total", &[("zone", zone.name)], zone.body_bytes);
        }
        let name = "zone_response_duration_seconds";
        self.family(
            name,
            "histogram",
            "Time from the header of a client request to the header of its response.",
        );
        for zone in &zones {
            for (cache, counts) in &zone.durations {
                self.histogram(name, &[("zone", zone.name), ("cache", cache)], counts);
            }
        }
        let name = "zone_origin_duration_seconds";
        self.family(name, "histogram", "Time from a request to the header of the origin's response.");
        for zone in &zones {
            for (origin, counts) in &zone.origins {
                self.histogram(name, &[("zone", zone.name), ("origin", origin)], counts);
            }
        }
        let HandshakeCounts { tls12, tls13, failed } = handshakes.counts();
        let name = "tls_handshakes_total";
        self.family(name, "counter", "TLS handshakes with clients; those that failed have no version.");
        for (result, version, number) in [("ok", "1.2", tls12), ("ok", "1.3", tls13), ("failed", "", failed)]
        {
            self.value(name, &[("result", result), ("version", version)], number);
        }
    }

    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], counts: &DurationCounts) {
        let bucket = format!("{name}_bucket");
        let bounds = counts.cumulative().map(|(bound, number)| (bound.to_string(), number));
        for (bound, number) in bounds.chain([("+Inf".to_owned(), counts.total())]) {
            let labels: Vec<_> = labels.iter().copied().chain([("le", &bound[..])]).collect();
            self.value(&bucket, &labels, number);
        }
        #[expect(clippy::cast_precision_loss, reason = "a sum of durations for a graph")]
        let seconds = counts.sum_ns as f64 / 1e9;
        self.value(&format!("{name}_sum"), labels, seconds);
        self.value(&format!("{name}_count"), labels, counts.total());
    }
}
