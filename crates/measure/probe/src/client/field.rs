//! Response fields that become labels of samples.

use std::{fmt, str::FromStr};

use http_stack::{HeaderMap, HeaderName};
use serde::Deserialize;

use crate::{Error, limits};

/// The name of a response field whose value becomes a label of each sample, under the same name in
/// lower case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Field(HeaderName);

impl Field {
    pub(crate) fn read(&self, headers: &HeaderMap) -> Option<(HeaderName, String)> {
        let lines: Vec<&str> =
            headers.get_all(&self.0).iter().map(|line| line.to_str()).collect::<Result<_, _>>().ok()?;
        let mut text = lines.join(", ");
        // Visible ASCII: each byte is a character.
        text.truncate(limits::LABEL);
        (!lines.is_empty()).then(|| (self.0.clone(), text))
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(self.0.as_str())
    }
}

impl FromStr for Field {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let refused = |what| Error::Request { text: name.to_owned(), what };
        let field: HeaderName =
            name.parse().map_err(|_| refused("the name of a header field, such as \"ETag\""))?;
        if OWN.contains(&field.as_str()) {
            return Err(refused("a field that can be recorded; samples have a label of that name already"));
        }
        Ok(Self(field))
    }
}

impl TryFrom<String> for Field {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        name.parse()
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// Labels of the probe, and those of [`recording::Sample::label`].
const OWN: [&str; 20] = [
    "protocol", "lookup", "tls", "cipher", "resumed", "early", "queued", "retried", "object", "status",
    "reused", "remote", "local", "family", "fallback", "cache", "tier", "zone", "error", "label",
];

#[cfg(test)]
mod tests {
    use http_stack::HeaderValue;

    use super::*;

    #[test]
    fn names_are_of_fields_and_not_of_other_labels() {
        for name in ["ETag", "x-served-by", "AGE"] {
            let field: Field = name.parse().unwrap();
            assert_eq!(field.to_string(), name.to_ascii_lowercase());
            assert!(field.is(name));
        }
        for (name, why) in [("", "such as"), ("a b", "such as"), ("Tier", "already"), ("tls", "already")] {
            let error = name.parse::<Field>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_value_is_all_lines_up_to_a_limit() {
        let read = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("via", HeaderValue::from_bytes(line).unwrap());
            }
            "Via".parse::<Field>().unwrap().read(&headers).map(|(name, value)| (name.to_string(), value))
        };
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[b"1.1 a", b"2 b"]), Some(("via".to_owned(), "1.1 a, 2 b".to_owned())));
        assert_eq!(read(&[b"a", b"\xff"]), None);
        assert_eq!(read(&[&[b'x'; 999]]).unwrap().1.len(), limits::LABEL);
    }
}
