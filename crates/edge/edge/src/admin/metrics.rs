//! Prometheus metrics of a data centre, text format version 0.0.4.

mod pools;
mod traffic;

use std::fmt::{Display, Write};

use ::tier_routing::Fault;
use http_stack::server::TlsHandshakes;

use crate::{
    admin::api::{BusStatus, CertificateStatus, RouteReason, Status},
    telemetry::traffic::TrafficMetrics,
};

pub(crate) fn prometheus(status: &Status, traffic: &TrafficMetrics, handshakes: &TlsHandshakes) -> String {
    let Status { data_centre, epoch, requests, connections, store, log, traces, kv, origins, .. } = status;
    let mut page = Page { text: String::new(), data_centre };
    page.family("requests_total", "counter", "Client requests by cache status.");
    for (word, number) in requests.by_cache_status.named() {
        page.value("requests_total", &[("cache", word)], number);
    }
    page.family("connections", "gauge", "Client connections.");
    page.value("connections", &[], connections.open);
    page.family(
        "connections_refused_total",
        "counter",
        "Client connections refused because of the limit per address.",
    );
    page.value("connections_refused_total", &[], connections.refused);
    page.certificates(&status.certificates);
    page.family("store_bytes", "gauge", "Bytes of stored objects.");
    page.value("store_bytes", &[("tier", "memory")], store.memory_bytes);
    if let Some(bytes) = store.disk_bytes {
        page.value("store_bytes", &[("tier", "disk")], bytes);
        page.family("disk_working", "gauge", "Whether the disk is writable.");
        page.value("disk_working", &[], u8::from(store.disk_error.is_none()));
        page.family("disk_given_up_total", "counter", "Disk lookups that timed out.");
        page.value("disk_given_up_total", &[], store.disk_given_up.unwrap_or_default());
    }
    page.family("store_limit_bytes", "gauge", "Maximum bytes of stored objects in memory.");
    page.value("store_limit_bytes", &[("tier", "memory")], store.memory_limit_bytes);
    page.family("store_objects", "gauge", "Objects in memory.");
    page.value("store_objects", &[], store.objects);
    page.family("store_evicted_total", "counter", "Objects evicted from memory.");
    page.value("store_evicted_total", &[], store.evicted);
    page.family("purge_epoch", "gauge", "Sequence number of the last purge.");
    page.value("purge_epoch", &[], epoch);
    if let Some(log) = log {
        page.family("log_lost_total", "counter", "Lines of the access log that were lost.");
        page.value("log_lost_total", &[], log.lost);
        page.family("log_working", "gauge", "Whether the access log is writable.");
        page.value("log_working", &[], u8::from(log.error.is_none()));
    }
    if let Some(traces) = traces {
        page.family("spans_total", "counter", "Spans by result of the export.");
        page.value("spans_total", &[("fate", "sent")], traces.sent);
        page.value("spans_total", &[("fate", "lost")], traces.lost);
        page.family("traces_working", "gauge", "Whether the collector accepts traces.");
        page.value("traces_working", &[], u8::from(traces.error.is_none()));
    }
    if let Some(kv) = kv {
        page.kv(kv);
    }
    page.family("origin_healthy", "gauge", "Whether an origin is healthy.");
    for origin in origins {
        page.value("origin_healthy", &[("origin", &origin.address)], u8::from(origin.healthy));
    }
    page.family("origin_requests_total", "counter", "Requests to an origin.");
    for origin in origins {
        page.value("origin_requests_total", &[("origin", &origin.address)], origin.requests);
    }
    page.family("origin_failures_total", "counter", "Requests to an origin without a response.");
    for origin in origins {
        page.value("origin_failures_total", &[("origin", &origin.address)], origin.failures);
    }
    page.family("origin_connections", "gauge", "Connections to an origin.");
    for origin in origins {
        page.value("origin_connections", &[("origin", &origin.address)], origin.connections);
    }
    page.family("origin_in_flight", "gauge", "Requests to an origin without a response so far.");
    for origin in origins {
        page.value("origin_in_flight", &[("origin", &origin.address)], origin.in_flight);
    }
    page.traffic(traffic, handshakes);
    pools::write(&mut page, &status.pools);
    if !status.rate_limits.is_empty() {
        page.family("rate_limited_total", "counter", "Client requests rejected because of a rate limit.");
    }
    for limits in &status.rate_limits {
        page.value("rate_limited_total", &[("zone", &limits.zone)], limits.rate_limited);
    }
    page.network(status);
    page.text
}

