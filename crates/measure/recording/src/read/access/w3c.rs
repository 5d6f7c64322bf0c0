//! Logs in the W3C extended format: IIS and CloudFront. `#Fields:` names the columns, and may
//! change within the file.
//!
//! `time-taken` is in whole milliseconds in IIS, in seconds with three decimals in CloudFront. The
//! time is the end of the request, in UTC.

use std::collections::BTreeSet;

use super::{
    AccessFormat, Parser, Problem, Taken,
    clock::Clock,
    fields::{Escapes, Fields, departs, take_value},
    format::{Field, Kind, Scale, Stamped},
    mapping::mapped,
};
use crate::{ColumnMapping, Metric, Unit};

pub(super) struct Columns<'o> {
    format: AccessFormat,
    mappings: &'o [ColumnMapping],
    clock: Clock,
    columns: Vec<(Column, Field)>,
    seen: BTreeSet<String>,
    separator: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Date,
    Time,
    Win32Status,
    Other,
}

impl<'o> Columns<'o> {
    pub fn new(format: AccessFormat, mappings: &'o [ColumnMapping]) -> Self {
        let clock = Clock::new("%Y-%m-%dT%H:%M:%S", "2025-03-14 09:26:53").expect("the pattern is known");
        Self { format, mappings, clock, columns: Vec::new(), seen: BTreeSet::new(), separator: b' ' }
    }

    fn header(&mut self, names: &str) {
        let meaning = if self.format == AccessFormat::CloudFront { cloudfront } else { iis };
        self.separator = if self.format == AccessFormat::CloudFront { b'\t' } else { b' ' };
        self.seen.extend(names.split_ascii_whitespace().take(MOST_NAMES).map(str::to_owned));
        self.columns = names
            .split_ascii_whitespace()
            .map(|name| {
                let column = match name {
                    "date" => Column::Date,
                    "time" => Column::Time,
                    "sc-win32-status" => Column::Win32Status,
                    _ => Column::Other,
                };
                (column, Field { name: name.to_owned(), kind: mapped(self.mappings, name, meaning(name)) })
            })
            .collect();
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(_, field)| field.name == name)
    }
}

impl Parser for Columns<'_> {
    fn names(&self) -> Option<BTreeSet<String>> {
        Some(self.seen.clone())
    }

    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        if line.starts_with(b"#") {
            if let Some(names) = line.strip_prefix(b"#Fields:") {
                let is_first = self.columns.is_empty();
                self.header(&String::from_utf8_lossy(names));
                if is_first && !self.has("time-taken") && !self.has("time-to-first-byte") {
                    return Ok(Taken::Unreadable(Problem {
                        offset: 0,
                        found: format!("the fields of a log of {} without time-taken", self.format.name()),
                        expected: "the field time-taken; add it to the fields of the log".to_owned(),
                    }));
                }
            }
            return Ok(Taken::Header);
        }
        if self.columns.is_empty() {
            return Err(departs(0, line, "a line #Fields: before the first request".to_owned()));
        }
        found.escapes = Escapes::Percent;
        let (mut at, mut day, mut clock) = (0, None, None);
        let mut values = line.split(|&byte| byte == self.separator);
        for (column, field) in &self.columns {
            let Some(value) = values.next() else {
                return Err(departs(
                    line.len(),
                    b"",
                    format!("{} columns, as #Fields: names them", self.columns.len()),
                ));
            };
            found.at = at;
            match column {
                Column::Date => day = Some(value),
                Column::Time => clock = Some(value),
                Column::Win32Status if matches!(value, b"64" | b"1236") => {
                    found.fail(format!(
                        "the client closed the connection (sc-win32-status {})",
                        String::from_utf8_lossy(value)
                    ));
                }
                _ => take_value(field, value, found).map_err(|expected| departs(at, value, expected))?,
            }
            at += value.len() + 1;
        }
        if values.next().is_some() {
            return Err(departs(
                at,
                &line[at..],
                format!("{} columns, as #Fields: names them", self.columns.len()),
            ));
        }
        if let (Some(day), Some(clock)) = (day, clock) {
            let text = [day, b"T", clock].concat();
            let (ns, _) =
                self.clock.read(&text).filter(|&(_, length)| length == text.len()).ok_or_else(|| {
                    departs(0, line, format!("a date and a time such as {}", self.clock.example()))
                })?;
            found.moment(ns, 1_000_000_000, Stamped::End);
        }
        Ok(Taken::Request)
    }
}

const MOST_NAMES: usize = 1000;

fn iis(name: &str) -> Kind {
    match name {
        "time-taken" => Kind::Duration(Metric::Latency, Scale::Default(Unit::Ms)),
        "cs-host" | "cs(Host)" => Kind::Label("host".to_owned()),
        name => common(name),
    }
}

fn cloudfront(name: &str) -> Kind {
    match name {
        "time-taken" => Kind::Duration(Metric::Latency, Scale::Fixed(Unit::S)),
        "time-to-first-byte" => Kind::Duration(Metric::Ttfb, Scale::Fixed(Unit::S)),
        "x-edge-result-type" => Kind::Cache,
        "x-edge-location" => Kind::Tier,
        "x-host-header" => Kind::Label("host".to_owned()),
        // The bytes of sc-bytes include the header.
        "sc-content-len" => Kind::Bytes,
        name => common(name),
    }
}

