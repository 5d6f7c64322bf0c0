//! Prepares a store's tables when its file is opened: creates or checks them, and removes
//! incomplete values.

use kv::{Pairing, StoreName};
use redb::{ReadableTable as _, ReadableTableMetadata as _, StorageError, WriteTransaction};

use crate::{
    Error,
    file::File,
    layout::{
        BYTES, CLOCK, DUE, FILLING, HEADS, KEYS, NAME, NEXT_VALUE, NOTES, NUMBERS, TEXTS, UPLOADS, VALUES,
        VERSION,
    },
};

#[derive(Debug)]
pub(crate) struct OpenReport {
    pub(crate) name: StoreName,
    pub(crate) clock: u64,
    pub(crate) next_value: u64,
    /// The number of keys with a value, and the size of these values.
    pub(crate) held: (u64, u64),
    pub(crate) noted: u64,
    pub(crate) is_filling: bool,
}

pub(crate) fn prepare(
    file: &File,
    work: &WriteTransaction,
    name: &StoreName,
    company: Pairing,
) -> Result<OpenReport, Error> {
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
            filling = u64::from(company == Pairing::Paired);
            name.clone()
        }
    };
    if company == Pairing::Alone {
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
    Ok(OpenReport { name, clock, next_value, held, noted, is_filling: filling > 0 })
}
