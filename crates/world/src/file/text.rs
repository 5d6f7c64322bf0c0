//! How values are written that a person writes as one text: for `#[serde(with = "text")]` on a field that may be absent.

use std::{borrow::Cow, fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    let text = Cow::<'de, str>::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
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

/// One value, or a list of them.
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
