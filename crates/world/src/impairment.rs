//! From the keys of a link, or of an access line, to what its engine is told.

use std::{ops::Range, sync::Arc};

use document::{Document, Mistake};
use link::{Config, Discipline, Limit, Loss, LossTrace, Rate, Shape, Table, Trace, netem};
use toml::Spanned;
use units::{Bitrate, Probability};

use crate::file::{self, Contents, Jitter};

/// The keys that links and access lines have in common, for one direction.
pub(crate) struct Keys<'f> {
    pub rate: Option<Bitrate>,
    pub trace: Option<&'f Spanned<Contents>>,
    pub queue: Option<Limit>,
    pub aqm: Option<&'f Discipline>,
    pub ecn: bool,
    pub jitter: Option<Jitter>,
    pub jitter_table: Option<&'f Spanned<Contents>>,
    pub loss: Option<&'f Loss>,
    pub loss_trace: Option<&'f Spanned<Contents>>,
    pub duplicate: Option<Probability>,
    pub corrupt: Option<Probability>,
    pub overhead: Option<u16>,
    pub netem: Option<&'f Spanned<String>>,
    /// Where in the file it all stands, for what concerns no single key.
    pub place: Range<usize>,
}

impl Keys<'_> {
    /// Whether the file says nothing with them.
    pub(crate) fn are_absent(&self) -> bool {
        let Self { rate, trace, queue, aqm, ecn, jitter, jitter_table, .. } = self;
        let Self { loss, loss_trace, duplicate, corrupt, overhead, netem, .. } = self;
        let is_given = [
            rate.is_some(),
            trace.is_some(),
            queue.is_some(),
            aqm.is_some(),
            *ecn,
            jitter.is_some(),
            jitter_table.is_some(),
            loss.is_some(),
            loss_trace.is_some(),
            duplicate.is_some(),
            corrupt.is_some(),
            overhead.is_some(),
            netem.is_some(),
        ];
        !is_given.contains(&true)
    }

    /// `base` as the keys have it: first the netem line, then the others.
    pub(crate) fn apply(&self, base: &Config, document: &Document) -> Result<Config, Mistake> {
        let mut config = base.clone();
        if let Some(line) = self.netem {
            let mistake = |error: netem::NetemError| document.mistake(line.span(), error.to_string());
            netem::parse(line.get_ref()).map_err(mistake)?.apply(&mut config);
        }
        if let Some(rate) = self.rate {
            config.rate = Rate::Constant(rate);
        }
        if let Some(trace) = self.trace {
            config.rate = Rate::Trace(Arc::new(read(trace, document, Trace::parse)?));
        }
        if let Some(jitter) = self.jitter {
            let Jitter { spread, order, .. } = jitter;
            config.jitter = Some(link::Jitter { spread, shape: jitter.shape(), order });
        }
        if let (Some(table), Some(jitter)) = (self.jitter_table, &mut config.jitter) {
            jitter.shape = Shape::Table(Arc::new(read(table, document, Table::parse)?));
        }
        if let Some(loss) = self.loss {
            config.loss = loss.clone();
        }
        if let Some(trace) = self.loss_trace {
            config.loss = Loss::Trace(Arc::new(read(trace, document, LossTrace::parse)?));
        }
        config.queue = self.queue.unwrap_or(config.queue);
        config.discipline = self.aqm.cloned().unwrap_or(config.discipline);
        config.ecn |= self.ecn;
        config.duplicate = self.duplicate.unwrap_or(config.duplicate);
        config.corrupt = self.corrupt.unwrap_or(config.corrupt);
        config.overhead = self.overhead.map_or(config.overhead, u32::from);
        self.check(&config).map_err(|message| document.mistake(self.place.clone(), message))?;
        Ok(config)
    }

    /// Refuses keys that would have no effect, or two that say the same thing.
    fn check(&self, config: &Config) -> Result<(), &'static str> {
        if self.rate.is_some() && self.trace.is_some() {
            return Err("a link has a rate or a trace of it, not both");
        }
        if self.loss.is_some() && self.loss_trace.is_some() {
            return Err("a link has a loss or a trace of it, not both");
        }
        if config.rate == Rate::Unlimited && self.queue.is_some() {
            return Err("a link without a rate never queues; give it a rate, or leave out the queue");
        }
        if config.rate == Rate::Unlimited && (self.aqm.is_some() || self.ecn) {
            return Err("a link without a rate never queues; give it a rate, or leave out aqm and ecn");
        }
        if self.ecn && config.discipline == Discipline::DropTail {
            return Err("only codel and fq_codel mark packets; choose one as aqm, or leave out ecn");
        }
        if self.jitter_table.is_some() && config.jitter.is_none() {
            return Err("a jitter_table gives jitter its shape; say how much with jitter = \"5ms\"");
        }
        Ok(())
    }
}

/// What a file says that was gathered before.
fn read<T>(
    contents: &Spanned<Contents>,
    document: &Document,
    parse: impl Fn(&[u8]) -> Result<T, link::FileError>,
) -> Result<T, Mistake> {
    let mistake = |message: String| document.mistake(contents.span(), message);
    match contents.get_ref() {
        Contents::Text { file, text } => {
            parse(text.as_bytes()).map_err(|error| mistake(format!("{file}: {error}")))
        }
        Contents::File(name) => Err(mistake(format!("a text that is no file cannot name \"{name}\""))),
    }
}

impl file::Link {
    /// The keys of it that say what a link does to a packet.
    pub(crate) fn keys(&self) -> Keys<'_> {
        Keys {
            rate: self.rate,
            trace: self.trace.as_ref(),
            queue: self.queue,
            aqm: self.aqm.as_ref(),
            ecn: self.ecn,
            jitter: self.jitter,
            jitter_table: self.jitter_table.as_ref(),
            loss: self.loss.as_ref(),
            loss_trace: self.loss_trace.as_ref(),
            duplicate: self.duplicate,
            corrupt: self.corrupt,
            overhead: self.overhead,
            netem: self.netem.as_ref(),
            place: self.between[0].span(),
        }
    }

    /// The files that it names.
    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        self.trace.iter_mut().chain(&mut self.loss_trace).chain(&mut self.jitter_table)
    }
}

/// Which way a line's packets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

impl file::Access {
    /// The keys of it that say what the line does to a packet.
    pub(crate) fn keys(&self, way: Way) -> Keys<'_> {
        let (rate, trace) = match way {
            Way::Up => (self.up, &self.up_trace),
            Way::Down => (self.down, &self.down_trace),
        };
        Keys {
            rate,
            trace: trace.as_ref(),
            queue: self.queue,
            aqm: self.aqm.as_ref(),
            ecn: self.ecn,
            jitter: self.jitter,
            jitter_table: self.jitter_table.as_ref(),
            loss: self.loss.as_ref(),
            loss_trace: self.loss_trace.as_ref(),
            duplicate: self.duplicate,
            corrupt: self.corrupt,
            overhead: self.overhead,
            netem: self.netem.as_ref(),
            place: self.name.span(),
        }
    }

    /// The files that it names.
    pub(crate) fn contents(&mut self) -> impl Iterator<Item = &mut Spanned<Contents>> {
        let traces = self.up_trace.iter_mut().chain(&mut self.down_trace);
        traces.chain(&mut self.loss_trace).chain(&mut self.jitter_table)
    }
}

#[cfg(test)]
mod tests;
