//! Internal header fields of requests between data centres, and of their responses.
//!
//! All names are reserved for the network (`http_cache::internal`): they are removed from users'
//! requests and from messages to origins and users. They are accepted only from a peer whose
//! certificate contains the name of the data centre that the field claims.

pub(crate) mod forwarded_request_ref;

use std::net::SocketAddr;

use http_stack::{HeaderMap, HeaderName, HeaderValue, Scheme};
use tier_routing::{KeyHash, Role};

use crate::util::format::{push_hex, push_socket};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForwardedRequest {
    pub(crate) role: Role,
    /// The data centres that the request has passed, at least one; the last one is the sender.
    pub(crate) through: Vec<String>,
    pub(crate) zone: String,
    pub(crate) key: KeyHash,
    pub(crate) client: SocketAddr,
    pub(crate) scheme: Scheme,
    /// The matching rules, if the sender may have changed the request.
    pub(crate) rules: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("its field {0} is missing or malformed")]
    Field(&'static str),
    #[error("it uses another version of this protocol")]
    Version,
}

impl ForwardedRequest {
    pub(crate) fn sender(&self) -> &str {
        self.through.last().map_or("", String::as_str)
    }

    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let mut set = |name: HeaderName, value: String, often: HpackIndexing| {
            // Cannot fail: names are tokens, and everything else is digits.
            if let Ok(mut value) = HeaderValue::try_from(value) {
                value.set_sensitive(often == HpackIndexing::NeverIndexed);
                headers.insert(name, value);
            }
        };
        let mut tier_path = String::with_capacity(TYPICAL_BYTES);
        tier_path.extend([PROTOCOL_VERSION, " "]);
        push_role(&mut tier_path, self.role);
        tier_path.extend([" ", self.scheme.name(), " ", &self.through.join(","), " ", &self.zone]);
        set(TIER_PATH, tier_path, HpackIndexing::Indexed);
        let mut object = String::with_capacity(TYPICAL_BYTES);
        push_hex(&mut object, self.key.0);
        object.push(' ');
        push_socket(&mut object, self.client);
        set(CACHE_KEY, object, HpackIndexing::NeverIndexed);
        if let Some(rules) = &self.rules {
            set(RULE_PLACE, rules.clone(), HpackIndexing::Indexed);
        }
    }

    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, HeaderError> {
        let field = |name: HeaderName| {
            let mut lines = headers.get_all(&name).iter();
            lines.next().filter(|_| lines.next().is_none()).and_then(|line| line.to_str().ok())
        };
        let TierPath { role, scheme, path, zone } =
            TierPath::read(field(TIER_PATH).ok_or(HeaderError::Version)?)?;
        let (key, client) =
            field(CACHE_KEY).and_then(read_cache_key).ok_or(HeaderError::Field("lh-cache-key"))?;
        let through = path.split(',').map(str::to_owned).collect();
        let rules = match headers.contains_key(RULE_PLACE) {
            true => Some(field(RULE_PLACE).ok_or(HeaderError::Field("lh-rule-place"))?.to_owned()),
            false => None,
        };
        Ok(Self { role, through, zone: zone.to_owned(), key, client, scheme, rules })
    }
}

struct TierPath<'t> {
    role: Role,
    scheme: Scheme,
    path: &'t str,
    zone: &'t str,
}

impl<'t> TierPath<'t> {
    fn read(text: &'t str) -> Result<Self, HeaderError> {
        let mut words = text.splitn(5, ' ');
        if words.next() != Some(PROTOCOL_VERSION) {
            return Err(HeaderError::Version);
        }
        let mut read = || {
            let (role, scheme) = (parse_role(words.next()?)?, parse_scheme(words.next()?)?);
            let (path, zone) = (words.next()?, words.next()?);
            let is_path = path.split(',').count() <= MAX_HOPS && path.split(',').all(is_name);
            is_path.then_some(Self { role, scheme, path, zone })
        };
        read().ok_or(HeaderError::Field("lh-tier-path"))
    }
}

