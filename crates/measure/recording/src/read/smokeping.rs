//! Reads what `rrdtool fetch FILE AVERAGE` prints of a database of smokeping: a row for each round,
//! with its pings from the fastest to the slowest in seconds, and how many were lost.
//!
//! The time of a row is the end of the round's step. Older rounds are averages: the n-th fastest of
//! several.

use super::{Frame, Input, Options, json::cut_off, lines::Lines, number};
use crate::{Error, Event, Sample, Sink, Unit, error::counted};

/// "uptime loss median ping1 ping2".
pub(super) fn is_header(line: &[u8]) -> bool {
    let has = |name: &[u8]| line.split(u8::is_ascii_whitespace).any(|word| word == name);
    has(b"loss") && has(b"ping1")
}

pub(super) fn is_other(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let (names, blank, row) = (lines.next(), lines.next(), lines.next());
    let is_row = row.and_then(|row| row.split(|&byte| byte == b' ').next()).is_some_and(|time| {
        time.strip_suffix(b":").is_some_and(|time| time.len() >= 9 && time.iter().all(u8::is_ascii_digit))
    });
    is_row && blank == Some(b"") && names.is_some_and(|names| names.starts_with(b" "))
}

pub(super) fn read(input: Input<'_>, _: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    let mut lines = Lines::new(input.reader, input.path);
    let names =
        lines.next()?.map_or_else(String::new, |line| String::from_utf8_lossy(line.text).into_owned());
    let columns: Vec<Column> = names.split_ascii_whitespace().map(Column::of).collect();
    let mut rounds = Rounds { sink, held: None, step_ns: None, sample: Sample::default() };
    let (mut empty, mut averages, mut cut) = (0, 0, None);
    while let Some(line) = lines.next()? {
        let (number, is_whole) = (line.number, line.terminated);
        let text = String::from_utf8_lossy(line.text).into_owned();
        if text.trim().is_empty() {
            continue;
        }
        match Round::of(&text, &columns) {
            Ok(round) if round.pings.is_empty() && round.lost == 0.0 => empty += 1,
            Ok(round) => {
                averages += u64::from(round.lost.fract() != 0.0);
                rounds.take(number, round)?;
            }
            Err(_) if !is_whole => cut = Some(cut_off(number)),
            Err((at, expected)) => {
                let found: String = text[at..].chars().take(SHOWN).collect();
                let place = lines.place(number, at + 1);
                return Err(Error::Number { place, found: format!("{found:?}"), expected });
            }
        }
    }
    rounds.finish()?;
    let mut warnings: Vec<String> = cut.into_iter().collect();
    if empty > 0 {
        warnings.push(format!("{} without a measurement left out.", counted(empty, "round")));
    }
    if averages > 0 {
        let are = if averages == 1 { "is an average" } else { "are averages" };
        warnings.push(format!(
            "{} {are} of several: the database no longer has them one by one, and extremes are lost.",
            counted(averages, "round")
        ));
    }
    Ok(Frame { warnings, ..Frame::default() })
}

enum Column {
    Ping,
    Loss,
    Other,
}

impl Column {
    fn of(name: &str) -> Self {
        match name.strip_prefix("ping") {
            _ if name == "loss" => Self::Loss,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Self::Ping,
            _ => Self::Other,
        }
    }
}

struct Round {
    end_ns: u64,
    pings: Vec<u64>,
    lost: f64,
}

impl Round {
    /// "1741944300: -nan 1.0000000000e+00 1.2e-02 ...". An error is a position in the row, and the
    /// expected value.
    fn of(text: &str, columns: &[Column]) -> Result<Self, (usize, &'static str)> {
        let (time, rest) = text.split_once(':').ok_or((0, A_TIME))?;
        let end_ns = number::nanoseconds(time.trim().as_bytes(), Unit::S).ok_or((0, A_TIME))?;
        let mut round = Self { end_ns, pings: Vec::new(), lost: 0.0 };
        let mut values = rest.split_ascii_whitespace();
        for column in columns {
            let value = values.next().ok_or((text.len(), "a value for each name in the first line"))?;
            let at = value.as_ptr() as usize - text.as_ptr() as usize;
            if value.ends_with("nan") {
                continue;
            }
            let value = value.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
            let value = value.ok_or((at, A_NUMBER))?;
            match column {
                Column::Ping => {
                    let ms = Unit::S.milliseconds(value).ok_or((at, A_NUMBER))?;
                    round.pings.push(crate::unit::nanoseconds(ms));
                }
                Column::Loss => round.lost = value,
                Column::Other => {}
            }
        }
        Ok(round)
    }
}

