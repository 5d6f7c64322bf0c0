//! A series that also passes its events to another sink, so that a file is decoded once for both.

use super::build::Builder;
use crate::{Counts, Error, Event, Metric, Sample, Sink};

pub(super) struct Watched<'w, 'b> {
    pub(super) builder: Builder<'b>,
    pub(super) look: &'w mut dyn FnMut(&Sample),
}

impl Sink for Watched<'_, '_> {
    fn metric(&mut self, metric: Metric) {
        self.builder.metric(metric);
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        (self.look)(event.sample);
        self.builder.event(event)
    }

    fn counts(&mut self, counts: &Counts) -> Result<(), Error> {
        self.builder.counts(counts)
    }
}
