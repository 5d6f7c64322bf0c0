//! Reads Gatling's `simulation.log` as text: tab-separated lines that begin with REQUEST.
//!
//! A request has its start and its end in milliseconds since 1970, OK or KO, and a message. A KO
//! with a status of 400 and more is a response here. The fields before the name depend on the
//! version.

use super::{
    Frame, Input, Options,
    json::{cut_off, label},
    lines::Lines,
};
use crate::{Error, Event, Sample, Sink};

pub(super) fn is_header(line: &[u8]) -> bool {
    let fields = line.split(|&byte| byte == b'\t').count();
    (line.starts_with(b"RUN\t") && (4..=8).contains(&fields))
        || (line.starts_with(b"ASSERTION\t") && fields == 2)
        || (line.starts_with(b"REQUEST\t") && request(&String::from_utf8_lossy(line)).is_some())
}

/// A record of the kind 0 that begins with the version, a text with its length.
pub(super) fn is_binary(head: &[u8]) -> bool {
    let Some(([0, 0, 0, 0, length @ 3..=32], rest)) = head.split_first_chunk() else { return false };
    let Some(version) = rest.get(..usize::from(*length)) else { return false };
    version[0].is_ascii_digit() && version.contains(&b'.') && version.is_ascii()
}

pub(super) fn read(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let (mut sample, mut warnings) = (Sample::default(), Vec::new());
    while let Some(line) = lines.next()? {
        if !line.text.starts_with(b"REQUEST\t") {
            continue;
        }
        let (number, is_whole) = (line.number, line.terminated);
        let text = String::from_utf8_lossy(line.text);
        match request(&text) {
            Some(request) => {
                let milliseconds = request.end - request.start;
                sample.started_ns = Some(request.start * 1_000_000);
                sample.latency_ns = Some(milliseconds * 1_000_000);
                sample.last_byte_ns = sample.latency_ns;
                sample.status = status(request.message);
                sample.error = error(&request, sample.status);
                label(&mut sample, &options.labels, "name", Some(request.name));
                label(&mut sample, &options.labels, "group", Some(request.groups));
                sink.event(&Event { number, sample: &sample, exact: &[] })?;
            }
            None if !is_whole => warnings.push(cut_off(number)),
            None => {
                let (found, expected) = ("another line than Gatling writes".to_owned(), A_REQUEST);
                return Err(Error::Number { place: lines.place(number, 1), found, expected });
            }
        }
    }
    Ok(Frame { warnings, ..Frame::default() })
}

/// In milliseconds since 1970.
struct Request<'l> {
    groups: &'l str,
    name: &'l str,
    start: u64,
    end: u64,
    is_ok: bool,
    message: &'l str,
}

/// "REQUEST, [user,] groups, name, start, end, OK or KO, message", with the scenario in front in
/// older versions.
fn request(line: &str) -> Option<Request<'_>> {
    let fields: Vec<&str> = line.split('\t').collect();
    let is_time = |text: &str| text.len() >= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let at = (5..fields.len()).find(|&at| {
        ["OK", "KO"].contains(&fields[at]) && is_time(fields[at - 1]) && is_time(fields[at - 2])
    })?;
    let time = |at: usize| fields[at].parse().ok().filter(|&ms: &u64| ms < MOST_MS);
    let (start, end) = (time(at - 2)?, time(at - 1)?);
    Some(Request {
        groups: fields[at - 4],
        name: fields[at - 3],
        start,
        end: Some(end).filter(|end| *end >= start)?,
        is_ok: fields[at] == "OK",
        message: fields.get(at + 1).map_or("", |message| message.trim()),
    })
}

/// "status.find.in(200,209), found 500", "but actually found 500", or "but actually 500 is not less
/// than or equal to 399".
fn status(message: &str) -> Option<u16> {
    let check = message.strip_prefix("status.")?;
    let (_, found) = check.rsplit_once("found ").or_else(|| check.rsplit_once("but actually "))?;
    found.split(' ').next()?.parse().ok().filter(|status| (100..1000).contains(status))
}

