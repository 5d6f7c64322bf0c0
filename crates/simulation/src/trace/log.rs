//! The access log of a data centre, of which the requests of one zone are taken that a cache can answer.

use std::{io::Read, path::Path};

use edge::network::Zone;
use recording::{Reader, Sample};

use super::{Written, by_rule};
use crate::Error;

pub(super) struct AccessLog<R> {
    reader: Reader<R>,
    zone: Zone,
}

impl<R: Read> AccessLog<R> {
    pub(super) fn new(input: R, path: &Path, zone: Zone) -> Result<Self, Error> {
        Ok(Self { reader: Reader::new(input, path)?, zone })
    }

    /// The next request of the zone; others are counted.
    pub(super) fn next(&mut self, left_out: &mut u64) -> Result<Option<Written>, Error> {
        while let Some(sample) = self.reader.next().transpose()? {
            match self.written(&sample) {
                Some(written) => return Ok(Some(written)),
                None => *left_out += 1,
            }
        }
        Ok(None)
    }

    /// A whole response to a GET: only of that the length of the object is known.
    fn written(&self, sample: &Sample) -> Option<Written> {
        let label = |name: &str| sample.labels.get(name).map(String::as_str);
        let is_ours = sample.zone.as_deref() == Some(self.zone.name.as_str());
        let is_whole = sample.status == Some(200) && sample.error.is_none();
        if !is_ours || !is_whole || label("method") != Some("GET") {
            return None;
        }
        let (key, fresh_ns) = by_rule(&self.zone, label("url")?)?;
        Some(Written { at_ns: sample.started_ns?, key, bytes: sample.body_bytes?, city: None, fresh_ns })
    }
}

impl<R> std::fmt::Debug for AccessLog<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessLog").field("zone", &self.zone.name).finish_non_exhaustive()
    }
}