/// Hands rounds over once the length of a step is known, which two of them show.
struct Rounds<'s> {
    sink: &'s mut dyn Sink,
    held: Option<(u64, Round)>,
    step_ns: Option<u64>,
    sample: Sample,
}

impl Rounds<'_> {
    fn take(&mut self, number: u64, round: Round) -> Result<(), Error> {
        let Some((before, held)) = self.held.replace((number, round)) else { return Ok(()) };
        let next_ns = self.held.as_ref().map_or(0, |(_, round)| round.end_ns);
        let step_ns = next_ns.saturating_sub(held.end_ns);
        self.step_ns = Some(self.step_ns.map_or(step_ns, |known| known.min(step_ns)));
        self.hand_over(before, &held)
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self.held.take() {
            Some((number, round)) => self.hand_over(number, &round),
            None => Ok(()),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of pings of a round"
    )]
    fn hand_over(&mut self, number: u64, round: &Round) -> Result<(), Error> {
        self.sample.started_ns = round.end_ns.checked_sub(self.step_ns.unwrap_or(0));
        self.sample.error = None;
        for &ping in &round.pings {
            self.sample.latency_ns = Some(ping);
            self.sink.event(&Event { number, sample: &self.sample, exact: &[] })?;
        }
        self.sample.latency_ns = None;
        self.sample.error = Some("no reply".to_owned());
        for _ in 0..round.lost.min(MOST_PINGS).round() as u64 {
            self.sink.event(&Event { number, sample: &self.sample, exact: &[] })?;
        }
        Ok(())
    }
}

const A_TIME: &str = "a time in seconds and a colon, as rrdtool fetch prints it";
const A_NUMBER: &str = "a number of seconds or of pings, or nan";

const MOST_PINGS: f64 = 10_000.0;

const SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use crate::{Format, read::json::testing::read};

    const FETCHED: &str = "                         uptime                loss              median               ping1               ping2               ping3\n\n\
        1741944300: -nan 0.0000000000e+00 1.2000000000e-02 1.1000000000e-02 1.2000000000e-02 1.3000000000e-02\n\
        1741944600: -nan 2.0000000000e+00 1.2500000000e-02 1.2500000000e-02 -nan -nan\n\
        1741944900: -nan -nan -nan -nan -nan -nan\n";

    #[test]
    fn each_ping_of_a_round_is_a_sample() {
        let kept = read(FETCHED).unwrap();
        assert_eq!(
            (kept.format, kept.numbers.as_slice()),
            (Some(Format::Smokeping), &[3, 3, 3, 4, 4, 4][..])
        );
        let latencies: Vec<_> = kept.samples.iter().map(|sample| sample.latency_ns).collect();
        let us = |us: u64| Some(us * 1000);
        assert_eq!(latencies, [us(11_000), us(12_000), us(13_000), us(12_500), None, None]);
        assert!(kept.samples[4..].iter().all(|sample| sample.error.as_deref() == Some("no reply")));
        // A step of 300 s before the time of the row.
        assert_eq!(kept.samples[0].started_ns, Some(1_741_944_000_000_000_000));
        assert_eq!(kept.samples[5].started_ns, Some(1_741_944_300_000_000_000));
        assert_eq!(kept.warnings, ["1 round without a measurement left out."]);
    }

    #[test]
    fn averages_are_named() {
        let kept = read(FETCHED.replace("2.0000000000e+00", "1.5000000000e+00")).unwrap();
        assert!(kept.warnings[1].starts_with("1 round is an average of several"), "{:?}", kept.warnings);
    }

    #[test]
    fn what_is_wrong_or_another_database_is_named() {
        let said = read(FETCHED.replace("1.3000000000e-02", "fast")).unwrap_err();
        assert!(said.starts_with("x:3:86: found \"fast\"; expected a number of seconds"), "{said}");
        let other = "                            in                out\n\n1741944300: 1.0e+00 2.0e+00\n";
        assert!(read(other).unwrap_err().contains("another database than smokeping's"));
        assert!(read("RRD\x000003\0").unwrap_err().contains("rrdtool fetch FILE AVERAGE"));
        assert!(
            read("<?xml version=\"1.0\"?>\n<!DOCTYPE rrd SYSTEM \"x\">\n<rrd>\n")
                .unwrap_err()
                .contains("rrdtool fetch")
        );
    }
}