fn common(name: &str) -> Kind {
    match name {
        "sc-status" => Kind::Status,
        "cs-method" => Kind::Label("method".to_owned()),
        "cs-uri-stem" => Kind::Path,
        "cs-protocol-version" | "cs-version" => Kind::Label("protocol".to_owned()),
        "c-ip" => Kind::Label("remote_addr".to_owned()),
        name => Kind::Label(name.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        AccessFormat, Format, Options, Unit,
        read::json::testing::{read, read_with},
    };

    const IIS: &str = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2025-03-14 09:26:50\r\n\
        #Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\r\n\
        2025-03-14 09:26:53 10.0.0.1 GET /a/b.aspx x=1 443 - 192.0.2.7 Mozilla/5.0+(Windows) - 200 0 0 152\r\n\
        2025-03-14 09:26:54 10.0.0.1 GET /gone - 443 - 192.0.2.7 - - 200 0 64 3000\r\n\
        #Software: Microsoft Internet Information Services 10.0\r\n\
        #Fields: date time cs-method cs-uri-stem sc-status sc-bytes time-taken cs-host\r\n\
        2025-03-14 09:26:55 POST /c 500 512 7 a.example\r\n";

    #[test]
    fn iis() {
        let kept = read(IIS).unwrap();
        assert_eq!(
            (kept.format, kept.numbers.as_slice()),
            (Some(Format::Access(AccessFormat::Iis)), &[5, 6, 9][..])
        );
        let [first, gone, last] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        // The end: date -u -d "2025-03-14 09:26:53" +%s is 1741944413.
        assert_eq!(
            (first.latency_ns, first.started_ns),
            (Some(152_000_000), Some(1_741_944_412_848_000_000))
        );
        assert_eq!((first.status, first.label("path").as_deref()), (Some(200), Some("/a/b.aspx")));
        assert_eq!(first.label("cs(user-agent)").as_deref(), Some("Mozilla/5.0 (Windows)"));
        assert_eq!(gone.error.as_deref(), Some("the client closed the connection (sc-win32-status 64)"));
        assert_eq!(
            (last.latency_ns, last.status, last.label("host").as_deref()),
            (Some(7_000_000), Some(500), Some("a.example"))
        );
        assert_eq!(last.label("method").as_deref(), Some("POST"));
    }

    #[test]
    fn iis_with_mistakes() {
        let kept = read(IIS.replace(" 3000", "")).unwrap();
        assert_eq!(kept.numbers, [5, 9]);
        assert!(
            kept.warnings[0].contains("line 6") && kept.warnings[0].contains("15 columns"),
            "{:?}",
            kept.warnings
        );
        let said = read(IIS.replace(" time-taken", "")).unwrap_err();
        assert!(said.contains("add it to the fields of the log"), "{said}");
        let said = read("#Version: 1.0\n#Fields: date time c-ip time-taken\n2025-03-14 09:26:53 ::1 3\n")
            .unwrap_err();
        assert!(said.contains("W3C extended log of an unknown server"), "{said}");
        let options = Options { unit: Some(Unit::S), ..Options::default() };
        assert_eq!(read_with(IIS, &options).unwrap().samples[2].latency_ns, Some(7_000_000_000));
    }

    const CLOUDFRONT: &str = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end\n\
        2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td111111abcdef8.cloudfront.net\t/index%20a.html\t200\t-\tMozilla/5.0%20(Windows)\t-\t-\tHit\tSOX4\twww.example.com\thttps\t23\t0.125\t-\tTLSv1.2\tECDHE\tHit\tHTTP/2.0\t-\t-\t11040\t0.001\tHit\ttext/html\t78\t-\t-\n\
        2019-12-04\t21:02:32\tLAX1\t0\t192.0.2.100\tGET\td111111abcdef8.cloudfront.net\t/x\t000\t-\t-\t-\t-\tError\tk6\twww.example.com\thttps\t23\t2.001\t-\t-\t-\tError\tHTTP/2.0\t-\t-\t11040\t2.001\tClientCommError\t-\t-\t-\t-\n";

    #[test]
    fn cloudfront() {
        let kept = read(CLOUDFRONT).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::CloudFront)));
        let [sample, gone] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        assert_eq!((sample.latency_ns, sample.ttfb_ns), (Some(125_000_000), Some(1_000_000)));
        // date -u -d "2019-12-04 21:02:31" +%s is 1575493351.
        assert_eq!(sample.started_ns, Some(1_575_493_350_875_000_000));
        assert_eq!((sample.status, sample.body_bytes), (Some(200), Some(78)));
        assert_eq!((sample.cache.as_deref(), sample.tier.as_deref()), (Some("hit"), Some("LAX1")));
        assert_eq!(
            (sample.label("host").as_deref(), sample.label("path").as_deref()),
            (Some("www.example.com"), Some("/index a.html"))
        );
        assert_eq!(gone.error.as_deref(), Some("no response (0)"));
    }

    proptest::proptest! {
        #[test]
        fn garbled_lines_never_panic(bytes in crate::read::json::testing::damaged(CLOUDFRONT), iis in crate::read::json::testing::damaged(IIS)) {
            drop(read(bytes));
            drop(read(iis));
        }
    }
}
