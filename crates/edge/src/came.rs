//! Internal header fields of requests between data centres, and of their responses.
//!
//! All names are reserved for the network (`cache::internal`). They are removed from users' requests on
//! receipt, and from requests to origins and responses to users. They are accepted only from a peer whose
//! certificate contains the name of the data centre that the field claims.

pub(crate) mod plain;

use std::net::SocketAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Scheme};
use tiers::{KeyHash, Role};

use crate::digits::{push_hex, push_socket};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Came {
    /// The role of the receiver.
    pub(crate) role: Role,
    /// The data centres that the request has passed, at least one; the last one is the sender.
    pub(crate) through: Vec<String>,
    pub(crate) zone: String,
    /// The cache key as computed by the sender.
    pub(crate) key: KeyHash,
    pub(crate) visitor: SocketAddr,
    pub(crate) scheme: Scheme,
}

/// The error of an invalid request over a link; it is logged by the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("its field {0} is missing or malformed")]
    Field(&'static str),
    #[error("it uses another version of this protocol")]
    Version,
}

impl Came {
    pub(crate) fn sender(&self) -> &str {
        self.through.last().map_or("", String::as_str)
    }

    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let mut set = |name: HeaderName, value: String, often: Often| {
            // Cannot fail: names are tokens, and everything else is digits.
            if let Ok(mut value) = HeaderValue::try_from(value) {
                value.set_sensitive(often == Often::Once);
                headers.insert(name, value);
            }
        };
        let mut way = String::with_capacity(USUAL);
        way.extend([CURRENT, " "]);
        push_role(&mut way, self.role);
        way.extend([" ", self.scheme.name(), " ", &self.through.join(","), " ", &self.zone]);
        set(WAY, way, Often::Again);
        let mut object = String::with_capacity(USUAL);
        push_hex(&mut object, self.key.0);
        object.push(' ');
        push_socket(&mut object, self.visitor);
        set(OBJECT, object, Often::Once);
    }

    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Wrong> {
        let field = |name: HeaderName| {
            let mut lines = headers.get_all(&name).iter();
            lines.next().filter(|_| lines.next().is_none()).and_then(|line| line.to_str().ok())
        };
        let Way { role, scheme, path, zone } = Way::read(field(WAY).ok_or(Wrong::Version)?)?;
        let (key, visitor) = field(OBJECT).and_then(object).ok_or(Wrong::Field("lh-cache-key"))?;
        let through = path.split(',').map(str::to_owned).collect();
        Ok(Self { role, through, zone: zone.to_owned(), key, visitor, scheme })
    }
}

/// The part that is the same for all requests on a route.
struct Way<'t> {
    role: Role,
    scheme: Scheme,
    /// Comma-separated names of data centres.
    path: &'t str,
    zone: &'t str,
}

impl<'t> Way<'t> {
    fn read(text: &'t str) -> Result<Self, Wrong> {
        let mut words = text.splitn(5, ' ');
        if words.next() != Some(CURRENT) {
            return Err(Wrong::Version);
        }
        let mut read = || {
            let (role, scheme) = (role(words.next()?)?, scheme(words.next()?)?);
            let (path, zone) = (words.next()?, words.next()?);
            let is_path = path.split(',').count() <= MOST_HOPS && path.split(',').all(is_name);
            is_path.then_some(Self { role, scheme, path, zone })
        };
        read().ok_or(Wrong::Field("lh-tier-path"))
    }
}

fn object(text: &str) -> Option<(KeyHash, SocketAddr)> {
    let (digits, visitor) = text.split_once(' ')?;
    let digits = Some(digits).filter(|digits| digits.len() == 16)?;
    Some((KeyHash(u64::from_str_radix(digits, 16).ok()?), visitor.parse().ok()?))
}

/// Whether a field value recurs on a connection. A unique value must not enter the HPACK table, where it
/// would displace others and cost time at both ends: it is sent as never indexed (RFC 7541 section 6.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Often {
    Once,
    Again,
}

/// Whether parsed fields survive serialisation; `None` if they cannot be parsed. For the fuzz target.
pub fn is_read_as_written(headers: &HeaderMap) -> Option<bool> {
    let came = Came::read(headers).ok()?;
    let mut again = HeaderMap::new();
    came.write(&mut again);
    Some(Came::read(&again) == Ok(came))
}

fn is_name(name: &str) -> bool {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_plain)
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

/// Parses a role. `Lower` is invalid: it is the role of the user's data centre.
fn role(word: &str) -> Option<Role> {
    Some(match word {
        "regional" => Role::Regional,
        "former" => Role::Former,
        "detour" => Role::Detour,
        upper => Role::Upper(upper.strip_prefix("upper-")?.parse().ok().filter(|step| *step > 0)?),
    })
}

fn scheme(word: &str) -> Option<Scheme> {
    match word {
        "http" => Some(Scheme::Http),
        "https" => Some(Scheme::Https),
        _ => None,
    }
}

/// The maximum number of data centres on a path. More than real tier maps have; it also stops loops.
pub(crate) const MOST_HOPS: usize = 16;

