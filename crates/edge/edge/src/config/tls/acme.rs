//! `[network.acme]`: certificates from an ACME server (RFC 8555) for the hosts of zones with `acme = true`.

use std::{net::IpAddr, ops::Range, path::PathBuf};

use config_file::{Diagnostic, Document};
use http_stack::{Origin, Uri, server::ClientAuth};
use serde::Deserialize;
use toml::Spanned;

use crate::config::{DataCentre, Network, Zone};

/// An account at an ACME server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acme {
    /// The address of the operator, to which the server may send warnings.
    pub email: Option<String>,
    /// The URL of the server's directory.
    pub directory: Uri,
    /// How this network proves control of a host.
    pub challenge: Challenge,
    /// Directory of the account, the certificates and their keys.
    pub storage: PathBuf,
    /// PEM file of the only authorities that are trusted for the ACME server.
    pub ca: Option<PathBuf>,
}

/// A proof of control of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Challenge {
    /// A response on port 80 (RFC 8555 section 8.3).
    #[default]
    #[serde(rename = "http-01")]
    Http01,
    /// A handshake on port 443 (RFC 8737).
    #[serde(rename = "tls-alpn-01")]
    TlsAlpn01,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct AcmeSpec {
    email: Option<Spanned<String>>,
    directory: Spanned<String>,
    #[serde(default)]
    agree_terms: bool,
    #[serde(default)]
    challenge: Challenge,
    storage: PathBuf,
    ca: Option<PathBuf>,
}

impl Acme {
    /// Where this server's account and certificates are stored: a directory per ACME server, so that
    /// certificates of a staging server are not used later.
    pub fn place(&self) -> PathBuf {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
        let name = self.directory.to_string();
        let name = name.trim_start_matches("https://").trim_end_matches("/directory");
        self.storage.join(name.chars().map(plain).collect::<String>())
    }

    /// Where responses to challenges are stored while the server validates.
    pub fn challenges(&self) -> PathBuf {
        self.place().join("challenges")
    }
}

pub(in crate::config) fn read(
    document: &Document,
    written: &Spanned<AcmeSpec>,
    centres: &[(&DataCentre, Range<usize>)],
    zones: &[Zone],
) -> Result<Acme, Diagnostic> {
    let spec = written.get_ref();
    if !spec.agree_terms {
        let why = "the ACME server issues certificates only if you agree to its terms of service: read them and add agree_terms = true";
        return Err(document.mistake(written.span(), why.to_owned()));
    }
    if zones.iter().all(|zone| !zone.acme) {
        let why = "[network.acme] is not used: add acme = true to the zones whose hosts need a certificate";
        return Err(document.mistake(written.span(), why.to_owned()));
    }
    let email = spec.email.as_ref().map(|email| {
        let is_address = email.get_ref().split_once('@').is_some_and(|(name, host)| {
            !name.is_empty()
                && host.contains('.')
                && !email.get_ref().contains(|letter: char| letter.is_whitespace() || letter == ',')
        });
        let why = format!("\"{}\" is not an e-mail address", email.get_ref());
        is_address.then(|| email.get_ref().clone()).ok_or_else(|| document.mistake(email.span(), why))
    });
    let required = |centre: &DataCentre| matches!(centre.tls.clients, ClientAuth::Required(_));
    if spec.challenge == Challenge::TlsAlpn01
        && let Some((centre, place)) = centres.iter().find(|(centre, _)| required(centre))
    {
        let why = format!(
            "data centre \"{}\" requires certificates of clients, which an ACME server does not have: use challenge = \"http-01\", or client_auth = \"optional\"",
            centre.name
        );
        return Err(document.mistake(place.clone(), why));
    }
    Ok(Acme {
        email: email.transpose()?,
        directory: directory(document, &spec.directory)?,
        challenge: spec.challenge,
        storage: spec.storage.clone(),
        ca: spec.ca.clone(),
    })
}

fn directory(document: &Document, written: &Spanned<String>) -> Result<Uri, Diagnostic> {
    let url = match written.get_ref().as_str() {
        "letsencrypt" => LETS_ENCRYPT,
        "letsencrypt-staging" => LETS_ENCRYPT_STAGING,
        url => url,
    };
    let uri = url.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("https"));
    uri.filter(|uri| Origin::of(uri).is_ok()).ok_or_else(|| {
        let why = format!(
            "\"{url}\" is not an ACME directory: expected \"letsencrypt-staging\", \"letsencrypt\" or an https:// URL"
        );
        document.mistake(written.span(), why)
    })
}

pub(in crate::config) fn check_hosts(
    document: &Document,
    has_acme: bool,
    zone: &Spanned<bool>,
    hosts: &[Spanned<String>],
) -> Result<(), Diagnostic> {
    if !has_acme {
        let why = "acme = true needs [network.acme] with directory, storage and agree_terms";
        return Err(document.mistake(zone.span(), why.to_owned()));
    }
    for host in hosts {
        let name = host.get_ref();
        let why = if name.contains('*') {
            format!(
                "an ACME certificate for \"{name}\" needs DNS-01, which Longhaul does not support: list the full names, or set certificate and key and remove acme from this zone"
            )
        } else if name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() || name.contains('_') {
            format!(
                "an ACME certificate needs a DNS name, and \"{name}\" is not a DNS name: move it to a zone without acme"
            )
        } else {
            continue;
        };
        return Err(document.mistake(host.span(), why));
    }
    Ok(())
}

