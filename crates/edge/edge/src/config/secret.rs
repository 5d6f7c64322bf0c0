//! Secrets in a network's file: a text, an environment variable or a file.

use std::{fmt, fs::File, io::Read, path::Path, path::PathBuf};

use config_file::Document;
use serde::Deserialize;
use toml::Spanned;

/// A secret, read together with the network's file. Debug output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    place: String,
    value: Result<String, String>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a text, { env = \"NAME\" } for an environment variable, or { file = \"PATH\" }"
)]
pub(super) enum SecretSpec {
    Text(String),
    Env(EnvSpec),
    File(FileSpec),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvSpec {
    env: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSpec {
    file: PathBuf,
}

impl Secret {
    /// A missing variable or file is not an error here, because it may exist only on the machine of a data
    /// centre.
    pub(super) fn read(document: &Document, written: &Spanned<SecretSpec>) -> Self {
        let value = match written.get_ref() {
            SecretSpec::Text(text) => Ok(text.clone()),
            SecretSpec::Env(EnvSpec { env }) => std::env::var(env).map_err(|_| {
                format!("the environment variable {env} is not set; export it before the start")
            }),
            SecretSpec::File(FileSpec { file }) => contents(file),
        };
        let value = value.and_then(|text| {
            let text = text.trim_ascii();
            if text.is_empty() { Err("the secret is empty".to_owned()) } else { Ok(text.to_owned()) }
        });
        Self { place: document.place(written.span()), value }
    }

    /// Returns the secret, or an empty text if it is missing.
    pub(crate) fn value(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }

    /// Returns its position and the reason if it cannot be read.
    pub(super) fn missing(&self) -> Option<(&str, &str)> {
        Some((&self.place, self.value.as_ref().err()?))
    }
}

fn contents(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    match read {
        Err(error) => Err(format!("cannot read the secret in {}: {error}", path.display())),
        Ok(_) if text.len() as u64 > MAX_BYTES => {
            Err(format!("{} is too long for a secret: expected at most {MAX_BYTES} bytes", path.display()))
        }
        Ok(_) => Ok(text),
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Session tokens of AWS have a few kilobytes.
const MAX_BYTES: u64 = 16 << 10;
