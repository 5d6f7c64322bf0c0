//! Positions of values in a network's file, for error messages.

use std::collections::BTreeMap;

use config_file::{Diagnostic, Document};
use serde::Deserialize;
use toml::{Spanned, Value};

/// Positions of all values.
#[derive(Debug)]
pub struct SourcePositions<'d> {
    document: &'d Document,
    file: File,
}

#[derive(Debug, Deserialize)]
struct File {
    network: Keys,
    kv: Option<Keys>,
    data_centre: Vec<Keys>,
}

type Keys = BTreeMap<String, Spanned<Value>>;

impl<'d> SourcePositions<'d> {
    /// Parses a network's file.
    /// # Errors
    /// If the file does not contain a network.
    pub fn read(document: &'d Document) -> Result<Self, Diagnostic> {
        Ok(Self { document, file: document.parse()? })
    }

    /// Returns file, line and column of a value of a data centre.
    pub fn of_centre(&self, name: &str, key: &str) -> Option<String> {
        let is_it = |keys: &&Keys| keys.get("name").is_some_and(|own| own.get_ref().as_str() == Some(name));
        self.place(self.file.data_centre.iter().find(is_it)?, key)
    }

    /// Returns file, line and column of a value in `[network]`.
    pub fn of_network(&self, key: &str) -> Option<String> {
        self.place(&self.file.network, key)
    }

    /// Returns file, line and column of a value in `[kv]`.
    pub fn of_kv(&self, key: &str) -> Option<String> {
        self.place(self.file.kv.as_ref()?, key)
    }

    fn place(&self, keys: &Keys, key: &str) -> Option<String> {
        keys.get(key).map(|value| self.document.place(value.span()))
    }
}
