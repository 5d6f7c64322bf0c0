//! Revoked certificates of links.

use config_file::{Diagnostic, Document};
use http_stack::{Revoked, Serial};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RevokedSpec {
    #[serde(default)]
    serials: Vec<Spanned<String>>,
    #[serde(default)]
    names: Vec<String>,
}

pub(super) fn read(document: &Document, written: RevokedSpec) -> Result<Revoked, Diagnostic> {
    let serial = |text: &Spanned<String>| {
        text.get_ref().parse::<Serial>().map_err(|error| {
            let message =
                format!("\"{}\" is not the serial number of a certificate: {error}", text.get_ref());
            document.mistake(text.span(), message)
        })
    };
    let serials = written.serials.iter().map(serial).collect::<Result<_, _>>()?;
    Ok(Revoked { serials, names: written.names })
}
