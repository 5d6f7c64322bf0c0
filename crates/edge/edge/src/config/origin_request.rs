//! Changes of requests to the origins of a zone: host, header fields, and a signature.

use std::{collections::BTreeMap, ops::Range};

use config_file::{Diagnostic, Document};
use http_cache::{hop_by_hop::is_hop_by_hop, internal_headers};
use http_stack::{HeaderName, HeaderValue, header, uri::Authority};
use serde::Deserialize;
use toml::Spanned;

use super::{
    OriginUrl, Zone,
    secret::{Secret, SecretSpec},
};

/// Changes of requests to the origins of a zone. Rules, cache keys and peers use the visitor's request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OriginRequest {
    /// The Host field.
    pub host: OriginHost,
    /// Fields with fixed values.
    pub set: Vec<(HeaderName, Secret)>,
    /// Fields that are removed.
    pub remove: Vec<HeaderName>,
    /// The signature.
    pub auth: Option<OriginAuth>,
}

/// The Host field of requests to an origin, and the name for SNI and the certificate check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OriginHost {
    /// The visitor's host. The server name is the host in the origin's URL.
    #[default]
    Visitor,
    /// Host and port in the origin's URL.
    Origin,
    /// This host, optionally with a port. The server name has no port.
    Name(Authority),
}

/// AWS Signature Version 4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginAuth {
    /// Region of the service, such as "eu-central-1".
    pub region: String,
    /// Name of the service, such as "s3".
    pub service: String,
    /// Access key ID.
    pub access_key: Secret,
    /// Secret access key.
    pub secret_key: Secret,
    /// Token of temporary credentials.
    pub session_token: Option<Secret>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct HeadersSpec {
    #[serde(default)]
    set: BTreeMap<String, Spanned<SecretSpec>>,
    #[serde(default)]
    remove: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuthSpec {
    sigv4: SigV4Spec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SigV4Spec {
    region: Spanned<String>,
    #[serde(default = "service")]
    service: Spanned<String>,
    access_key: Spanned<SecretSpec>,
    secret_key: Spanned<SecretSpec>,
    session_token: Option<Spanned<SecretSpec>>,
}

fn service() -> Spanned<String> {
    Spanned::new(0..0, "s3".to_owned())
}

impl OriginHost {
    /// The name for SNI and the certificate check, if it is not that of the origin's URL.
    pub fn server_name(&self) -> Option<&str> {
        match self {
            Self::Visitor | Self::Origin => None,
            Self::Name(authority) => Some(authority.host().trim_start_matches('[').trim_end_matches(']')),
        }
    }
}

impl Zone {
    /// Whether requests to an origin differ from the visitor's in their target or fields.
    pub(crate) fn changes_requests(&self) -> bool {
        !self.origin_request.keeps_headers() || !self.origins.iter().all(OriginUrl::keeps_target)
    }
}

impl OriginRequest {
    /// Whether requests to the origin have the fields of the visitor's request.
    pub(crate) fn keeps_headers(&self) -> bool {
        self.host == OriginHost::Visitor
            && self.set.is_empty()
            && self.remove.is_empty()
            && self.auth.is_none()
    }

    /// Whether the origin receives the same value, or none, from all visitors.
    pub(crate) fn is_fixed(&self, name: &str) -> bool {
        let is_it = |other: &HeaderName| name.eq_ignore_ascii_case(other.as_str());
        self.set.iter().any(|(other, _)| is_it(other))
            || self.remove.iter().any(is_it)
            || (self.auth.is_some() && is_signature_field(&name.to_ascii_lowercase()))
    }

    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let of_auth = self.auth.iter().flat_map(|auth| {
            [Some(&auth.access_key), Some(&auth.secret_key), auth.session_token.as_ref()]
                .into_iter()
                .flatten()
        });
        self.set.iter().map(|(_, value)| value).chain(of_auth)
    }
}

/// Fields that the edge alone sends to an origin with a signature. The name is in lower case.
fn is_signature_field(name: &str) -> bool {
    name == "authorization" || name.starts_with("x-amz-")
}

pub(super) fn read(
    document: &Document,
    host: Option<&Spanned<String>>,
    headers: &HeadersSpec,
    auth: Option<&Spanned<AuthSpec>>,
) -> Result<OriginRequest, Diagnostic> {
    let checks = Checks { document };
    let auth = auth.map(|auth| checks.auth(auth.get_ref())).transpose()?;
    let host = match host {
        Some(host) => checks.host(host)?,
        // A service that checks signatures accepts only the host of its URL.
        None if auth.is_some() => OriginHost::Origin,
        None => OriginHost::Visitor,
    };
    let set = headers.set.iter().map(|(name, value)| checks.set(name, value, auth.is_some()));
    let set = set.collect::<Result<Vec<_>, _>>()?;
    let remove = headers.remove.iter().map(|name| checks.field(name.get_ref(), name.span()));
    let remove = remove.collect::<Result<Vec<_>, _>>()?;
    if let Some((name, place)) =
        remove.iter().zip(&headers.remove).find(|(name, _)| set.iter().any(|(other, _)| other == *name))
    {
        let message = format!("origin_headers sets and removes {name}: remove one of them");
        return Err(document.mistake(place.span(), message));
    }
    Ok(OriginRequest { host, set, remove, auth })
}

struct Checks<'d> {
    document: &'d Document,
}

