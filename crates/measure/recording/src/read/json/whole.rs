//! Documents that are held whole, and so have a limit: what tools write at the end of a run.

use std::{
    io::{self, Read},
    marker::PhantomData,
};

use serde::de::DeserializeOwned;

use super::Document;
use crate::{Error, Place, read::Input};

pub(in crate::read) fn whole<T: DeserializeOwned>(
    input: Input<'_>,
    expected: &'static str,
) -> Result<(T, Place), Error> {
    let input = Input { reader: Box::new(Short { input: input.reader, left: LONGEST }), path: input.path };
    let mut document = Document::new(input, expected)?;
    let value = match document.next(PhantomData) {
        Ok(value) => value,
        Err(error) => return Err(document.broken(error)),
    };
    document.end()?;
    let place = document.start();
    Ok((value, place))
}

struct Short<R> {
    input: R,
    left: usize,
}

impl<R: Read> Read for Short<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.left = self.left.checked_sub(read).ok_or_else(|| {
            let problem =
                format!("it is longer than {} MiB, which is more than any summary of a run", LONGEST >> 20);
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })?;
        Ok(read)
    }
}

const LONGEST: usize = 64 << 20;
