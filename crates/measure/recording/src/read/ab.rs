//! Reads the output of ApacheBench's `ab -g`: a row for each response, in whole milliseconds.
//!
//! `ttime` is from the start of the connection to the last byte, `ctime` until the connection is
//! there (TLS included), and `wait` from the request to the first byte of the response. `seconds`
//! is the start in whole seconds since 1970. The percentiles of `ab -e`, which has no counts, are
//! refused.

use super::{Frame, Input, Options, json::between, table::Table};
use crate::{Error, Event, Sample, Sink, Unit};

/// `ab -g`.
pub(super) fn is_header(line: &[u8]) -> bool {
    line == b"starttime\tseconds\tctime\tdtime\tttime\twait"
}

/// `ab -e`.
pub(super) fn is_header_of_percentiles(line: &[u8]) -> bool {
    line == b"Percentage served,Time in ms"
}

pub(super) fn read(input: Input<'_>, _: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut table = Table::open(input, b'\t', ["seconds", "ctime", "dtime", "ttime", "wait"])?;
    let [seconds, connect, download, total, wait] = [0, 1, 2, 3, 4];
    let mut sample = Sample::default();
    while let Some(row) = table.next()? {
        sample.latency_ns = Some(table.required(&row, total, Unit::Ms)?);
        sample.last_byte_ns = sample.latency_ns;
        sample.connect_ns = table.length(&row, connect, Unit::Ms)?.filter(|&nanos| nanos > 0);
        sample.wait_ns = table.length(&row, wait, Unit::Ms)?;
        sample.load_ns = between(sample.wait_ns, table.length(&row, download, Unit::Ms)?);
        let start = |text: &str| text.parse::<u64>().ok()?.checked_mul(1_000_000_000);
        sample.started_ns = table.number(&row, seconds, "seconds since 1970", start)?;
        sink.event(&Event { number: row.number, sample: &sample, exact: &[] })?;
    }
    let mut warnings = table.warnings;
    warnings.push(
        "ab -g writes whole milliseconds, starts in whole seconds, and no requests without a response: failures are not counted."
            .to_owned(),
    );
    Ok(Frame { warnings, ..Frame::default() })
}

#[cfg(test)]
mod tests {
    use crate::{
        Format, Metric,
        read::json::testing::{phases, read},
    };

    const HEADER: &str = "starttime\tseconds\tctime\tdtime\tttime\twait\n";

    #[test]
    fn a_row_is_a_request() {
        let rows = "Sat Nov 28 16:42:50 2026\t1795884170\t0\t1\t1\t1\nSat Nov 28 16:42:51 2026\t1795884171\t3\t9\t12\t7\n";
        let kept = read(format!("{HEADER}{rows}")).unwrap();
        assert_eq!(kept.format, Some(Format::Ab));
        assert_eq!(phases(&kept.samples[0]), [-1.0, -1.0, -1.0, -1.0, 1.0, 0.0]);
        let second = &kept.samples[1];
        assert_eq!(phases(second), [-1.0, 3.0, -1.0, -1.0, 7.0, 2.0]);
        let metrics = [Metric::Latency, Metric::Total, Metric::Ttfb].map(|metric| second.get(metric));
        assert_eq!(metrics, [Some(12_000_000), Some(12_000_000), Some(10_000_000)]);
        assert_eq!(second.started_ns, Some(1_795_884_171_000_000_000));
        let refused = read(format!("{HEADER}x\ty\t0\t1\t1\t1\n")).unwrap_err();
        assert!(refused.starts_with("x:2:3: found \"y\"; expected seconds since 1970"), "{refused}");
    }

    #[test]
    fn percentiles_of_an_unknown_number_of_requests_are_refused() {
        let refused = read("Percentage served,Time in ms\n0,1.366\n1,1.583\n").unwrap_err();
        assert!(refused.contains("ab -e") && refused.contains("write them with ab -g"), "{refused}");
    }
}
