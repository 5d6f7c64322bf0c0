//! Converts the keys of a link or an access line to a [`link::Config`].

use std::{ops::Range, sync::Arc};

use config_file::{Diagnostic, Document};
use link::{Config, Discipline, Loss, LossTrace, Rate, Shape, Table, Trace, netem::NetemError};
use toml::Spanned;
use units::Bitrate;

use crate::file::{self, Contents, Impairment, Jitter};

pub(crate) struct Direction<'f> {
    pub rate: Option<Bitrate>,
    pub trace: Option<&'f Spanned<Contents>>,
    pub impairment: &'f Impairment,
    pub place: Range<usize>,
}

impl Direction<'_> {
    pub(crate) fn is_absent(&self) -> bool {
        self.rate.is_none() && self.trace.is_none() && *self.impairment == Impairment::default()
    }

    /// First the netem line, then the other keys.
    pub(crate) fn apply(&self, base: &Config, document: &Document) -> Result<Config, Diagnostic> {
        let Impairment { queue, aqm, ecn, jitter, jitter_table, loss, loss_trace, .. } = self.impairment;
        let Impairment { duplicate, corrupt, overhead, netem, .. } = self.impairment;
        let mut config = base.clone();
        if let Some(line) = netem {
            let mistake = |error: NetemError| document.mistake(line.span(), error.to_string());
            link::netem::parse(line.get_ref()).map_err(mistake)?.apply(&mut config);
        }
        if let Some(rate) = self.rate {
            config.rate = Rate::Constant(rate);
        }
        if let Some(trace) = self.trace {
            config.rate = Rate::Trace(Arc::new(read(trace, document, Trace::parse)?));
        }
        if let Some(jitter) = jitter {
            let Jitter { spread, order, .. } = *jitter;
            config.jitter = Some(link::Jitter { spread, shape: jitter.shape(), order });
        }
        if let (Some(table), Some(jitter)) = (jitter_table, &mut config.jitter) {
            jitter.shape = Shape::Table(Arc::new(read(table, document, Table::parse)?));
        }
        if let Some(loss) = loss {
            config.loss = loss.clone();
        }
        if let Some(trace) = loss_trace {
            config.loss = Loss::Trace(Arc::new(read(trace, document, LossTrace::parse)?));
        }
        config.queue = queue.unwrap_or(config.queue);
        config.discipline = aqm.clone().unwrap_or(config.discipline);
        config.ecn |= *ecn;
        config.duplicate = duplicate.unwrap_or(config.duplicate);
        config.corrupt = corrupt.unwrap_or(config.corrupt);
        config.overhead = overhead.map_or(config.overhead, u32::from);
        self.check(&config).map_err(|message| document.mistake(self.place.clone(), message))?;
        Ok(config)
    }

    fn check(&self, config: &Config) -> Result<(), &'static str> {
        let Impairment { queue, aqm, ecn, jitter_table, loss, loss_trace, .. } = self.impairment;
        if self.rate.is_some() && self.trace.is_some() {
            return Err("a link has a rate or a trace of it, not both");
        }
        if loss.is_some() && loss_trace.is_some() {
            return Err("a link has a loss or a trace of it, not both");
        }
        if config.rate == Rate::Unlimited && queue.is_some() {
            return Err("a link without a rate never queues; give it a rate, or leave out the queue");
        }
        if config.rate == Rate::Unlimited && (aqm.is_some() || *ecn) {
            return Err("a link without a rate never queues; give it a rate, or leave out aqm and ecn");
        }
        if *ecn && config.discipline == Discipline::DropTail {
            return Err("only codel and fq_codel mark packets; choose one as aqm, or leave out ecn");
        }
        if jitter_table.is_some() && config.jitter.is_none() {
            return Err("a jitter_table only sets the shape of jitter; set its size with jitter = \"5ms\"");
        }
        Ok(())
    }
}

fn read<T>(
    contents: &Spanned<Contents>,
    document: &Document,
    parse: impl Fn(&[u8]) -> Result<T, link::FileError>,
) -> Result<T, Diagnostic> {
    let mistake = |message: String| document.mistake(contents.span(), message);
    match contents.get_ref() {
        Contents::Text { file, text } => {
            parse(text.as_bytes()).map_err(|error| mistake(format!("{file}: {error}")))
        }
        Contents::File(name) => Err(mistake(format!("a text that is not a file cannot name \"{name}\""))),
    }
}

impl file::Link {
    pub(crate) fn direction(&self) -> Direction<'_> {
        let Self { own, impairment } = self;
        let place = own.between[0].span();
        Direction { rate: own.rate, trace: own.trace.as_ref(), impairment, place }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

impl file::Access {
    pub(crate) fn direction(&self, way: Way) -> Direction<'_> {
        let Self { own, impairment } = self;
        let (rate, trace) = match way {
            Way::Up => (own.up, &own.up_trace),
            Way::Down => (own.down, &own.down_trace),
        };
        Direction { rate, trace: trace.as_ref(), impairment, place: own.name.span() }
    }
}

#[cfg(test)]
mod tests;
