//! Documents larger than memory: elements of their arrays are passed on while they are read.

use std::{
    cell::RefCell,
    fmt,
    io::{BufRead, BufReader, Read},
    marker::PhantomData,
    path::PathBuf,
    rc::Rc,
};

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};
use serde_json::de::IoRead;

use super::{
    bounded::{Bounded, Cuts},
    broken_document, cut_off,
};
use crate::{Error, Place, read::Input};

/// One JSON value, or several one after the other.
pub(in crate::read) struct Document<'i> {
    values: serde_json::Deserializer<IoRead<Text<'i>>>,
    cuts: Rc<RefCell<Cuts>>,
    path: PathBuf,
    expected: &'static str,
}

type Text<'i> = BufReader<Bounded<Box<dyn Read + 'i>>>;

impl<'i> Document<'i> {
    /// `expected` is for messages.
    pub fn new(input: Input<'i>, expected: &'static str) -> Result<Self, Error> {
        let bounded = Bounded::new(input.reader);
        let cuts = bounded.cuts();
        let mut reader = BufReader::with_capacity(CHUNK, bounded);
        let head = reader.fill_buf().map_err(|source| Error::Read {
            place: Place { path: input.path.clone(), line: 1, column: 1 },
            source,
        })?;
        if head.starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        let values = serde_json::Deserializer::from_reader(reader);
        Ok(Self { values, cuts, path: input.path, expected })
    }

    /// Only blanks follow.
    pub fn is_at_end(&mut self) -> Result<bool, Error> {
        match self.values.end() {
            Ok(()) => Ok(true),
            Err(error) if error.is_io() => Err(self.broken(error)),
            Err(_) => Ok(false),
        }
    }

    pub fn next<'de, S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, serde_json::Error> {
        seed.deserialize(&mut self.values)
    }

    pub fn end(&mut self) -> Result<(), Error> {
        self.values.end().map_err(|error| self.broken(error))
    }

    pub fn broken(&self, error: serde_json::Error) -> Error {
        broken_document(&self.path, error, &self.cuts.borrow(), self.expected)
    }

    pub fn start(&self) -> Place {
        Place { path: self.path.clone(), line: 1, column: 1 }
    }
}

/// Receives a visitor's elements while the document is being read. An error of `take` stops the
/// reading and is returned unchanged.
pub(in crate::read) struct Taker<F> {
    take: F,
    refused: Option<Error>,
}

impl<F> Taker<F> {
    pub fn new(take: F) -> Self {
        Self { take, refused: None }
    }

    pub fn take<T, E: serde::de::Error>(&mut self, value: T) -> Result<(), E>
    where
        F: FnMut(T) -> Result<(), Error>,
    {
        (self.take)(value).map_err(|error| {
            self.refused = Some(error);
            E::custom("refused")
        })
    }

    /// An error of this taker's, or else of JSON.
    pub fn stopped(&mut self, error: serde_json::Error, document: &Document<'_>) -> Error {
        self.refused.take().unwrap_or_else(|| document.broken(error))
    }
}

pub(in crate::read) struct Elements<'t, T, F> {
    taker: &'t mut Taker<F>,
    element: PhantomData<T>,
}

impl<'t, T, F> Elements<'t, T, F> {
    pub fn new(taker: &'t mut Taker<F>) -> Self {
        Self { taker, element: PhantomData }
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Error>> DeserializeSeed<'de> for Elements<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Error>> Visitor<'de> for Elements<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(element) = array.next_element()? {
            self.taker.take(element)?;
        }
        Ok(())
    }
}

/// Consecutive objects, on lines or not, or in an array. A truncated last object is omitted, and
/// the result reports that; a truncated array is an error.
pub(in crate::read) fn each_object<T: for<'de> Deserialize<'de>>(
    input: Input<'_>,
    expected: &'static str,
    take: impl FnMut(T) -> Result<(), Error>,
) -> Result<Option<String>, Error> {
    let mut document = Document::new(input, expected)?;
    let mut taker = Taker::new(take);
    while !document.is_at_end()? {
        let mut is_array = false;
        let seed = Objects { taker: &mut taker, is_array: &mut is_array, object: PhantomData };
        if let Err(error) = document.next(seed) {
            if error.is_eof() && !is_array {
                return Ok(Some(cut_off(error.line() as u64)));
            }
            return Err(taker.stopped(error, &document));
        }
    }
    Ok(None)
}

struct Objects<'t, T, F> {
    taker: &'t mut Taker<F>,
    is_array: &'t mut bool,
    object: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Error>> DeserializeSeed<'de> for Objects<'_, T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Error>> Visitor<'de> for Objects<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<(), A::Error> {
        self.taker.take(T::deserialize(MapAccessDeserializer::new(object))?)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<(), A::Error> {
        *self.is_array = true;
        Elements::new(self.taker).visit_seq(array)
    }
}

/// Large enough that system calls do not count.
const CHUNK: usize = 256 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