/// The length limit of a DNS label.
const LONGEST_NAME: usize = 63;

/// The usual maximum size of a field value, bytes.
const USUAL: usize = 64;

const CURRENT: &str = "2";
/// The protocol version, the role of the receiver, the scheme, the path, and the zone.
const WAY: HeaderName = HeaderName::from_static("lh-tier-path");
/// The cache key and the address of the user.
const OBJECT: HeaderName = HeaderName::from_static("lh-cache-key");

/// Request: its kind, if it is not for an object.
pub(crate) const KIND: HeaderName = HeaderName::from_static("lh-request-kind");
pub(crate) const PURGES: HeaderValue = HeaderValue::from_static("purges");
pub(crate) const VALUES: HeaderValue = HeaderValue::from_static("values");
/// Request: the purge position of the sender. Response: the position of the responder, if it differs.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("lh-purge-epoch");
/// Request that is not for an object: the name of the sender.
pub(crate) const NODE: HeaderName = HeaderName::from_static("lh-peer-node");
/// Request: the lane on which it is sent. Response: the request must be repeated on the other lane.
pub(crate) const LANE: HeaderName = HeaderName::from_static("lh-fill-priority");
pub(crate) const BULK: HeaderValue = HeaderValue::from_static("bulk");
/// The minimum size of a large body, bytes: a tenth of a second at 84 Mbit/s.
pub(crate) const LARGE: u64 = 1 << 20;
/// Request: the protocol to which the origin should switch; both bodies carry its data. Response: the
/// accepted one.
pub(crate) const SWITCH: HeaderName = HeaderName::from_static("lh-origin-protocol");
/// Response: the data centre whose store supplied it, or `origin`; if missing, the sender's store.
pub(crate) const TIER: HeaderName = HeaderName::from_static("lh-cache-tier");
/// Response: the reason why the data centre has no response of the origin.
pub(crate) const REFUSED: HeaderName = HeaderName::from_static("lh-route-reason");

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
        fn what_is_read_is_what_was_written(
            role in roles(),
            through in prop::collection::vec("[a-z0-9._-]{1,20}", 1..MOST_HOPS),
            key: u64,
            visitor: SocketAddr,
            is_secure: bool,
        ) {
            let scheme = if is_secure { Scheme::Https } else { Scheme::Http };
            // The flow label is not transmitted.
            let visitor = SocketAddr::new(visitor.ip(), visitor.port());
            let came = Came { role, through, zone: "shop".into(), key: KeyHash(key), visitor, scheme };
            let mut headers = HeaderMap::new();
            came.write(&mut headers);
            prop_assert!(headers.keys().all(|name| cache::internal::is_internal(name.as_str().as_bytes())));
            prop_assert_eq!(Came::read(&headers), Ok(came));
        }

        #[test]
        fn a_field_that_is_wrong_is_refused(
            name in 0..2_usize,
            value in "[ -~]{0,40}|(2 )?(upper-1|regional) https? [a-z,]{0,9} ?[a-z ]{0,9}",
        ) {
            let name = [WAY, OBJECT][name].clone();
            let mut headers = HeaderMap::new();
            let visitor = ([192, 0, 2, 1], 5).into();
            let (through, zone) = (vec!["lhr".to_owned()], "shop".to_owned());
            let came = Came { role: Role::Former, through, zone, key: KeyHash(1), visitor, scheme: Scheme::Http };
            came.write(&mut headers);
            headers.insert(name.clone(), value.parse().unwrap());
            if let Ok(read) = Came::read(&headers) {
                // A parsed value must survive serialisation.
                let mut again = HeaderMap::new();
                read.write(&mut again);
                prop_assert_eq!(Came::read(&again), Ok(read));
            }
            headers.remove(&name);
            prop_assert!(Came::read(&headers).is_err());
        }
    }

    #[test]
    fn what_differs_from_request_to_request_is_kept_out_of_the_tables_of_connections() {
        let (role, through, zone) = (Role::Upper(1), vec!["lhr".to_owned()], "shop".to_owned());
        let (key, visitor) = (KeyHash(1), ([192, 0, 2, 1], 5).into());
        let mut headers = HeaderMap::new();
        Came { role, through, zone, key, visitor, scheme: Scheme::Http }.write(&mut headers);
        let kept_out = headers.iter().filter(|(_, value)| value.is_sensitive());
        assert!(kept_out.map(|(name, _)| name).eq(&[OBJECT]));
    }

    #[test]
    fn nobody_is_asked_as_the_visitors_own_data_centre_or_by_too_many() {
        let visitor = ([192, 0, 2, 1], 5).into();
        let of = |role, hops| Came {
            role,
            through: vec!["a".into(); hops],
            zone: "z".into(),
            key: KeyHash(0),
            visitor,
            scheme: Scheme::Http,
        };
        for came in [of(Role::Lower, 1), of(Role::Former, MOST_HOPS + 1)] {
            let mut headers = HeaderMap::new();
            came.write(&mut headers);
            assert_eq!(Came::read(&headers), Err(Wrong::Field("lh-tier-path")));
        }
    }
}
