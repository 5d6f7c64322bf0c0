//! Reads JMeter's results (JTL): CSV with a header row, or XML.
//!
//! `elapsed`, from the start to the last byte, is the latency. `Latency` ends with the first byte,
//! and `Connect` with the handshakes. Statuses of 400 and more are responses here; another status
//! with `success=false` failed an assertion. Transaction controllers sum up other samples, and are
//! skipped.

use super::{
    Frame, Labels,
    json::{self, label, length},
};
use crate::{Error, Event, Place, Sample, Sink, Unit, error::counted};

mod rows;
mod xml;

pub(super) use rows::{is_header, is_row, read as read_csv};
pub(super) use xml::read as read_xml;

#[derive(Debug, Default)]
struct Written {
    texts: [Option<String>; NAMES.len()],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Elapsed,
    TimeStamp,
    Latency,
    Connect,
    Success,
    Code,
    Message,
    Failure,
    Bytes,
    Label,
    Thread,
    Url,
}

/// With its column in CSV and its attribute in XML, in the order of [`Field`].
const NAMES: [(Field, &str, &str); 12] = [
    (Field::Elapsed, "elapsed", "t"),
    (Field::TimeStamp, "timeStamp", "ts"),
    (Field::Latency, "Latency", "lt"),
    (Field::Connect, "Connect", "ct"),
    (Field::Success, "success", "s"),
    (Field::Code, "responseCode", "rc"),
    (Field::Message, "responseMessage", "rm"),
    (Field::Failure, "failureMessage", ""),
    (Field::Bytes, "bytes", "by"),
    (Field::Label, "label", "lb"),
    (Field::Thread, "threadName", "tn"),
    (Field::Url, "URL", ""),
];

#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    field: Field,
    found: String,
    expected: &'static str,
}

impl Written {
    fn get(&self, field: Field) -> Option<&str> {
        self.texts[field as usize].as_deref().map(str::trim).filter(|text| !text.is_empty())
    }

    fn set(&mut self, field: Field, text: String) {
        self.texts[field as usize] = Some(text);
    }

    fn is_sum(&self) -> bool {
        self.get(Field::Message).is_some_and(|message| message.starts_with(OF_A_SUM))
    }

    /// "Number of samples in transaction : 2, number of failing samples : 1".
    fn summed(&self) -> u64 {
        let rest = self.get(Field::Message).and_then(|message| message.strip_prefix(OF_A_SUM));
        let number = rest.and_then(|rest| rest.trim_start_matches([' ', ':']).split(',').next());
        number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    fn fill(&self, sample: &mut Sample, labels: &Labels) -> Result<(), Wrong> {
        let milliseconds = |field: Field| {
            let Some(text) = self.get(field) else { return Ok(None) };
            let value = text.parse().ok().and_then(|value| length(Unit::Ms, value));
            value.map(Some).ok_or_else(|| Wrong {
                field,
                found: format!("{text:?}"),
                expected: Unit::Ms.expected(),
            })
        };
        let elapsed = milliseconds(Field::Elapsed)?;
        if elapsed.is_none() {
            return Err(Wrong {
                field: Field::Elapsed,
                found: "nothing".into(),
                expected: Unit::Ms.expected(),
            });
        }
        let happened = |nanos: &u64| *nanos > 0;
        sample.latency_ns = elapsed;
        sample.last_byte_ns = elapsed;
        sample.ttfb_ns = milliseconds(Field::Latency)?.filter(happened);
        sample.connect_ns = milliseconds(Field::Connect)?.filter(happened);
        sample.load_ns = json::between(sample.ttfb_ns, elapsed);
        sample.started_ns = self.get(Field::TimeStamp).map(started).transpose()?;
        sample.body_bytes = self.get(Field::Bytes).and_then(|bytes| bytes.parse().ok());
        let code = self.get(Field::Code);
        sample.status = code.and_then(|code| code.parse().ok()).filter(|status| (100..1000).contains(status));
        sample.error = self.error(sample.status);
        label(sample, labels, "label", self.get(Field::Label));
        label(sample, labels, "thread", self.get(Field::Thread));
        label(sample, labels, "url", self.get(Field::Url));
        label(sample, labels, "host", self.get(Field::Url).and_then(json::host));
        Ok(())
    }

    fn error(&self, status: Option<u16>) -> Option<String> {
        let is_success = self.get(Field::Success).is_none_or(|success| success.eq_ignore_ascii_case("true"));
        if is_success || status.is_some_and(|status| status >= 400) {
            return None;
        }
        let code = self.get(Field::Code).filter(|_| status.is_none());
        let code = code.map(|code| code.strip_prefix("Non HTTP response code: ").unwrap_or(code));
        let reasons = [code, self.get(Field::Failure), self.get(Field::Message)];
        let reason = reasons.into_iter().flatten().next().unwrap_or("failed");
        Some(reason.lines().next().unwrap_or(reason).to_owned())
    }
}

/// Milliseconds since 1970, or a date in a form of JMeter's manual.
fn started(text: &str) -> Result<u64, Wrong> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let time = if is_number {
        text.parse::<u64>().ok().and_then(|ms| ms.checked_mul(1_000_000))
    } else {
        super::time::date(text)
    };
    time.ok_or_else(|| Wrong { field: Field::TimeStamp, found: format!("{text:?}"), expected: TIME })
}

struct Samples<'s> {
    sink: &'s mut dyn Sink,
    labels: &'s Labels,
    sample: Sample,
    taken: u64,
    sums: u64,
    summed: u64,
}

impl<'s> Samples<'s> {
    fn new(sink: &'s mut dyn Sink, labels: &'s Labels) -> Self {
        Self { sink, labels, sample: Sample::default(), taken: 0, sums: 0, summed: 0 }
    }

    fn take(&mut self, number: u64, written: &Written) -> Result<Result<(), Wrong>, Error> {
        if written.is_sum() {
            self.sums += 1;
            self.summed = self.summed.saturating_add(written.summed());
            return Ok(Ok(()));
        }
        if let Err(wrong) = written.fill(&mut self.sample, self.labels) {
            return Ok(Err(wrong));
        }
        self.taken += 1;
        self.sink.event(&Event { number, sample: &self.sample, exact: &[] })?;
        Ok(Ok(()))
    }

    fn is_empty(&self) -> bool {
        self.taken + self.sums == 0
    }

    /// Fails if there is nothing but sums.
    fn finish(self, mut warnings: Vec<String>, place: impl Fn() -> Place) -> Result<Frame, Error> {
        let sums = counted(self.sums, "transaction controller");
        if self.sums > 0 && self.taken == 0 {
            let found = format!(
                "this is a file of JMeter with {sums} and without samples of requests (switch off \"Generate parent sample\", or, of \
                 CSV, read the transactions themselves: --column latency=elapsed:ms)"
            );
            return Err(Error::Empty { place: place(), found, expected: "samples of requests" });
        }
        // With "Generate parent sample", CSV has the sum in place of its samples.
        if self.summed > self.taken {
            warnings.push(format!(
                "{sums} left out: the time of a transaction is the sum of its samples; with \"Generate parent sample\" those are not in CSV."
            ));
        } else if self.sums > 0 {
            warnings.push(format!(
                "{sums} left out: the time of a transaction is the sum of its samples, which are here."
            ));
        }
        Ok(Frame { warnings, ..Frame::default() })
    }
}

const OF_A_SUM: &str = "Number of samples in transaction";

const TIME: &str = "milliseconds since 1970, or a date such as 2025/03/14 09:26:53.589";

#[cfg(test)]
mod tests;
