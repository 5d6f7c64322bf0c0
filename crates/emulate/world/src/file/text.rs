//! Serde helpers: values with a text format, and lists that may be a single value.

use std::{
    fmt::{self, Display},
    marker::PhantomData,
    str::FromStr,
};

use serde::{
    Deserialize, Deserializer, Serializer,
    de::{Error, Visitor},
};

pub(super) struct Written<T>(pub T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(PhantomData)).map(Self)
    }
}

/// The error for a bare number explains the format.
struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err: Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value in quotes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

pub(super) fn serialize<T: Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

pub(super) mod one_or_more {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use toml::Spanned;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a list of strings")]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }

    pub(in crate::file) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Spanned<String>>, D::Error> {
        let value = Spanned::<OneOrMore>::deserialize(deserializer)?;
        let span = value.span();
        Ok(match value.into_inner() {
            OneOrMore::One(one) => vec![Spanned::new(span, one)],
            OneOrMore::More(more) => more.into_iter().map(|each| Spanned::new(span.clone(), each)).collect(),
        })
    }

    pub(in crate::file) fn serialize<S: Serializer>(
        all: &[Spanned<String>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        all.serialize(serializer)
    }
}

/// Serde's tuple reader would ignore a third.
pub(super) mod two {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(in crate::file) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[T; 2], D::Error> {
        let all = Vec::deserialize(deserializer)?;
        all.try_into().map_err(|all: Vec<T>| {
            let names = if all.len() == 1 { "name" } else { "names" };
            let found = all.len();
            D::Error::custom(format!("{found} {names}; two cities are expected, one for each end"))
        })
    }

    pub(in crate::file) fn serialize<T: Serialize, S: Serializer>(
        both: &[T; 2],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        both.serialize(serializer)
    }

    pub(in crate::file) mod option {
        use super::{Deserialize, Deserializer, Serialize, Serializer};

        #[derive(Deserialize)]
        #[serde(bound(deserialize = "T: Deserialize<'de>"))]
        struct Two<T>(#[serde(deserialize_with = "super::deserialize")] [T; 2]);

        pub(in crate::file) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<[T; 2]>, D::Error> {
            Ok(Option::<Two<T>>::deserialize(deserializer)?.map(|Two(both)| both))
        }

        pub(in crate::file) fn serialize<T: Serialize, S: Serializer>(
            both: &Option<[T; 2]>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            both.serialize(serializer)
        }
    }
}
