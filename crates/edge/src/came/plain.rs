//! A peer's request for a whole object, parsed without copies for the synchronous hit path.

use http::{HeaderName, Scheme};
use tiers::KeyHash;

use super::{KIND, LANE, OBJECT, POSITION, SWITCH, WAY, Way, object};
use crate::{
    likeness::is_telling,
    visit::{CDN_LOOP, is_member},
};

/// The fields of such a request. They must not be trusted before the sender is authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain<'h> {
    /// Comma-separated names of the data centres on the path.
    path: &'h str,
    pub(crate) zone: &'h str,
    /// The cache key as computed by the sender.
    pub(crate) key: KeyHash,
    pub(crate) scheme: Scheme,
    pub(crate) position: Option<&'h [u8]>,
    /// The value of CDN-Loop; empty if the field is missing.
    cdn_loop: &'h str,
}

impl<'h> Plain<'h> {
    /// `None` if the request needs the general path, is malformed, or has a repeated field.
    /// [`super::Came::read`] then handles it.
    pub(crate) fn read(fields: impl Iterator<Item = (&'h str, &'h [u8])>) -> Option<Self> {
        let mut said = [None; OWN.len()];
        for (name, value) in fields {
            if let Some(at) = OWN.iter().position(|own| own.as_str() == name) {
                if said[at].replace(value).is_some() {
                    return None;
                }
            } else if is_telling(name) || ELSE.iter().any(|other| other.as_str() == name) {
                return None;
            }
        }
        let [way, asked, position, cdn_loop] = said;
        let text = |value: Option<&'h [u8]>| str::from_utf8(value?).ok();
        let Way { scheme, path, zone, .. } = Way::read(text(way)?).ok()?;
        let (key, _) = object(text(asked)?)?;
        let cdn_loop = cdn_loop.map_or(Some(""), |line| str::from_utf8(line).ok())?;
        Some(Self { path, zone, key, scheme, position, cdn_loop })
    }

    pub(crate) fn sender(&self) -> &'h str {
        self.path.rsplit(',').next().unwrap_or_default()
    }

    /// Whether the request has already passed this data centre of this network.
    pub(crate) fn was_at(&self, network: &str, centre: &str) -> bool {
        self.path.split(',').any(|name| name.eq_ignore_ascii_case(centre))
            || is_member(self.cdn_loop, network, centre)
    }
}

/// Fields of a plain request, each at most once.
static OWN: [HeaderName; 4] = [WAY, OBJECT, POSITION, CDN_LOOP];

/// Fields that only other requests have.
static ELSE: [HeaderName; 3] = [KIND, LANE, SWITCH];

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use tiers::Role;

    use super::{super::Came, *};

    fn fields(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    fn header(came: &Came) -> HeaderMap {
        let mut headers = HeaderMap::new();
        came.write(&mut headers);
        headers.insert(CDN_LOOP, "other, longhaul;network=n;data-centre=lhr".parse().unwrap());
        headers.insert("accept", "*/*".parse().unwrap());
        headers
    }

    fn came() -> Came {
        Came {
            role: Role::Upper(2),
            through: vec!["lhr".into(), "fra".into()],
            zone: "shop".into(),
            key: KeyHash(77),
            visitor: ([192, 0, 2, 1], 5).into(),
            scheme: Scheme::Https,
        }
    }

    #[test]
    fn it_is_what_the_whole_of_it_says() {
        let (came, mut headers) = (came(), header(&came()));
        headers.insert(POSITION, "1:2".parse().unwrap());
        let plain = Plain::read(fields(&headers)).unwrap();
        assert_eq!((plain.sender(), plain.zone), (came.sender(), &*came.zone));
        assert_eq!((plain.key, plain.scheme, plain.position), (came.key, came.scheme, Some(&b"1:2"[..])));
        for (network, centre, was_there) in
            [("n", "LHR", true), ("m", "fra", true), ("n", "syd", false), ("n", "nyc", false)]
        {
            assert_eq!(plain.was_at(network, centre), was_there, "{network} {centre}");
        }
        // Detected by CDN-Loop alone.
        let elsewhere = header(&Came { through: vec!["ams".into()], ..came });
        let plain = Plain::read(fields(&elsewhere)).unwrap();
        assert_eq!([("n", "lhr"), ("m", "lhr")].map(|(n, c)| plain.was_at(n, c)), [true, false]);
    }

    #[test]
    fn what_asks_for_more_or_is_not_as_agreed_is_none() {
        let came = came();
        assert!(Plain::read(fields(&header(&came))).is_some());
        for name in &OWN[..2] {
            let (mut without, mut twice, mut wrong) = (header(&came), header(&came), header(&came));
            without.remove(name);
            twice.append(name, twice[name].clone());
            wrong.insert(name, "?, ".parse().unwrap());
            for headers in [&without, &twice, &wrong] {
                assert_eq!(Plain::read(fields(headers)), None, "{headers:?}");
                assert!(Came::read(headers).is_err(), "{headers:?}");
            }
        }
        for name in ["range", "if-none-match", "cache-control", "authorization"] {
            let mut more = header(&came);
            more.insert(name, "x".parse().unwrap());
            assert_eq!(Plain::read(fields(&more)), None, "{name}");
        }
        for name in &ELSE {
            let mut other = header(&came);
            other.insert(name, "x".parse().unwrap());
            assert_eq!(Plain::read(fields(&other)), None, "{name}");
        }
    }
}
