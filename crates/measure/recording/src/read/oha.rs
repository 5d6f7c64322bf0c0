//! Reads the output of oha: CSV with a row for each request, or a summary as JSON.

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
