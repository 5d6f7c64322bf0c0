//! A peer's request for a whole object, parsed without copies for the synchronous hit path.

use http_stack::{HeaderName, Scheme};
use tier_routing::KeyHash;

use super::{
    CACHE_KEY, FILL_PRIORITY, ORIGIN_PROTOCOL, PURGE_EPOCH, REQUEST_KIND, RULE_PLACE, TIER_PATH, TierPath,
    read_cache_key,
};
use crate::{
    fast_path::fingerprint::is_cache_relevant,
    request::context::{CDN_LOOP, is_member},
};

/// Must not be trusted before the sender is authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ForwardedRequestRef<'h> {
    path: &'h str,
    pub(crate) zone: &'h str,
    pub(crate) key: KeyHash,
    pub(crate) scheme: Scheme,
    pub(crate) position: Option<&'h [u8]>,
    pub(crate) rules: Option<&'h str>,
    cdn_loop: &'h str,
}

impl<'h> ForwardedRequestRef<'h> {
    /// `None` if the request needs the general path, is malformed, or has a repeated field.
    /// [`super::ForwardedRequest::read`] then handles it.
    pub(crate) fn read(fields: impl Iterator<Item = (&'h str, &'h [u8])>) -> Option<Self> {
        let mut values = [None; READ_HEADERS.len()];
        for (name, value) in fields {
            if let Some(at) = READ_HEADERS.iter().position(|own| own.as_str() == name) {
                if values[at].replace(value).is_some() {
                    return None;
                }
            } else if is_cache_relevant(name)
                || UNSUPPORTED_HEADERS.iter().any(|other| other.as_str() == name)
            {
                return None;
            }
        }
        let [tier_path, cache_key, position, cdn_loop, rules] = values;
        let text = |value: Option<&'h [u8]>| str::from_utf8(value?).ok();
        let TierPath { scheme, path, zone, .. } = TierPath::read(text(tier_path)?).ok()?;
        let (key, _) = read_cache_key(text(cache_key)?)?;
        let cdn_loop = cdn_loop.map_or(Some(""), |line| str::from_utf8(line).ok())?;
        let rules = rules.map(str::from_utf8).transpose().ok()?;
        Some(Self { path, zone, key, scheme, position, rules, cdn_loop })
    }

    pub(crate) fn sender(&self) -> &'h str {
        self.path.rsplit(',').next().unwrap_or_default()
    }

    pub(crate) fn has_passed(&self, network: &str, centre: &str) -> bool {
        self.path.split(',').any(|name| name.eq_ignore_ascii_case(centre))
            || is_member(self.cdn_loop, network, centre)
    }
}

static READ_HEADERS: [HeaderName; 5] = [TIER_PATH, CACHE_KEY, PURGE_EPOCH, CDN_LOOP, RULE_PLACE];

static UNSUPPORTED_HEADERS: [HeaderName; 3] = [REQUEST_KIND, FILL_PRIORITY, ORIGIN_PROTOCOL];

#[cfg(test)]
mod tests {
    use http_stack::HeaderMap;
    use tier_routing::Role;

    use super::*;
    use crate::peers::headers::ForwardedRequest;

    fn fields(headers: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    fn header(forwarded: &ForwardedRequest) -> HeaderMap {
        let mut headers = HeaderMap::new();
        forwarded.write(&mut headers);
        headers.insert(CDN_LOOP, "other, longhaul;network=n;data-centre=lhr".parse().unwrap());
        headers.insert("accept", "*/*".parse().unwrap());
        headers
    }

    fn came() -> ForwardedRequest {
        ForwardedRequest {
            role: Role::Upper(2),
            through: vec!["lhr".into(), "fra".into()],
            zone: "shop".into(),
            key: KeyHash(77),
            client: ([192, 0, 2, 1], 5).into(),
            scheme: Scheme::Https,
            rules: Some("00000000000000ff 1,2?".into()),
        }
    }

    #[test]
    fn borrowed_parse_equals_full_parse() {
        let (forwarded, mut headers) = (came(), header(&came()));
        headers.insert(PURGE_EPOCH, "1:2".parse().unwrap());
        let plain = ForwardedRequestRef::read(fields(&headers)).unwrap();
        assert_eq!((plain.sender(), plain.zone), (forwarded.sender(), &*forwarded.zone));
        assert_eq!(
            (plain.key, plain.scheme, plain.position),
            (forwarded.key, forwarded.scheme, Some(&b"1:2"[..]))
        );
        for (network, centre, was_there) in
            [("n", "LHR", true), ("m", "fra", true), ("n", "syd", false), ("n", "nyc", false)]
        {
            assert_eq!(plain.has_passed(network, centre), was_there, "{network} {centre}");
        }
        let elsewhere = header(&ForwardedRequest { through: vec!["ams".into()], ..forwarded });
        let plain = ForwardedRequestRef::read(fields(&elsewhere)).unwrap();
        assert_eq!([("n", "lhr"), ("m", "lhr")].map(|(n, c)| plain.has_passed(n, c)), [true, false]);
    }

    #[test]
    fn unsupported_or_malformed_requests_are_none() {
        let forwarded = came();
        assert!(ForwardedRequestRef::read(fields(&header(&forwarded))).is_some());
        for name in &READ_HEADERS[..2] {
            let (mut without, mut twice, mut wrong) =
                (header(&forwarded), header(&forwarded), header(&forwarded));
            without.remove(name);
            twice.append(name, twice[name].clone());
            wrong.insert(name, "?, ".parse().unwrap());
            for headers in [&without, &twice, &wrong] {
                assert_eq!(ForwardedRequestRef::read(fields(headers)), None, "{headers:?}");
                assert!(ForwardedRequest::read(headers).is_err(), "{headers:?}");
            }
        }
        for name in ["range", "if-none-match", "cache-control", "authorization"] {
            let mut more = header(&forwarded);
            more.insert(name, "x".parse().unwrap());
            assert_eq!(ForwardedRequestRef::read(fields(&more)), None, "{name}");
        }
        for name in &UNSUPPORTED_HEADERS {
            let mut other = header(&forwarded);
            other.insert(name, "x".parse().unwrap());
            assert_eq!(ForwardedRequestRef::read(fields(&other)), None, "{name}");
        }
    }
}
