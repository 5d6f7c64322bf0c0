//! A recorder whose errors name the file.

use std::path::PathBuf;

use super::{Recorder, Written};
use crate::{Counts, End, Error, Event, Header, Metric, Sink};

pub(super) struct Named {
    pub recorder: Box<dyn Recorder>,
    pub path: PathBuf,
}

impl Sink for Named {
    fn metric(&mut self, metric: Metric) {
        self.recorder.metric(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.recorder.event(event).map_err(|error| error.of_output(&self.path))
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.recorder.counts(counts).map_err(|error| error.of_output(&self.path))
    }
}

impl Recorder for Named {
    fn begin(&mut self, header: &Header) -> Result<(), Error> {
        self.recorder.begin(header).map_err(|error| error.of_output(&self.path))
    }

    fn finish(self: Box<Self>, end: &End) -> Result<Written, Error> {
        self.recorder.finish(end).map_err(|error| error.of_output(&self.path))
    }
}