fn read_cache_key(text: &str) -> Option<(KeyHash, SocketAddr)> {
    let (digits, client) = text.split_once(' ')?;
    let digits = Some(digits).filter(|digits| digits.len() == 16)?;
    Some((KeyHash(u64::from_str_radix(digits, 16).ok()?), client.parse().ok()?))
}

/// A unique value must not enter the HPACK table, where it would displace others: it is sent as
/// never indexed (RFC 7541 section 6.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HpackIndexing {
    NeverIndexed,
    Indexed,
}

/// Whether parsed fields survive serialisation; `None` if they cannot be parsed. For the fuzz
/// target.
pub fn forwarded_request_round_trips(headers: &HeaderMap) -> Option<bool> {
    let forwarded = ForwardedRequest::read(headers).ok()?;
    let mut again = HeaderMap::new();
    forwarded.write(&mut again);
    Some(ForwardedRequest::read(&again) == Ok(forwarded))
}

fn is_name(name: &str) -> bool {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_plain)
}

fn push_role(text: &mut String, role: Role) {
    text.push_str(match role {
        Role::Lower => "lower",
        Role::Regional => "regional",
        Role::Upper(_) => "upper-",
        Role::Former => "former",
        Role::Detour => "detour",
    });
    if let Role::Upper(step) = role {
        text.push_str(itoa::Buffer::new().format(step));
    }
}

/// `Lower` is invalid: it is the role of the user's data centre.
fn parse_role(word: &str) -> Option<Role> {
    Some(match word {
        "regional" => Role::Regional,
        "former" => Role::Former,
        "detour" => Role::Detour,
        upper => Role::Upper(upper.strip_prefix("upper-")?.parse().ok().filter(|step| *step > 0)?),
    })
}

fn parse_scheme(word: &str) -> Option<Scheme> {
    match word {
        "http" => Some(Scheme::Http),
        "https" => Some(Scheme::Https),
        _ => None,
    }
}

/// More than real tier maps have; it also stops loops.
pub(crate) const MAX_HOPS: usize = 16;

/// The length limit of a DNS label.
const MAX_NAME_BYTES: usize = 63;

const TYPICAL_BYTES: usize = 64;

const PROTOCOL_VERSION: &str = "2";
/// The protocol version, the role of the receiver, the scheme, the path, and the zone.
const TIER_PATH: HeaderName = HeaderName::from_static("lh-tier-path");
/// The cache key and the address of the user.
const CACHE_KEY: HeaderName = HeaderName::from_static("lh-cache-key");
/// The hash of the zone's rules, and the indices of the rules that match the client's request.
const RULE_PLACE: HeaderName = HeaderName::from_static("lh-rule-place");

/// Request: its kind, if it is not for an object.
pub(crate) const REQUEST_KIND: HeaderName = HeaderName::from_static("lh-request-kind");
pub(crate) const KIND_PURGES: HeaderValue = HeaderValue::from_static("purges");
pub(crate) const KIND_VALUES: HeaderValue = HeaderValue::from_static("values");
/// Request: the purge position of the sender. Response: the position of the responder, if it
/// differs.
pub(crate) const PURGE_EPOCH: HeaderName = HeaderName::from_static("lh-purge-epoch");
/// Request that is not for an object: the name of the sender.
pub(crate) const PEER_NODE: HeaderName = HeaderName::from_static("lh-peer-node");
/// Request: its traffic class. Response: the request must be repeated in the other class.
pub(crate) const FILL_PRIORITY: HeaderName = HeaderName::from_static("lh-fill-priority");
pub(crate) const PRIORITY_BULK: HeaderValue = HeaderValue::from_static("bulk");
/// A tenth of a second at 84 Mbit/s.
pub(crate) const BULK_THRESHOLD: u64 = 1 << 20;
/// Request: the protocol to which the origin should switch. Response: the accepted one.
pub(crate) const ORIGIN_PROTOCOL: HeaderName = HeaderName::from_static("lh-origin-protocol");
/// Response: the data centre whose store supplied it, or `origin`; if missing, the sender's store.
pub(crate) const CACHE_TIER: HeaderName = HeaderName::from_static("lh-cache-tier");
/// Response: the reason why the data centre has no response of the origin.
pub(crate) const ROUTE_REASON: HeaderName = HeaderName::from_static("lh-route-reason");

