//! A JSON list of which a limited number of elements is kept.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};

pub(super) struct Bounded<T, const MOST: usize> {
    pub(super) all: Vec<T>,
    pub(super) count: usize,
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Bounded<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Reader(PhantomData))
    }
}

struct Reader<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Reader<T, MOST> {
    type Value = Bounded<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut all, mut count) = (Vec::new(), 0);
        while count < MOST
            && let Some(one) = list.next_element()?
        {
            all.push(one);
            count += 1;
        }
        while count >= MOST && list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Bounded { all, count })
    }
}