impl Network {
    /// The hosts for which the data centres get certificates from the ACME server.
    pub fn acme_hosts(&self) -> impl Iterator<Item = &str> {
        let zones = self.zones.iter().filter(move |zone: &&Zone| zone.acme && self.acme.is_some());
        zones.flat_map(|zone| &zone.hosts).map(String::as_str)
    }
}

const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";
const LETS_ENCRYPT_STAGING: &str = "https://acme-staging-v02.api.letsencrypt.org/directory";

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: &str = r#"[network]
name = "n"
[network.acme]
directory = "letsencrypt-staging"
agree_terms = true
storage = "acme"
[[data_centre]]
name = "lhr"
listen_tls = ["127.0.0.1:443"]
[[zone]]
name = "z"
hosts = ["a.example"]
acme = true
origin = ["http://127.0.0.1:1"]
[[zone]]
name = "y"
hosts = ["*.b.example"]
origin = ["http://127.0.0.1:1"]
"#;

    fn read(text: &str) -> Result<Network, String> {
        Network::read(&Document::new("n.toml", text)).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn data_centre_with_acme_needs_no_certificate() {
        let network = read(NETWORK).unwrap();
        assert_eq!(network.acme_hosts().collect::<Vec<_>>(), ["a.example"]);
        let acme = network.acme.as_ref().unwrap();
        assert_eq!((acme.challenge, &acme.email), (Challenge::Http01, &None));
        assert_eq!(acme.place(), PathBuf::from("acme/acme-staging-v02.api.letsencrypt.org"));
        let objections = network.objections(&network.data_centres[0]);
        assert!(objections[0].contains("no certificate is for *.b.example"), "{objections:?}");
        assert!(objections[1].contains("the ACME server connects to port 80, which is not in listen"));
        let over_tls = NETWORK.replace("storage", "challenge = \"tls-alpn-01\"\nstorage");
        let network = read(&over_tls).unwrap();
        assert_eq!(network.objections(&network.data_centres[0]).len(), 1);
    }

    #[test]
    fn mistakes_have_position_and_remedy() {
        for (from, to, expected) in [
            ("agree_terms = true", "", "n.toml:3:1: the ACME server issues certificates only if you agree"),
            (
                "letsencrypt-staging",
                "letsencrypt-stagin",
                "n.toml:4:13: \"letsencrypt-stagin\" is not an ACME",
            ),
            (
                "letsencrypt-staging",
                "http://ca.example/dir",
                "n.toml:4:13: \"http://ca.example/dir\" is not an",
            ),
            ("agree_terms", "email = \"ops\"\nagree_terms", "n.toml:5:9: \"ops\" is not an e-mail address"),
            ("acme = true", "", "n.toml:3:1: [network.acme] is not used: add acme = true"),
            (
                "\"a.example\"",
                "\"*.a.example\"",
                "n.toml:12:10: an ACME certificate for \"*.a.example\" needs DNS-01",
            ),
            ("\"a.example\"", "\"*\"", "n.toml:12:10: an ACME certificate for \"*\" needs DNS-01"),
            ("\"a.example\"", "\"10.0.0.1\"", "n.toml:12:10: an ACME certificate needs a DNS name"),
            (
                "storage = \"acme\"",
                "storage = \"acme\"\nchallenge = \"dns-01\"",
                "n.toml:7:13: unknown variant `dns-01`",
            ),
            ("listen_tls", "client_ca = \"ca\"\nlisten_tls", "n.toml:9:13: client_ca needs client_auth"),
            (
                "listen_tls",
                "client_auth = \"optional\"\nlisten_tls",
                "n.toml:9:15: client_auth needs client_ca",
            ),
            ("listen_tls", "tls_min = \"1.1\"\nlisten_tls", "n.toml:9:11: unknown variant `1.1`"),
        ] {
            let mistake = read(&NETWORK.replacen(from, to, 1)).unwrap_err();
            assert!(mistake.starts_with(expected), "{mistake}");
        }
        let without = NETWORK.split("[network.acme]").collect::<Vec<_>>();
        let rest = without[1].split_once("[[data_centre]]").unwrap().1;
        let text = format!("{}[[data_centre]]{}", without[0], rest.replace("listen_tls", "listen"));
        assert!(read(&text).unwrap_err().starts_with("n.toml:9:8: acme = true needs [network.acme]"));
        let required = NETWORK
            .replace("listen_tls", "client_ca = \"ca\"\nclient_auth = \"required\"\nlisten_tls")
            .replace("storage", "challenge = \"tls-alpn-01\"\nstorage");
        let mistake = read(&required).unwrap_err();
        assert!(mistake.contains("requires certificates of clients"), "{mistake}");
    }
}
