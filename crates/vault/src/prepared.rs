//! A store's tables when its file is opened: made in a new one, checked in an old one, and rid of what was broken off.

use kv::{Company, StoreName};
use redb::{ReadableTable as _, ReadableTableMetadata as _, StorageError, WriteTransaction};

use crate::{
    Error,
    file::File,
    layout::{
        BYTES, CLOCK, DUE, FILLING, HEADS, KEYS, NAME, NEXT_VALUE, NOTES, NUMBERS, TEXTS, UPLOADS, VALUES,
        VERSION,
    },
};

/// What a file says of itself.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) name: StoreName,
    pub(crate) clock: u64,
    pub(crate) next_value: u64,
    /// Keys with a value, and the bytes of those.
    pub(crate) held: (u64, u64),
    /// Keys of which another store may know less.
    pub(crate) noted: u64,
    /// Whether another store may have keys that this one has never had.
    pub(crate) is_filling: bool,
}

/// Makes the tables of a new file, which gets this name; checks an old one.
pub(crate) fn prepare(
    file: &File,
    work: &WriteTransaction,
    name: &StoreName,
    company: Company,
) -> Result<Said, Error> {
    let failed = |error: redb::Error| file.failed("write to", error);
    let storage = |error: StorageError| file.failed("write to", error);
    file.check_format(work, NUMBERS, VERSION)?;
    let mut numbers = work.open_table(NUMBERS).map_err(|error| failed(error.into()))?;
    let number = |name| Ok(numbers.get(name).map_err(storage)?.map_or(0, |number| number.value()));
    let (clock, next_value) = (number(CLOCK)?, number(NEXT_VALUE)?);
    let held = (number(KEYS)?, number(BYTES)?);
    let mut filling = number(FILLING)?;
    let mut texts = work.open_table(TEXTS).map_err(|error| failed(error.into()))?;
    let known = texts.get(NAME).map_err(storage)?.map(|known| known.value().to_owned());
    let name = match known {
        Some(known) => StoreName::new(&known).ok_or_else(|| file.damaged("its name"))?,
        None => {
            texts.insert(NAME, name.as_str()).map_err(storage)?;
            filling = u64::from(company == Company::Paired);
            name.clone()
        }
    };
    if company == Company::Alone {
        filling = 0;
    }
    numbers.insert(FILLING, filling).map_err(storage)?;
    let noted = work.open_table(NOTES).map_err(|error| failed(error.into()))?.len().map_err(storage)?;
    work.open_table(HEADS).map_err(|error| failed(error.into()))?;
    work.open_table(DUE).map_err(|error| failed(error.into()))?;
    let mut values = work.open_table(VALUES).map_err(|error| failed(error.into()))?;
    let mut uploads = work.open_table(UPLOADS).map_err(|error| failed(error.into()))?;
    while let Some((broken_off, _)) = uploads.pop_first().map_err(storage)? {
        let value = broken_off.value();
        values.retain_in((value, 0)..=(value, u32::MAX), |_, _| false).map_err(storage)?;
    }
    Ok(Said { name, clock, next_value, held, noted, is_filling: filling > 0 })
}
