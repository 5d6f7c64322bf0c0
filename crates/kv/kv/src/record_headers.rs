//! A record as named header fields, for a store whose values are messages that other programs read
//! as well.
//!
//! The message body contains the bytes of the value.

use crate::{Content, CorruptRecord, Expiration, Metadata, Record, ValueMeta, Version};

impl Record {
    /// Encodes the record as header fields.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![(VERSION, self.version.to_string())];
        match &self.content {
            Content::Value(about) => {
                fields.extend(about.expiration.map(|at| (EXPIRATION, at.0.to_string())));
                fields.extend(about.metadata.iter().map(|metadata| (METADATA, metadata.as_str().to_owned())));
            }
            Content::Deleted { since } => fields.push((DELETED, since.to_string())),
        }
        fields
    }

    /// Decodes the fields that [`Self::fields`] returned; `bytes` is the length of the message
    /// body.
    ///
    /// # Errors
    /// When the fields are invalid.
    pub fn from_fields<'f>(
        field: impl Fn(&str) -> Option<&'f str>,
        bytes: u64,
    ) -> Result<Self, CorruptRecord> {
        let number =
            |name| field(name).map(|text| text.parse::<u64>().map_err(|_| CorruptRecord)).transpose();
        let version: Version = field(VERSION).ok_or(CorruptRecord)?.parse().map_err(|_| CorruptRecord)?;
        let content = match number(DELETED)? {
            Some(since) => Content::Deleted { since },
            None => {
                let metadata = field(METADATA).map(|text| Metadata::new(text.as_bytes())).transpose();
                let (expiration, metadata) =
                    (number(EXPIRATION)?.map(Expiration), metadata.map_err(|_| CorruptRecord)?);
                Content::Value(ValueMeta { bytes, expiration, metadata })
            }
        };
        Ok(Self { version, content })
    }
}

const VERSION: &str = "KV-Version";
const EXPIRATION: &str = "KV-Expiration";
const METADATA: &str = "KV-Metadata";
/// The second in which the value ended.
const DELETED: &str = "KV-Deleted";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::tests::record;

    proptest! {
        #[test]
        fn a_record_comes_back_from_its_fields(record in record()) {
            let fields = record.fields();
            let field = |name: &str| {
                fields.iter().find(|(other, _)| *other == name).map(|(_, text)| text.as_str())
            };
            let bytes = match &record.content {
                Content::Value(about) => about.bytes,
                Content::Deleted { .. } => 0,
            };
            prop_assert_eq!(Record::from_fields(field, bytes), Ok(record));
        }
    }

    #[test]
    fn what_is_no_record_is_said_to_be_damaged() {
        let version = Some("0199a3f0c2b1-0002-lhr");
        for (version, expiration, metadata) in [
            (None, None, None),
            (Some("7"), None, None),
            (version, Some("soon"), None),
            (version, Some("-1"), None),
            (version, None, Some("{")),
        ] {
            let field = |name: &str| match name {
                VERSION => version,
                EXPIRATION => expiration,
                METADATA => metadata,
                _ => None,
            };
            assert_eq!(
                Record::from_fields(field, 1),
                Err(CorruptRecord),
                "{version:?} {expiration:?} {metadata:?}"
            );
        }
    }
}
