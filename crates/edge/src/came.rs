//! What data centres tell one another in the fields of a request over a link, and of its response.
//!
//! All of these names are the network's own (`cache::internal`): visitors' are cleared before anything is looked at, and so is what goes to
//! origins and visitors. They count only from a caller whose certificate says that it is the data centre that it names.

pub(crate) mod plain;

use std::net::SocketAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Scheme};
use tiers::{KeyHash, Role};

use crate::digits::{push_hex, push_socket};

/// A request that came from another data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Came {
    /// As what this one is asked.
    pub(crate) role: Role,
    /// The names of the data centres through which it came, at least one; the last one sent it.
    pub(crate) through: Vec<String>,
    /// The name of its zone.
    pub(crate) zone: String,
    /// What its sender takes for its key.
    pub(crate) key: KeyHash,
    /// Its visitor.
    pub(crate) visitor: SocketAddr,
    /// How that one came.
    pub(crate) scheme: Scheme,
}

/// What is wrong with a request over a link, for its sender's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Wrong {
    /// A field is missing, or not what it should be.
    #[error("its field {0} is missing or wrong")]
    Field(&'static str),
    /// It is in another version of what is agreed on here.
    #[error("it is in another version of this protocol")]
    Version,
}

impl Came {
    /// The data centre that sent it.
    pub(crate) fn sender(&self) -> &str {
        self.through.last().map_or("", String::as_str)
    }

    /// Puts it down in a header.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let mut set = |name: HeaderName, value: String, often: Often| {
            // Names are tokens, and all else is digits.
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

    /// Reads it from a header.
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

/// What all requests say that come by the same way.
struct Way<'t> {
    role: Role,
    scheme: Scheme,
    /// Names of data centres, with commas between them.
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

/// The key of an object, and the visitor who asks for it.
fn object(text: &str) -> Option<(KeyHash, SocketAddr)> {
    let (digits, visitor) = text.split_once(' ')?;
    let digits = Some(digits).filter(|digits| digits.len() == 16)?;
    Some((KeyHash(u64::from_str_radix(digits, 16).ok()?), visitor.parse().ok()?))
}

/// How often a value is said on a connection: one that is said once has no place in its table of fields, from which it would push others, and
/// from which it would be taken at each end (RFC 7541 section 6.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Often {
    Once,
    Again,
}

/// Whether what is read of a header is the same when it is written and read again; `None` if nothing is. For the fuzz target.
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

/// Nobody is asked as a lower tier.
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

/// Data centres that a request goes through at most. More tiers than an operator's map has in practice; and what no loop gets past.
pub(crate) const MOST_HOPS: usize = 16;

/// As long as a label of a name in DNS.
const LONGEST_NAME: usize = 63;

/// Bytes that most of what is written has at most.
const USUAL: usize = 64;

const CURRENT: &str = "2";
/// The version of what is agreed on here, as what the receiver is asked, how the visitor came, the data centres, and the zone.
const WAY: HeaderName = HeaderName::from_static("lh-tier-path");
/// The key and the visitor.
const OBJECT: HeaderName = HeaderName::from_static("lh-cache-key");

/// Of a request: what it is about, if not an object.
pub(crate) const KIND: HeaderName = HeaderName::from_static("lh-request-kind");
/// Of a request that tells what was purged.
pub(crate) const PURGES: HeaderValue = HeaderValue::from_static("purges");
/// Of a request that is about keys and values.
pub(crate) const VALUES: HeaderValue = HeaderValue::from_static("values");
/// Of a request: how far its sender has heard of purges. Of a response: the same, if its sender is not where the other one is.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("lh-purge-epoch");
/// Of a request without an object: who sends it.
pub(crate) const NODE: HeaderName = HeaderName::from_static("lh-peer-node");
/// Of a request: on which connection it comes. Of a response: that it is to be asked for on the other one.
pub(crate) const LANE: HeaderName = HeaderName::from_static("lh-fill-priority");
/// The connection for large bodies.
pub(crate) const BULK: HeaderValue = HeaderValue::from_static("bulk");
/// Bytes from which a body is sent on the connection for large ones: a tenth of a second at 84 Mbit/s.
pub(crate) const LARGE: u64 = 1 << 20;
/// Of a request: which protocol the origin is asked for instead of HTTP, in the bodies of both. Of a response: to which it agreed.
pub(crate) const SWITCH: HeaderName = HeaderName::from_static("lh-origin-protocol");
/// Of a response: from whose store it is, or "origin"; without it, it is from its sender's.
pub(crate) const TIER: HeaderName = HeaderName::from_static("lh-cache-tier");
/// Of a response: the data centre has none, for the reason that this word says.
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
            // A flow label is not said.
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
                // Whatever is taken says the same when it is written.
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