struct Page<'s> {
    text: String,
    data_centre: &'s str,
}

impl Page<'_> {
    fn kv(&mut self, kv: &kv_server::Status) {
        self.family("kv_reads_total", "counter", "Keys read, by source of the value.");
        self.value("kv_reads_total", &[("source", "lower")], kv.hits);
        let kv_server::FromOthers { regional, upper, store } =
            kv.of_others.unwrap_or(kv_server::FromOthers {
                regional: 0,
                upper: 0,
                store: kv.reads - kv.hits.min(kv.reads),
            });
        self.value("kv_reads_total", &[("source", "store")], store);
        if kv.of_others.is_some() {
            self.value("kv_reads_total", &[("source", "regional")], regional);
            self.value("kv_reads_total", &[("source", "upper")], upper);
        }
        self.families(
            &[],
            &[
                ("kv_writes_total", "counter", "Keys written or deleted.", kv.writes),
                ("kv_lists_total", "counter", "Pages of key lists.", kv.lists),
                ("kv_refused_total", "counter", "Requests rejected or failed.", kv.refused),
                ("kv_expired_total", "counter", "Keys removed because their value had expired.", kv.expired),
                ("kv_memory_bytes", "gauge", "Bytes of values in memory.", kv.memory_bytes),
                ("kv_working", "gauge", "Whether keys can be read.", u64::from(kv.error.is_none())),
            ],
        );
        for (name, help, number) in [
            ("kv_keys", "Keys in the store.", kv.keys),
            ("kv_bytes", "Bytes of values in the store.", kv.bytes),
            ("kv_file_bytes", "Bytes of the store's file.", kv.file_bytes),
        ] {
            if let Some(number) = number {
                self.family(name, "gauge", help);
                self.value(name, &[], number);
            }
        }
        if kv.keys.is_some() && kv.file_bytes.is_none() {
            self.family(
                "kv_stream_refused",
                "gauge",
                "Whether the store's stream is refused because it lacks acknowledged messages.",
            );
            self.value("kv_stream_refused", &[], u64::from(kv.refused_stream.is_some()));
        }
        if let Some(integrity) = &kv.integrity {
            let kv_server::Integrity { damaged_blocks, damaged_keys, scrubs, scrubbed_bytes } = *integrity;
            self.families(
                &[],
                &[
                    (
                        "kv_damaged_blocks",
                        "gauge",
                        "Damaged blocks of 4 KiB in the store's file.",
                        damaged_blocks,
                    ),
                    ("kv_damaged_keys", "gauge", "Keys that the scrub could not read.", damaged_keys),
                    ("kv_scrubs_total", "counter", "Completed scrubs of the store's file.", scrubs),
                    (
                        "kv_scrubbed_bytes_total",
                        "counter",
                        "Bytes of values read by the scrub.",
                        scrubbed_bytes,
                    ),
                ],
            );
        }
        if let Some(disk) = &kv.disk {
            for (name, help, number) in [
                ("kv_disk_values", "Values cached on disk.", disk.values),
                ("kv_disk_bytes", "Bytes of files with cached values.", disk.bytes),
                ("kv_disk_working", "Whether values can be cached on disk.", u64::from(disk.error.is_none())),
            ] {
                self.family(name, "gauge", help);
                self.value(name, &[], number);
            }
        }
        if let Some(pair) = &kv.pair {
            self.pair(pair);
        }
        let Some(network) = &kv.network else { return };
        for (name, help, number) in [
            ("kv_refreshes_total", "Copies refreshed before they expired.", network.refreshes),
            (
                "kv_unchanged_total",
                "Requests to other data centres that confirmed the copy here.",
                network.unchanged,
            ),
            ("kv_stood_in_total", "Reads served from an expired copy.", network.stood_in),
            (
                "kv_passed_on_total",
                "Writes and lists forwarded to the store's data centre.",
                network.passed_on,
            ),
            ("kv_asked_by_others_total", "Requests from other data centres.", network.asked_by_others),
            ("kv_heard_total", "Keys that other data centres have reported as written.", network.heard),
            ("kv_to_tell_total", "Notifications due for keys written here.", network.to_tell),
            ("kv_told_total", "Notifications delivered.", network.told),
            ("kv_messages_total", "Messages with notifications.", network.messages),
            ("kv_untold_total", "Notifications abandoned after all old copies had expired.", network.untold),
            (
                "kv_asked_both_total",
                "Requests also sent to a second data centre because the first was slow.",
                network.asked_both,
            ),
        ] {
            self.family(name, "counter", help);
            self.value(name, &[], number);
        }
    }

    fn pair(&mut self, pair: &kv_server::Pair) {
        let other = [("other", pair.other.as_str())];
        self.families(
            &other,
            &[
                (
                    "kv_other_reachable",
                    "gauge",
                    "Whether the other store is reachable.",
                    u64::from(pair.is_reachable),
                ),
                ("kv_other_behind", "gauge", "Keys written here that the other store may lack.", pair.behind),
                (
                    "kv_filling",
                    "gauge",
                    "Whether this store may lack old keys of the other store.",
                    u64::from(pair.is_filling),
                ),
                ("kv_given_total", "counter", "Keys copied to the other store.", pair.given),
                ("kv_taken_total", "counter", "Keys copied from the other store.", pair.taken),
                ("kv_repaired_total", "counter", "Copied keys that arrived late.", pair.repaired),
                ("kv_compared_total", "counter", "Completed comparisons of the two stores.", pair.compared),
                ("kv_differed_total", "counter", "Keys found to differ between the stores.", pair.differed),
            ],
        );
    }

    fn network(&mut self, Status { requests_of_others, links, routes, purges, .. }: &Status) {
        let Some(requests) = requests_of_others else { return };
        self.family(
            "data_centre_requests_total",
            "counter",
            "Requests from other data centres by cache status.",
        );
        for (word, number) in requests.by_cache_status.named() {
            self.value("data_centre_requests_total", &[("cache", word)], number);
        }
        self.family("link_up", "gauge", "Whether the link to another data centre is up.");
        for link in links {
            self.value("link_up", &[("to", &link.to)], u8::from(link.up));
        }
        self.family("link_rtt_seconds", "gauge", "Round-trip time to another data centre.");
        for (link, rtt) in links.iter().filter_map(|link| Some((link, link.rtt_ms?))) {
            self.value("link_rtt_seconds", &[("to", &link.to)], rtt / 1e3);
        }
        self.family(
            "link_loss",
            "gauge",
            "Share of segments to another data centre that were retransmitted.",
        );
        for (link, loss) in links.iter().filter_map(|link| Some((link, link.loss?))) {
            self.value("link_loss", &[("to", &link.to)], loss);
        }
        self.family(
            "link_throughput_bits_per_second",
            "gauge",
            "Latest delivery rate to another data centre.",
        );
        for (link, rate) in links.iter().filter_map(|link| Some((link, link.throughput_bps?))) {
            self.value("link_throughput_bits_per_second", &[("to", &link.to)], rate);
        }
        self.family("link_requests_total", "counter", "Requests to another data centre.");
        for link in links {
            self.value("link_requests_total", &[("to", &link.to)], link.requests);
        }
        self.family("link_failures_total", "counter", "Requests to another data centre without a response.");
        for link in links {
            self.value("link_failures_total", &[("to", &link.to)], link.failures);
        }
        if let Some(purges) = purges {
            self.family(
                "purges_cut_off",
                "gauge",
                "Whether purges may be missing because too few data centres are reachable.",
            );
            self.value("purges_cut_off", &[], u8::from(purges.cut_off));
            self.family("purges_behind", "gauge", "Purges applied here and not in another data centre.");
            for (there, behind) in purges.data_centres.iter().filter_map(|there| Some((there, there.behind?)))
            {
                self.value("purges_behind", &[("to", &there.data_centre)], behind);
            }
        }
        if let Some(bus) = purges.as_ref().and_then(|purges| purges.bus.as_ref()) {
            self.bus(bus);
        }
        self.family("routes_failing", "gauge", "Paths to origins that failed in the last ten minutes.");
        for fault in Fault::ALL {
            let failing = routes.iter().filter(|route| route.reason == RouteReason::from(fault)).count();
            self.value("routes_failing", &[("reason", fault.name())], failing);
        }
    }

    fn bus(&mut self, bus: &BusStatus) {
        self.families(
            &[],
            &[
                ("bus_working", "gauge", "Whether the bus carries purges.", u64::from(bus.error.is_none())),
                ("bus_waiting", "gauge", "Purges applied here and not yet in the bus's stream.", bus.waiting),
                ("bus_put_total", "counter", "Purges written to the bus's stream.", bus.put),
                ("bus_taken_total", "counter", "Purges first received through the bus.", bus.taken),
                (
                    "bus_resets_total",
                    "counter",
                    "Number of times that the bus's stream was recreated or lost messages.",
                    bus.resets,
                ),
                ("bus_unread_total", "counter", "Messages on the bus that contain no purge.", bus.unread),
                (
                    "bus_namesake",
                    "gauge",
                    "Whether another process has the name of this data centre.",
                    u64::from(bus.namesake.is_some()),
                ),
            ],
        );
    }

    fn certificates(&mut self, certificates: &[CertificateStatus]) {
        if certificates.is_empty() {
            return;
        }
        let labelled: Vec<_> = certificates
            .iter()
            .map(|one| (one, one.names.first().map_or("", String::as_str), one.file.as_str()))
            .collect();
        self.family(
            "certificate_not_after_timestamp_seconds",
            "gauge",
            "End of a certificate's validity, in seconds since 1970.",
        );
        for (one, name, file) in &labelled {
            if let Some(not_after_s) = one.not_after_s {
                let labels = [("name", *name), ("file", file)];
                self.value("certificate_not_after_timestamp_seconds", &labels, not_after_s);
            }
        }
        self.family(
            "certificate_working",
            "gauge",
            "Whether a certificate is in use, and its file and the latest order at the ACME server are usable.",
        );
        for (one, name, file) in &labelled {
            let is_working = one.error.is_none() && one.not_after_s.is_some();
            self.value("certificate_working", &[("name", *name), ("file", file)], u8::from(is_working));
        }
    }

    fn families(&mut self, labels: &[(&str, &str)], families: &[(&str, &str, &str, u64)]) {
        for (name, kind, help, number) in families {
            self.family(name, kind, help);
            self.value(name, labels, number);
        }
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}");
    }

    /// Only names of zones may contain special characters.
    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.text, "{PREFIX}{name}{{data_centre=\"{}\"", self.data_centre);
        for (label, text) in labels {
            let _ = match text.contains(['"', '\\', '\n']) {
                false => write!(self.text, ",{label}=\"{text}\""),
                true => write!(self.text, ",{label}={}", quoted(text)),
            };
        }
        let _ = writeln!(self.text, "}} {value}");
    }
}

/// A label value, as in the text format of Prometheus.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

const PREFIX: &str = "longhaul_edge_";

#[cfg(test)]
mod tests;
