//! Values that fields have in more than one format.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor},
};

use super::bounded::{LONGEST_STRING, is_cut};
use crate::{
    Sample, Unit,
    read::{Labels, rfc3339},
    unit::nanoseconds,
};

/// Must not be cut.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::read) struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Text, E> {
                whole(text).map(|text| Text(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Whole)
    }
}

/// An error if the text was cut.
fn whole<E: serde::de::Error>(text: &str) -> Result<&str, E> {
    match is_cut(text) {
        true => Err(E::custom(format_args!("the text is longer than {LONGEST_STRING} bytes"))),
        false => Ok(text),
    }
}

/// In nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) struct Moment(pub u64);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Moment;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time after 1970 such as \"2025-03-14T09:26:53.589Z\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Moment, E> {
                let text = whole(text)?;
                rfc3339(text).map(Moment).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// In nanoseconds; cannot be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) struct Seconds(pub u64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        length(Unit::S, value)
            .map(Self)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Float(value), &Unit::S.expected()))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::read) struct Loose(pub Option<String>);

impl Loose {
    /// `None` if the text is absent or empty.
    pub fn text(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;
        impl<'de> Visitor<'de> for Anything {
            type Value = Loose;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Loose, E> {
                Ok(Loose(Some(whole(text)?.to_owned())))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
                Ok(Loose(Some(value.to_string())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
                Ok(Loose(Some(value.to_string())))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
                Ok(Loose(Some(value.to_string())))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
                Ok(Loose(Some(value.to_string())))
            }
            fn visit_unit<E>(self) -> Result<Loose, E> {
                Ok(Loose(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Loose, A::Error> {
                while array.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Loose, A::Error> {
                while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
        }
        deserializer.deserialize_any(Anything)
    }
}

/// Also as text: protocol buffers write numbers of 64 bits as strings in JSON.
pub(in crate::read) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let Loose(text) = Loose::deserialize(deserializer)?;
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), &"a whole number"))
}

/// In nanoseconds; `None` if it is negative or beyond 30 000 years.
pub(in crate::read) fn length(unit: Unit, value: f64) -> Option<u64> {
    unit.milliseconds(value).filter(|&ms| ms >= 0.0).map(nanoseconds)
}

/// `None` if one is absent or they are in the wrong order.
pub(in crate::read) fn between(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    to?.checked_sub(from?)
}

/// `None` for 0, which many tools write if there was no response.
pub(in crate::read) fn status(code: Option<i64>) -> Option<u16> {
    u16::try_from(code?).ok().filter(|&code| code > 0)
}

/// Only if the label is wanted.
pub(in crate::read) fn label(sample: &mut Sample, labels: &Labels, name: &str, value: Option<&str>) {
    if !labels.wants(name) {
        return;
    }
    match (value.filter(|value| !value.is_empty()), sample.labels.get_mut(name)) {
        (Some(value), Some(kept)) => {
            kept.clear();
            kept.push_str(value);
        }
        (Some(value), None) => drop(sample.labels.insert(name.to_owned(), value.to_owned())),
        (None, _) => drop(sample.labels.remove(name)),
    }
}

/// With its port if it names one.
pub(in crate::read) fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        assert_eq!(host("https://a.example:8443/x?y=https://b/"), Some("a.example:8443"));
        assert_eq!(host("http://me:secret@[::1]"), Some("[::1]"));
        assert_eq!(host("https://a.example?q"), Some("a.example"));
        assert_eq!((host("data:text/plain,x"), host("file:///x"), host("")), (None, None, None));
    }

    #[test]
    fn stamps_in_the_wrong_order_are_no_phase() {
        assert_eq!(between(Some(3), Some(5)), Some(2));
        assert_eq!((between(Some(5), Some(3)), between(None, Some(3))), (None, None));
        assert_eq!((length(Unit::Ms, -0.1), length(Unit::S, 1e300)), (None, None));
        assert_eq!(length(Unit::S, 0.001_132), Some(1_132_000));
    }

    #[test]
    fn anything_is_loose() {
        let loose = |json: &str| serde_json::from_str::<Loose>(json).unwrap().0;
        assert_eq!(loose("\"disk\""), Some("disk".to_owned()));
        assert_eq!((loose("true"), loose("1.5")), (Some("true".to_owned()), Some("1.5".to_owned())));
        assert_eq!((loose("null"), loose("[1,{}]"), loose("{\"a\":[]}")), (None, None, None));
    }

    #[test]
    fn labels_that_are_not_wanted_are_not_made() {
        let mut sample = Sample::default();
        label(&mut sample, &Labels::One("host".to_owned()), "url", Some("x"));
        assert!(sample.labels.is_empty());
        label(&mut sample, &Labels::All, "url", Some("x"));
        label(&mut sample, &Labels::All, "url", Some("y"));
        assert_eq!(sample.label("url").unwrap(), "y");
        label(&mut sample, &Labels::All, "url", None);
        assert!(sample.labels.is_empty());
    }
}
