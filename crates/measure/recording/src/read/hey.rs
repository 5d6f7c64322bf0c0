//! Reads hey's CSV (`hey -o csv`), in seconds with four decimals, without requests that got no
//! response.
//!
//! `response-time` is from the start to the last byte. `DNS+dialup` is the name lookup, TCP and TLS
//! together, so only `DNS` is known separately. The first byte follows `DNS+dialup`,
//! `Request-write` and `Response-delay`.

use super::{Frame, Input, Options, table::Table};
use crate::{Error, Event, Metric, Sample, Sink, Unit};

pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read")
}

pub(super) fn read(input: Input<'_>, _: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let names = [
        "response-time",
        "DNS+dialup",
        "DNS",
        "Request-write",
        "Response-delay",
        "Response-read",
        "status-code",
        "offset",
    ];
    let [total, dialup, dns, write, delay, read, status, offset] = [0, 1, 2, 3, 4, 5, 6, 7];
    let mut table = Table::open(input, b',', names)?;
    let mut sample = Sample::default();
    let mut rows = 0_u64;
    while let Some(row) = table.next()? {
        rows += 1;
        let length = |column| table.length(&row, column, Unit::S);
        sample.latency_ns = Some(table.required(&row, total, Unit::S)?);
        sample.last_byte_ns = sample.latency_ns;
        sample.dns_ns = length(dns)?.filter(|&nanos| nanos > 0);
        sample.send_ns = length(write)?;
        sample.wait_ns = length(delay)?;
        sample.load_ns = length(read)?;
        let connected = length(dialup)?;
        let parts = [connected, sample.send_ns, sample.wait_ns];
        let first_byte = parts.into_iter().try_fold(0_u64, |sum, part| sum.checked_add(part?));
        sample.stated_ns.clear();
        sample.stated_ns.extend(first_byte.map(|nanos| (Metric::Ttfb, nanos)));
        let without_dns = first_byte.and_then(|nanos| nanos.checked_sub(sample.dns_ns.unwrap_or(0)));
        sample.stated_ns.extend(without_dns.map(|nanos| (Metric::TtfbWithoutDns, nanos)));
        sample.status = table.number(&row, status, "an HTTP status", |text| text.parse().ok())?;
        sample.started_ns = length(offset)?;
        sink.event(&Event { number: row.number, sample: &sample, exact: &[] })?;
    }
    let mut warnings = table.warnings;
    warnings.push("hey's CSV leaves out requests that got no response: failures are not counted.".to_owned());
    if rows == MOST_ROWS {
        warnings.push("hey keeps the first million requests; later ones are not in the file.".to_owned());
    }
    Ok(Frame { warnings, ..Frame::default() })
}

/// `maxRes` in hey's `requester/report.go`.
const MOST_ROWS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Format,
        read::json::testing::{phases, read},
    };

    const HEADER: &str =
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";

    #[test]
    fn a_row_is_a_request_with_its_phases() {
        let rows = "0.0060,0.0023,0.0010,0.0001,0.0034,0.0001,200,0.0002\n0.0429,0.0000,0.0000,0.0000,0.0008,0.0420,503,0.0062\n";
        let kept = read(format!("{HEADER}{rows}")).unwrap();
        assert_eq!((kept.format, &kept.numbers[..]), (Some(Format::Hey), &[2, 3][..]));
        let [first, second] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        assert_eq!(phases(first), [1.0, -1.0, -1.0, 0.1, 3.4, 0.1]);
        assert_eq!((first.latency_ns, first.get(Metric::Total)), (Some(6_000_000), Some(6_000_000)));
        assert_eq!(first.get(Metric::Ttfb), Some(5_800_000));
        assert_eq!(first.get(Metric::TtfbWithoutDns), Some(4_800_000));
        assert_eq!((first.status, first.started_ns), (Some(200), Some(200_000)));
        assert_eq!(phases(second), [-1.0, -1.0, -1.0, 0.0, 0.8, 42.0]);
        assert_eq!((second.status, second.error.as_deref()), (Some(503), None));
        assert!(kept.warnings[0].contains("failures are not counted"), "{:?}", kept.warnings);
    }

    #[test]
    fn older_versions_have_neither_status_nor_start() {
        let header = HEADER.replace(",status-code,offset", "");
        let kept = read(format!("{header}0.5,0,0,0,0.4,0.1\n")).unwrap();
        let sample = &kept.samples[0];
        assert_eq!((sample.latency_ns, sample.status, sample.started_ns), (Some(500_000_000), None, None));
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (row, expected) in [
            ("x,0,0,0,0,0,200,0\n", "x:2:1: found \"x\"; expected a number of seconds"),
            (",0,0,0,0,0,200,0\n", "x:2:1: found \"\"; expected a number of seconds"),
            ("1,0,0,0,0,0,ok,0\n", "x:2:13: found \"ok\"; expected an HTTP status"),
            ("1,0,0\n", "x:2:6: found 3 columns; expected 8"),
        ] {
            let refused = read(format!("{HEADER}{row}")).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
        }
        let kept = read(format!("{HEADER}1,0,0,0,1,0,200,0\n0.5,0,")).unwrap();
        assert_eq!(kept.samples.len(), 1);
        assert!(kept.warnings[0].contains("Line 3, the last, is cut off"), "{:?}", kept.warnings);
    }
}