/// The body is stored, or is being stored, so that a later request from the peer hits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredMarker;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn roles() -> impl Strategy<Value = Role> {
        prop_oneof![
            Just(Role::Regional),
            (1..=u16::MAX).prop_map(Role::Upper),
            Just(Role::Former),
            Just(Role::Detour),
        ]
    }

    proptest! {
        #[test]
        fn headers_round_trip(
            role in roles(),
            through in prop::collection::vec("[a-z0-9._-]{1,20}", 1..MAX_HOPS),
            key: u64,
            client: SocketAddr,
            is_secure: bool,
            rules in prop::option::of("[0-9a-f]{16}( [0-9,?]{1,20})?"),
        ) {
            let scheme = if is_secure { Scheme::Https } else { Scheme::Http };
            let client = SocketAddr::new(client.ip(), client.port());
            let forwarded = ForwardedRequest { role, through, zone: "shop".into(), key: KeyHash(key), client, scheme, rules };
            let mut headers = HeaderMap::new();
            forwarded.write(&mut headers);
            prop_assert!(headers.keys().all(|name| http_cache::internal_headers::is_internal(name.as_str().as_bytes())));
            prop_assert_eq!(ForwardedRequest::read(&headers), Ok(forwarded));
        }

        #[test]
        fn malformed_headers_are_rejected(
            name in 0..2_usize,
            value in "[ -~]{0,40}|(2 )?(upper-1|regional) https? [a-z,]{0,9} ?[a-z ]{0,9}",
        ) {
            let name = [TIER_PATH, CACHE_KEY][name].clone();
            let mut headers = HeaderMap::new();
            let client = ([192, 0, 2, 1], 5).into();
            let (through, zone) = (vec!["lhr".to_owned()], "shop".to_owned());
            let forwarded = ForwardedRequest { role: Role::Former, through, zone, key: KeyHash(1), client, scheme: Scheme::Http, rules: None };
            forwarded.write(&mut headers);
            headers.insert(name.clone(), value.parse().unwrap());
            if let Ok(read) = ForwardedRequest::read(&headers) {
                let mut again = HeaderMap::new();
                read.write(&mut again);
                prop_assert_eq!(ForwardedRequest::read(&again), Ok(read));
            }
            headers.remove(&name);
            prop_assert!(ForwardedRequest::read(&headers).is_err());
        }
    }

    #[test]
    fn per_request_values_are_never_indexed() {
        let (role, through, zone) = (Role::Upper(1), vec!["lhr".to_owned()], "shop".to_owned());
        let (key, client) = (KeyHash(1), ([192, 0, 2, 1], 5).into());
        let mut headers = HeaderMap::new();
        ForwardedRequest { role, through, zone, key, client, scheme: Scheme::Http, rules: None }
            .write(&mut headers);
        let kept_out = headers.iter().filter(|(_, value)| value.is_sensitive());
        assert!(kept_out.map(|(name, _)| name).eq(&[CACHE_KEY]));
    }

    #[test]
    fn lower_role_and_too_many_hops_are_rejected() {
        let client = ([192, 0, 2, 1], 5).into();
        let of = |role, hops| ForwardedRequest {
            role,
            through: vec!["a".into(); hops],
            zone: "z".into(),
            key: KeyHash(0),
            client,
            scheme: Scheme::Http,
            rules: None,
        };
        for forwarded in [of(Role::Lower, 1), of(Role::Former, MAX_HOPS + 1)] {
            let mut headers = HeaderMap::new();
            forwarded.write(&mut headers);
            assert_eq!(ForwardedRequest::read(&headers), Err(HeaderError::Field("lh-tier-path")));
        }
    }
}