fn error(request: &Request<'_>, status: Option<u16>) -> Option<String> {
    if request.is_ok || status.is_some_and(|status| status >= 400) {
        return None;
    }
    Some(if request.message.is_empty() { "KO" } else { request.message }.to_owned())
}

/// The year 2286; nanoseconds until then fit.
const MOST_MS: u64 = 10_000_000_000_000;

const A_REQUEST: &str =
    "REQUEST, groups, name, start and end in milliseconds since 1970, and OK or KO, with tabs between";

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const RUN: &str =
        "RUN\ta.Basic\tbasic\t1741944413000\t \t3.3.1\nUSER\tusers\t1\tSTART\t1741944413000\t1741944413000\n";

    #[test]
    fn requests_of_all_versions() {
        for (line, name, group) in [
            ("REQUEST\t1\tcart,pay\tHome\t1741944413100\t1741944413112\tOK\t ", "Home", "cart,pay"),
            ("REQUEST\tcart,pay\tHome\t1741944413100\t1741944413112\tOK\t ", "Home", "cart,pay"),
            ("REQUEST\tusers\t1\t\tHome\t1741944413100\t1741944413112\tOK\t ", "Home", ""),
        ] {
            let kept =
                read(format!("{RUN}{line}\nGROUP\tcart\t1741944413100\t1741944413112\t12\tOK\n")).unwrap();
            assert_eq!((kept.format, &kept.numbers[..]), (Some(Format::Gatling), &[3][..]));
            let sample = &kept.samples[0];
            assert_eq!((sample.latency_ns, sample.last_byte_ns), (Some(12_000_000), Some(12_000_000)));
            assert_eq!(sample.started_ns, Some(1_741_944_413_100_000_000));
            assert_eq!(sample.labels["name"], name);
            assert_eq!(sample.labels.get("group").map_or("", String::as_str), group);
        }
    }

    #[test]
    fn responses_and_failures_are_told_apart() {
        for (message, status, error) in [
            ("status.find.in(200,201,304), found 500", Some(500), None),
            ("status.find.is(200), but actually found 404", Some(404), None),
            (
                "status.find.lessThanOrEqual(399), but actually 401 is not less than or equal to 399",
                Some(401),
                None,
            ),
            (
                "status.find.is(404), but actually found 200",
                Some(200),
                Some("status.find.is(404), but actually found 200"),
            ),
            ("j.n.ConnectException: refused", None, Some("j.n.ConnectException: refused")),
            (" ", None, Some("KO")),
        ] {
            let kept =
                read(format!("{RUN}REQUEST\t\tHome\t1741944413100\t1741944413112\tKO\t{message}\n")).unwrap();
            let sample = &kept.samples[0];
            assert_eq!((sample.status, sample.error.as_deref()), (status, error), "{message}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let request = "REQUEST\t\tHome\t1741944413100\t1741944413112\tOK\t \n";
        let refused = read(format!("{RUN}{request}REQUEST\t\tHome\tx\t1741944413112\tOK\t \n")).unwrap_err();
        assert!(refused.starts_with("x:4:1: found another line than Gatling writes"), "{refused}");
        let refused =
            read(format!("{RUN}REQUEST\t\tHome\t1741944413113\t1741944413112\tOK\t \n")).unwrap_err();
        assert!(refused.starts_with("x:3:1: "), "{refused}");
        let kept = read(format!("{RUN}{request}REQUEST\t\tHo")).unwrap();
        assert_eq!(kept.samples.len(), 1);
        assert!(kept.warnings[0].contains("cut off"), "{:?}", kept.warnings);
        let refused = read(b"\0\0\0\0\x063.11.5\0\0\0\0\x07a.Basic\0").unwrap_err();
        assert!(refused.contains("Gatling's binary log"), "{refused}");
    }
}
