//! Reads what oha writes: CSV with a row for each request, or JSON that only sums them up.

use super::{Frame, Input, Options};
use crate::{Error, Sink};

mod ranks;
mod rows;
mod summary;

pub(super) fn read_csv(input: Input<'_>, _: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    rows::read(input, sink)
}

pub(super) fn read_json(input: Input<'_>, options: &Options, sink: &mut dyn Sink) -> Result<Frame, Error> {
    summary::read(input, options, sink)
}

#[cfg(test)]
mod tests;
