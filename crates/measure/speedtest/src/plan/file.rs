//! The TOML format of a plan.
//!
//! ```toml
//! stop_after = "1s"
//! stop_after_round_trips = 10
//! longest_set = "15s"
//! probe_every = "400ms"
//! larger = { by = 4, up_to = "1GB", count = 2, within = "30s" }
//!
//! [[step]]
//! latency = 20
//!
//! [[step]]
//! download = "10MB"
//! count = 6
//! ```

use std::{
    ops::{Range, RangeInclusive},
    time::Duration,
};

use config_file::{Diagnostic, Document};
use serde::Deserialize;
use toml::Spanned;
use units::Bytes;

use super::{Direction, LARGEST, Larger, Limits, Plan, Step};
use crate::size_ramp::ROUNDS;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    #[serde(with = "units::duration")]
    stop_after: Duration,
    stop_after_round_trips: Option<Spanned<u32>>,
    #[serde(with = "units::duration")]
    longest_set: Duration,
    #[serde(with = "units::duration")]
    loaded_from: Duration,
    probe_every: Option<Spanned<Span>>,
    larger: Option<WrittenLarger>,
    step: Vec<Spanned<Written>>,
}

impl Default for File {
    fn default() -> Self {
        Self {
            stop_after: Duration::from_secs(1),
            stop_after_round_trips: None,
            longest_set: Duration::from_secs(15),
            loaded_from: Duration::from_millis(250),
            probe_every: None,
            larger: None,
            step: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
struct Span(#[serde(with = "units::duration")] Duration);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLarger {
    by: Spanned<u32>,
    up_to: Spanned<Bytes>,
    count: Spanned<u32>,
    #[serde(with = "units::duration")]
    within: Duration,
}

/// Exactly one of the first five keys determines the kind of a step.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    warm_up: Option<Spanned<Bytes>>,
    latency: Option<Spanned<u32>>,
    download: Option<Spanned<Bytes>>,
    upload: Option<Spanned<Bytes>>,
    loss: Option<Spanned<u32>>,
    count: Option<Spanned<u32>>,
}

pub(super) fn read(name: &str, document: &Document) -> Result<Plan, Diagnostic> {
    let file: File = document.parse()?;
    let probe_every = match file.probe_every {
        None => PROBE_EVERY,
        Some(every) if every.get_ref().0 < LEAST_PAUSE => {
            let why = "probe_every is less than 20ms: probes would be a load of their own";
            return Err(document.mistake(every.span(), why));
        }
        Some(every) => every.into_inner().0,
    };
    let round_trips = file.stop_after_round_trips;
    let stop_after_round_trips =
        round_trips.map_or(Ok(ROUNDS), |trips| number(document, trips, 1..=MOST_ROUND_TRIPS))?;
    let larger = file.larger.map(|larger| larger.checked(document)).transpose()?;
    if file.step.is_empty() {
        return Err(document.mistake(0..0, "a plan has at least one [[step]], such as latency = 20"));
    }
    if let Some(one_more) = file.step.get(MOST_STEPS) {
        let why = format!("a plan has at most {MOST_STEPS} steps");
        return Err(document.mistake(one_more.span(), why));
    }
    let steps = file.step.into_iter().map(|step| checked(step, document)).collect::<Result<_, _>>()?;
    Ok(Plan {
        name: name.to_owned(),
        steps,
        limits: Limits { stop_after: file.stop_after, stop_after_round_trips, longest_set: file.longest_set },
        larger,
        probe_every,
        loaded_from: file.loaded_from,
    })
}

fn checked(step: Spanned<Written>, document: &Document) -> Result<Step, Diagnostic> {
    let place = step.span();
    let Written { warm_up, latency, download, upload, loss, count } = step.into_inner();
    let size = |bytes| size(document, bytes);
    let number = |it, most| number(document, it, 1..=most);
    let transfer = |direction, bytes: Spanned<Bytes>, count: Option<Spanned<u32>>| {
        let count = count.map_or(Ok(1), |count| number(count, MOST_REQUESTS))?;
        Ok(Step::Transfer { direction, bytes: size(bytes)?, count })
    };
    match (warm_up, latency, download, upload, loss, count) {
        (None, None, Some(bytes), None, None, count) => transfer(Direction::Download, bytes, count),
        (None, None, None, Some(bytes), None, count) => transfer(Direction::Upload, bytes, count),
        (Some(bytes), None, None, None, None, None) => Ok(Step::WarmUp { bytes: size(bytes)? }),
        (None, Some(samples), None, None, None, None) => {
            Ok(Step::Latency { samples: number(samples, MOST_REQUESTS)? })
        }
        (None, None, None, None, Some(messages), None) => {
            Ok(Step::Loss { messages: number(messages, MOST_MESSAGES)? })
        }
        (.., Some(count)) => Err(misplaced(document, count.span())),
        _ => Err(document.mistake(place, ONE_OF)),
    }
}

impl WrittenLarger {
    fn checked(self, document: &Document) -> Result<Larger, Diagnostic> {
        Ok(Larger {
            by: number(document, self.by, 2..=MOST_TIMES)?,
            up_to: size(document, self.up_to)?,
            count: number(document, self.count, 1..=MOST_REQUESTS)?,
            within: self.within,
        })
    }
}

fn size(document: &Document, bytes: Spanned<Bytes>) -> Result<u64, Diagnostic> {
    match bytes.get_ref().0 {
        1..=LARGEST => Ok(bytes.into_inner().0),
        _ => Err(document.mistake(bytes.span(), "the body of a request has 1B to 1GB")),
    }
}

fn number(document: &Document, it: Spanned<u32>, range: RangeInclusive<u32>) -> Result<u32, Diagnostic> {
    if range.contains(it.get_ref()) {
        return Ok(it.into_inner());
    }
    let why = format!("expected a number from {} to {}", range.start(), range.end());
    Err(document.mistake(it.span(), why))
}

fn misplaced(document: &Document, place: Range<usize>) -> Diagnostic {
    document.mistake(place, "count is for a step that is a download or an upload, and nothing else")
}

const ONE_OF: &str =
    "a step is one of: warm_up = \"100KB\", latency = 20, download = \"1MB\", upload = \"1MB\", loss = 1000";

/// The interval of the best-known public test.
const PROBE_EVERY: Duration = Duration::from_millis(400);
const LEAST_PAUSE: Duration = Duration::from_millis(20);
const MOST_STEPS: usize = 100;
const MOST_ROUND_TRIPS: u32 = 1000;
/// Sets that grow faster would immediately exceed the measurable range.
const MOST_TIMES: u32 = 100;
const MOST_REQUESTS: u32 = 1000;
const MOST_MESSAGES: u32 = 10_000;
