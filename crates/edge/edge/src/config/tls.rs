//! TLS of a data centre for clients: certificate files, the oldest version, and certificates of clients.

mod acme;
mod certificate_check;

use std::path::PathBuf;

use config_file::{Diagnostic, Document};
use http_stack::server::{ClientAuth, TlsSettings, TlsVersion};
use serde::Deserialize;
use toml::Spanned;

pub use self::acme::{Acme, Challenge};
pub(super) use self::acme::{AcmeSpec, check_hosts, read as read_acme};

/// Files of a certificate and its key, both PEM.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateFiles {
    /// The certificate first, then the chain to an authority.
    pub certificate: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
}

#[derive(Deserialize, Clone, Copy)]
pub(super) enum MinVersionSpec {
    #[serde(rename = "1.2")]
    Tls12,
    #[serde(rename = "1.3")]
    Tls13,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum ClientAuthSpec {
    Required,
    Optional,
}

pub(super) fn settings(
    document: &Document,
    min_version: Option<MinVersionSpec>,
    client_ca: Option<&Spanned<PathBuf>>,
    client_auth: Option<&Spanned<ClientAuthSpec>>,
) -> Result<TlsSettings, Diagnostic> {
    let min_version = match min_version {
        None | Some(MinVersionSpec::Tls12) => TlsVersion::Tls12,
        Some(MinVersionSpec::Tls13) => TlsVersion::Tls13,
    };
    let clients = match (client_ca, client_auth) {
        (None, None) => ClientAuth::Off,
        (Some(path), Some(auth)) => match auth.get_ref() {
            ClientAuthSpec::Required => ClientAuth::Required(path.get_ref().clone()),
            ClientAuthSpec::Optional => ClientAuth::Optional(path.get_ref().clone()),
        },
        (Some(path), None) => {
            let why = "client_ca needs client_auth = \"required\" or \"optional\"";
            return Err(document.mistake(path.span(), why.to_owned()));
        }
        (None, Some(auth)) => {
            let why = "client_auth needs client_ca, a PEM file of the authorities of clients";
            return Err(document.mistake(auth.span(), why.to_owned()));
        }
    };
    Ok(TlsSettings { min_version, clients })
}
