//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write;

use super::{BOUNDS, Buckets, Counts, Metrics};

/// The metrics of some targets.
pub fn prometheus(targets: &[Metrics]) -> String {
    let targets: Vec<Counts> = targets.iter().map(|target| target.counts().clone()).collect();
    let mut page = Page::default();
    page.family("probe_success", "gauge", "Whether the last request succeeded.");
    for counts in &targets {
        if let Some(has_succeeded) = counts.has_succeeded {
            page.value("probe_success", &counts.labels(), u64::from(has_succeeded));
        }
    }
    page.family("probe_requests_total", "counter", "Requests made.");
    for counts in &targets {
        page.value("probe_requests_total", &counts.labels(), counts.requests);
    }
    page.family("probe_failures_total", "counter", "Requests that failed, by reason.");
    for counts in &targets {
        for (reason, n) in &counts.failures {
            page.value("probe_failures_total", &[&counts.labels()[..], &[("reason", reason)]].concat(), *n);
        }
    }
    page.family("probe_responses_total", "counter", "Complete responses, by status and version of HTTP.");
    for counts in &targets {
        for (kind, buckets) in &counts.responses {
            let status = kind.status.to_string();
            let more = [("status", &*status), ("version", kind.version.unwrap_or(""))];
            page.value("probe_responses_total", &[&counts.labels()[..], &more].concat(), buckets.n());
        }
    }
    let phases = "Phases of requests; one that did not happen is not counted.";
    page.family("probe_http_duration_seconds", "histogram", phases);
    for counts in &targets {
        for (phase, buckets) in &counts.phases {
            let labels = [&counts.labels()[..], &[("phase", phase)]].concat();
            page.histogram("probe_http_duration_seconds", &labels, buckets);
        }
    }
    page.family("probe_duration_seconds", "histogram", "Requests from their start to the last byte.");
    for counts in &targets {
        let mut all = Buckets::default();
        counts.responses.values().for_each(|buckets| all.merge(buckets));
        page.histogram("probe_duration_seconds", &counts.labels(), &all);
    }
    page.family("probe_lateness_seconds", "histogram", "How late requests started: the probe's own doing.");
    for counts in &targets {
        page.histogram("probe_lateness_seconds", &counts.labels(), &counts.lateness);
    }
    page.0
}

impl Counts {
    fn labels(&self) -> [(&str, &str); 1] {
        [("target", &self.target)]
    }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let _ = writeln!(self.0, "{name}{{{}}} {value}", written(labels));
    }

    fn histogram(&mut self, name: &str, labels: &[(&str, &str)], buckets: &Buckets) {
        let labels = written(labels);
        let mut below = 0;
        for (bound, n) in BOUNDS.iter().zip(buckets.counts()) {
            below += n;
            let _ = writeln!(self.0, "{name}_bucket{{{labels},le=\"{bound}\"}} {below}");
        }
        let (n, sum) = (buckets.n(), buckets.sum_s());
        let _ = writeln!(self.0, "{name}_bucket{{{labels},le=\"+Inf\"}} {n}");
        let _ = writeln!(self.0, "{name}_sum{{{labels}}} {sum}\n{name}_count{{{labels}}} {n}");
    }
}

fn written(labels: &[(&str, &str)]) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<_> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    labels.join(",")
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn values_of_labels_are_escaped() {
        let labels = [("target", "http://a/?b=\"c\\\n"), ("phase", "tls")];
        assert_eq!(written(&labels), r#"target="http://a/?b=\"c\\\n",phase="tls""#);
    }
}
