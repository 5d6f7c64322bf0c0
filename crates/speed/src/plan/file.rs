//! A plan as a person writes it, in TOML.
//!
//! ```toml
//! stop_after = "1s"
//! longest_set = "15s"
//! probe_every = "400ms"
//!
//! [[step]]
//! latency = 20
//!
//! [[step]]
//! download = "10MB"
//! count = 6
//! ```

use std::{ops::Range, time::Duration};

use document::{Document, Mistake};
use serde::Deserialize;
use toml::Spanned;
use units::Bytes;

use super::{Direction, LARGEST, Limits, Plan, Step};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    #[serde(with = "units::duration")]
    stop_after: Duration,
    #[serde(with = "units::duration")]
    longest_set: Duration,
    #[serde(with = "units::duration")]
    loaded_from: Duration,
    probe_every: Option<Spanned<Span>>,
    step: Vec<Spanned<Written>>,
}

impl Default for File {
    fn default() -> Self {
        Self {
            stop_after: Duration::from_secs(1),
            longest_set: Duration::from_secs(15),
            loaded_from: Duration::from_millis(250),
            probe_every: None,
            step: Vec::new(),
        }
    }
}

/// A duration whose place in the file is known.
#[derive(Deserialize)]
struct Span(#[serde(with = "units::duration")] Duration);

/// A step. One of the first five says what it is.
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

pub(super) fn read(name: &str, document: &Document) -> Result<Plan, Mistake> {
    let file: File = document.parse()?;
    let probe_every = match file.probe_every {
        None => PROBE_EVERY,
        Some(every) if every.get_ref().0 < LEAST_PAUSE => {
            let why = "probe_every is less than 20ms: probes would be a load of their own";
            return Err(document.mistake(every.span(), why));
        }
        Some(every) => every.into_inner().0,
    };
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
        limits: Limits { stop_after: file.stop_after, longest_set: file.longest_set },
        probe_every,
        loaded_from: file.loaded_from,
    })
}

fn checked(step: Spanned<Written>, document: &Document) -> Result<Step, Mistake> {
    let place = step.span();
    let Written { warm_up, latency, download, upload, loss, count } = step.into_inner();
    let size = |bytes: Spanned<Bytes>| match bytes.get_ref().0 {
        1..=LARGEST => Ok(bytes.into_inner().0),
        _ => Err(document.mistake(bytes.span(), "the body of a request has 1B to 1GB")),
    };
    let number = |number: Spanned<u32>, most: u32| match *number.get_ref() {
        it if (1..=most).contains(&it) => Ok(it),
        _ => Err(document.mistake(number.span(), format!("expected a number from 1 to {most}"))),
    };
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

fn misplaced(document: &Document, place: Range<usize>) -> Mistake {
    document.mistake(place, "count is for a step that is a download or an upload, and nothing else")
}

const ONE_OF: &str =
    "a step is one of: warm_up = \"100KB\", latency = 20, download = \"1MB\", upload = \"1MB\", loss = 1000";

/// As often as the test that is best known.
const PROBE_EVERY: Duration = Duration::from_millis(400);
const LEAST_PAUSE: Duration = Duration::from_millis(20);
const MOST_STEPS: usize = 100;
const MOST_REQUESTS: u32 = 1000;
/// As many as a server answers for one test.
const MOST_MESSAGES: u32 = 10_000;