impl Checks<'_> {
    fn host(&self, host: &Spanned<String>) -> Result<OriginHost, Diagnostic> {
        let text = host.get_ref();
        if text == "origin" {
            return Ok(OriginHost::Origin);
        }
        let bare = text.parse::<Authority>().ok().map(|authority| authority.host().to_owned());
        let is_host = bare.is_some_and(|bare| {
            !bare.starts_with('*')
                && super::check_host(&bare).is_ok()
                && (*text == bare || has_port(text, &bare))
        });
        if !is_host {
            let message = format!(
                "\"{text}\" is not a host: expected \"origin\" for the host of the origin's URL, or a name such as \"shop.example\""
            );
            return Err(self.document.mistake(host.span(), message));
        }
        let authority = text.to_ascii_lowercase().parse();
        authority
            .map(OriginHost::Name)
            .map_err(|_| self.document.mistake(host.span(), format!("\"{text}\" is not a host")))
    }

    fn set(
        &self,
        name: &str,
        value: &Spanned<SecretSpec>,
        is_signed: bool,
    ) -> Result<(HeaderName, Secret), Diagnostic> {
        let wrong = |what: String| self.document.mistake(value.span(), what);
        let parsed = self.field(name, value.span())?;
        if parsed == header::ACCEPT_ENCODING {
            return Err(wrong(
                "Accept-Encoding cannot be set, because visitors may not accept the result: use remove"
                    .to_owned(),
            ));
        }
        if is_signed && (parsed == header::AUTHORIZATION || SIGNED.contains(&parsed.as_str())) {
            return Err(wrong(format!("origin_auth sets {parsed}: remove it from origin_headers")));
        }
        let secret = Secret::read(self.document, value);
        if HeaderValue::from_str(secret.value()).is_err() {
            return Err(wrong(format!(
                "the value of {parsed} has characters that a field cannot contain: use visible ASCII"
            )));
        }
        Ok((parsed, secret))
    }

    fn field(&self, name: &str, place: Range<usize>) -> Result<HeaderName, Diagnostic> {
        let wrong = |what: String| Err(self.document.mistake(place.clone(), what));
        let Ok(parsed) = name.parse::<HeaderName>() else {
            return wrong(format!("\"{name}\" is not a field's name, such as \"X-Key\""));
        };
        if parsed == header::HOST {
            return wrong("Host cannot be in origin_headers: use origin_host".to_owned());
        }
        if is_hop_by_hop(parsed.as_str())
            || internal_headers::is_internal(parsed.as_str().as_bytes())
            || RESERVED.contains(&parsed)
        {
            return wrong(format!("{parsed} cannot be in origin_headers: the edge itself needs this field"));
        }
        Ok(parsed)
    }

    fn auth(&self, written: &AuthSpec) -> Result<OriginAuth, Diagnostic> {
        let SigV4Spec { region, service, access_key, secret_key, session_token } = &written.sigv4;
        for part in [region, service] {
            let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
            if part.get_ref().is_empty() || !part.get_ref().bytes().all(is_letter) {
                let message = format!(
                    "\"{}\" is not a region or service of AWS, such as \"eu-central-1\" or \"s3\"",
                    part.get_ref()
                );
                return Err(self.document.mistake(part.span(), message));
            }
        }
        let secret = |written: &Spanned<SecretSpec>| Secret::read(self.document, written);
        for part in [Some(access_key), session_token.as_ref()].into_iter().flatten() {
            if HeaderValue::from_str(secret(part).value()).is_err() {
                let message = "the key has characters that a field cannot contain: use visible ASCII";
                return Err(self.document.mistake(part.span(), message));
            }
        }
        Ok(OriginAuth {
            region: region.get_ref().clone(),
            service: service.get_ref().clone(),
            access_key: secret(access_key),
            secret_key: secret(secret_key),
            session_token: session_token.as_ref().map(secret),
        })
    }
}

fn has_port(text: &str, host: &str) -> bool {
    let port = text.strip_prefix(host).and_then(|rest| rest.strip_prefix(':'));
    port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

const SIGNED: [&str; 3] = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"];

/// Fields of framing and loop detection, and fields that the cache sets in requests.
const RESERVED: [HeaderName; 11] = [
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::EXPECT,
    header::VIA,
    HeaderName::from_static("cdn-loop"),
    header::RANGE,
    header::IF_RANGE,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
];
