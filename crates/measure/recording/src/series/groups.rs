//! Groups of the values of a series: the value of a label, or the page of each value.

use std::collections::HashMap;

/// The value of one label for each value of a series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Groups {
    /// The label's values, in the order of the file.
    pub names: Vec<String>,
    /// For each value of the series the index of its name; [`NO_GROUP`] without the label.
    pub of: Vec<u32>,
}

/// A value that has no such label, or belongs to no page.
pub const NO_GROUP: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Numbers<K> {
    known: HashMap<K, u32>,
}

impl<K: std::hash::Hash + Eq> Numbers<K> {
    /// After 4 billion keys everything new is [`NO_GROUP`].
    pub(super) fn number<Q>(&mut self, key: &Q) -> u32
    where
        K: std::borrow::Borrow<Q>,
        Q: std::hash::Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(&number) = self.known.get(key) {
            return number;
        }
        let number = u32::try_from(self.known.len()).unwrap_or(NO_GROUP);
        self.known.insert(key.to_owned(), number);
        number
    }

    pub(super) fn into_names(self) -> Vec<K> {
        let mut named: Vec<(u32, K)> = self.known.into_iter().map(|(key, number)| (number, key)).collect();
        named.sort_unstable_by_key(|&(number, _)| number);
        named.into_iter().map(|(_, key)| key).collect()
    }
}

/// The first series has `mine` values, the second `others`.
pub(super) fn append(
    first: Option<Groups>,
    mine: u64,
    second: Option<Groups>,
    others: u64,
) -> Option<Groups> {
    if first.is_none() && second.is_none() {
        return None;
    }
    let none = |count: u64| Groups { names: Vec::new(), of: vec![NO_GROUP; as_length(count)] };
    let (mut groups, other) = (first.unwrap_or_else(|| none(mine)), second.unwrap_or_else(|| none(others)));
    let mut numbers =
        Numbers { known: (0..).zip(groups.names).map(|(number, name)| (name, number)).collect() };
    let renamed: Vec<u32> = other.names.iter().map(|name| numbers.number(name.as_str())).collect();
    groups.names = numbers.into_names();
    groups
        .of
        .extend(other.of.into_iter().map(|index| renamed.get(index as usize).copied().unwrap_or(NO_GROUP)));
    Some(groups)
}

/// Pages of two recordings are never the same: those of the second begin at `used`.
pub(super) fn append_pages(
    first: Option<Vec<u32>>,
    mine: u64,
    second: Option<Vec<u32>>,
    others: u64,
    used: u32,
) -> Option<Vec<u32>> {
    if first.is_none() && second.is_none() {
        return None;
    }
    let none = |count| vec![NO_GROUP; as_length(count)];
    let mut pages = first.unwrap_or_else(|| none(mine));
    pages.extend(second.unwrap_or_else(|| none(others)).into_iter().map(|page| moved(page, used)));
    Some(pages)
}

pub(super) fn moved(page: u32, used: u32) -> u32 {
    if page == NO_GROUP { NO_GROUP } else { page.saturating_add(used) }
}

/// Only for values that are in memory.
fn as_length(count: u64) -> usize {
    usize::try_from(count).expect("values in memory are counted by a usize")
}
