//! Compression: compressible responses, and the content coding of a request (RFC 9110 sections 8.4
//! and 12.5.3).

use http_types::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{
        ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
        IF_RANGE, RANGE, VARY,
    },
};

use crate::{
    directives::{directives, elements},
    ranges::announced,
    vary::weighed,
};

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// All codings.
    pub const ALL: [Self; 3] = [Self::Gzip, Self::Brotli, Self::Zstd];

    /// The name in Accept-Encoding and Content-Encoding.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    fn is_called(self, name: &str) -> bool {
        name == self.token() || (self == Self::Gzip && name == "x-gzip")
    }
}

/// The form in which a response is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As received, for all requests.
    Only,
    /// As received, although other requests get a coded form.
    Identity,
    /// With this content coding.
    Coded(Coding),
}

impl Form {
    /// The form of a response for a request. `preference` contains the permitted codings, best
    /// first.
    ///
    /// Ranges are served from the received form, whose validator is strong.
    pub fn of(
        request: &HeaderMap,
        (status, response): (StatusCode, &HeaderMap),
        preference: &[Coding],
    ) -> Self {
        if preference.is_empty() || status != StatusCode::OK || !is_compressible(response) {
            return Self::Only;
        }
        let coding = choose(request, preference);
        let accepts_identity =
            weight(&weighed(request, &ACCEPT_ENCODING), |name| name == "identity", WHOLE) > 0;
        let wants_part = request.contains_key(RANGE) && accepts_identity && !is_dated(request);
        match coding {
            Some(coding) if !wants_part && !forbids_change(request) => Self::Coded(coding),
            _ => Self::Identity,
        }
    }

    /// Whether this form may serve a range request. All forms share Last-Modified, so a date in
    /// If-Range does not identify one (RFC 9110 section 8.8.1).
    pub fn has_parts_for(self, request: &HeaderMap) -> bool {
        match self {
            Self::Only => true,
            Self::Identity => !is_dated(request),
            Self::Coded(_) => false,
        }
    }

    /// Adapts the header of the received response. A coded form has no Content-Length yet.
    pub fn describe(self, headers: &mut HeaderMap) {
        if self == Self::Only {
            return;
        }
        let is_told = |name: &str| name == "*" || name.eq_ignore_ascii_case(ACCEPT_ENCODING.as_str());
        if !elements(headers, &VARY).any(is_told) {
            headers.append(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        }
        let Self::Coded(coding) = self else { return };
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
        for name in OF_THE_BYTES {
            headers.remove(name);
        }
        weaken(headers);
    }
}

/// The highest weight, and the first of equal weights; `None` if the identity is preferred or
/// required.
fn choose(request: &HeaderMap, preference: &[Coding]) -> Option<Coding> {
    let accepted = weighed(request, &ACCEPT_ENCODING);
    let identity = accepted.iter().find(|(name, _)| name == "identity").map_or(0, |(_, weight)| *weight);
    let weights =
        preference.iter().map(|coding| (*coding, weight(&accepted, |name| coding.is_called(name), 0)));
    // `max_by_key` returns the last maximum.
    let best = weights.rev().max_by_key(|(_, weight)| *weight)?;
    (best.1 > 0 && best.1 >= identity).then_some(best.0)
}

/// Its entry, otherwise that of "*", otherwise `without`.
fn weight(accepted: &[(String, u16)], is_it: impl Fn(&str) -> bool, without: u16) -> u16 {
    let find = |is_it: &dyn Fn(&str) -> bool| accepted.iter().find(|(name, _)| is_it(name));
    find(&is_it).or_else(|| find(&|name| name == "*")).map_or(without, |(_, weight)| *weight)
}

fn is_compressible(response: &HeaderMap) -> bool {
    let kind = response.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    is_text(kind)
        && announced(response).is_none_or(|length| length >= SMALLEST)
        && !is_coded(response)
        && !forbids_change(response)
}

/// Whether a response has a content coding other than `identity` (RFC 9110 section 8.4.1).
pub fn is_coded(response: &HeaderMap) -> bool {
    response.get_all(CONTENT_ENCODING).iter().any(|line| names_coding(line.as_bytes()))
}

/// Whether a line of Content-Encoding contains a coding.
pub fn names_coding(line: &[u8]) -> bool {
    let mut codings = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

fn is_dated(request: &HeaderMap) -> bool {
    request.get(IF_RANGE).is_some_and(|condition| !condition.as_bytes().starts_with(b"\""))
}

/// RFC 9111 sections 5.2.1.6 and 5.2.2.6.
fn forbids_change(headers: &HeaderMap) -> bool {
    directives(headers, &CACHE_CONTROL).any(|directive| directive.name.eq_ignore_ascii_case("no-transform"))
}

fn is_text(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = kind.starts_with("text/") && kind != "text/event-stream";
    is_text
        || [".xml", "+xml", "+json", "+yaml", "+text"].iter().any(|end| kind.ends_with(end))
        || TEXT.contains(&kind.as_str())
}

/// A coded form must not have the strong validator of the received one (RFC 9110 section 8.8.1).
fn weaken(headers: &mut HeaderMap) {
    let Some(tag) = headers.remove(ETAG) else { return };
    let weak = if tag.as_bytes().starts_with(b"W/") {
        Ok(tag)
    } else {
        HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat())
    };
    if let Ok(weak) = weak {
        headers.insert(ETAG, weak);
    }
}

/// A smaller body fits into one packet anyway, and gzip adds 18 bytes.
const SMALLEST: u64 = 512;

/// RFC 9530, RFC 3230, RFC 1864, and Accept-Ranges.
const OF_THE_BYTES: [HeaderName; 6] = [
    CONTENT_LENGTH,
    ACCEPT_RANGES,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-md5"),
];

/// In addition to `text/*`, `+xml` and `+json`. WOFF and WOFF2 are compressed already.
const TEXT: [&str; 20] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/jsonl",
    "application/rtf",
    "application/toml",
    "application/vnd.apple.mpegurl",
    "application/vnd.ms-fontobject",
    "application/wasm",
    "application/x-font-ttf",
    "application/x-javascript",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
    "font/collection",
    "font/otf",
    "font/ttf",
    "image/bmp",
    "image/x-icon",
];

const WHOLE: u16 = 1000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

    fn map(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn chosen(accepted: &str) -> Option<&'static str> {
        choose(&map(&[("accept-encoding", accepted)]), &ALL).map(Coding::token)
    }

    #[test]
    fn weights_decide_and_then_the_zone() {
        for (accepted, expected) in [
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("gzip, deflate, br", Some("br")),
            ("gzip", Some("gzip")),
            ("X-GZIP", Some("gzip")),
            ("gzip;q=1.0, br;q=0.5", Some("gzip")),
            ("gzip;q=0.5, br;q=0.5, *;q=0", Some("br")),
            ("br;q=0.001", Some("br")),
            ("*", Some("zstd")),
            ("zstd;q=0, *", Some("br")),
            ("*;q=0, gzip", Some("gzip")),
            ("identity;q=0, gzip;q=0.1", Some("gzip")),
            ("identity;q=0.5, gzip;q=0.5", Some("gzip")),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0", None),
            ("gzip;q=0", None),
            ("*;q=0", None),
            ("deflate", None),
            ("", None),
        ] {
            assert_eq!(chosen(accepted), expected, "{accepted}");
        }
        assert_eq!(choose(&HeaderMap::new(), &ALL), None);
    }

    #[test]
    fn what_is_text_is_coded_and_nothing_else() {
        let request = map(&[("accept-encoding", "gzip")]);
        let form = |status, fields: &[(&'static str, &str)]| {
            Form::of(&request, (StatusCode::from_u16(status).unwrap(), &map(fields)), &ALL)
        };
        let (coded, text) = (Form::Coded(Coding::Gzip), ("content-type", "text/html; charset=utf-8"));
        for kind in [
            "text/plain",
            "Application/JSON",
            "image/svg+xml",
            "application/ld+json; x",
            "font/ttf",
            "text/javascript",
        ] {
            assert_eq!(form(200, &[("content-type", kind)]), coded, "{kind}");
        }
        for kind in [
            "image/png",
            "font/woff2",
            "application/octet-stream",
            "video/mp4",
            "application/zip",
            "text/event-stream",
            "",
            "json",
        ] {
            assert_eq!(form(200, &[("content-type", kind)]), Form::Only, "{kind}");
        }
        assert_eq!(form(200, &[text, ("content-length", "512")]), coded);
        for (status, field) in [
            (200, ("content-length", "511")),
            (200, ("content-encoding", "br")),
            (200, ("cache-control", "max-age=60, No-Transform")),
            (206, ("a", "b")),
            (404, ("a", "b")),
        ] {
            assert_eq!(form(status, &[text, field]), Form::Only, "{status} {field:?}");
        }
        for (encoding, is_coded) in [
            ("identity", false),
            ("Identity", false),
            ("", false),
            (" , identity", false),
            ("identity, gzip", true),
        ] {
            let expected = if is_coded { Form::Only } else { coded };
            assert_eq!(form(200, &[text, ("content-encoding", encoding)]), expected, "{encoding:?}");
        }
        assert_eq!(form(200, &[]), Form::Only);
        let zone_without = Form::of(&request, (StatusCode::OK, &map(&[text])), &[]);
        assert_eq!(zone_without, Form::Only);
    }

    #[test]
    fn requests_for_parts_and_for_no_change_get_it_as_it_came() {
        let response = map(&[("content-type", "text/plain")]);
        for (request, expected) in [
            (map(&[("accept-encoding", "br")]), Form::Coded(Coding::Brotli)),
            (map(&[]), Form::Identity),
            (map(&[("accept-encoding", "br"), ("range", "bytes=0-1")]), Form::Identity),
            (
                map(&[("accept-encoding", "br"), ("range", "bytes=0-1"), ("if-range", "\"a\"")]),
                Form::Identity,
            ),
            (
                map(&[
                    ("accept-encoding", "br"),
                    ("range", "bytes=0-1"),
                    ("if-range", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ]),
                Form::Coded(Coding::Brotli),
            ),
            (map(&[("accept-encoding", "br"), ("cache-control", "no-transform")]), Form::Identity),
            (
                map(&[("accept-encoding", "br, identity;q=0"), ("range", "bytes=0-1")]),
                Form::Coded(Coding::Brotli),
            ),
        ] {
            assert_eq!(Form::of(&request, (StatusCode::OK, &response), &ALL), expected, "{request:?}");
        }
    }

    #[test]
    fn a_date_is_no_condition_for_parts_of_one_of_several_forms() {
        const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        let coded = Form::Coded(Coding::Gzip);
        for (form, condition, has_parts) in [
            (Form::Only, Some(DATE), true),
            (Form::Identity, Some(DATE), false),
            (Form::Identity, Some("W/\"a\""), false),
            (Form::Identity, Some("\"a\""), true),
            (Form::Identity, None, true),
            (coded, Some("\"a\""), false),
            (coded, None, false),
        ] {
            let request = map(&condition.map(|value| ("if-range", value)).into_iter().collect::<Vec<_>>());
            assert_eq!(form.has_parts_for(&request), has_parts, "{form:?} {condition:?}");
        }
    }

    #[test]
    fn a_coded_form_says_nothing_of_the_bytes_that_came() {
        let came = [
            ("content-length", "1000"),
            ("accept-ranges", "bytes"),
            ("content-md5", "x"),
            ("repr-digest", "x"),
            ("etag", "\"a\""),
            ("vary", "cookie"),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ];
        let mut headers = map(&came);
        Form::Coded(Coding::Brotli).describe(&mut headers);
        let mut expected = map(&[
            ("content-encoding", "br"),
            ("etag", "W/\"a\""),
            ("vary", "cookie"),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]);
        expected.append("vary", HeaderValue::from_static("accept-encoding"));
        assert_eq!(headers, expected);
        Form::Coded(Coding::Brotli).describe(&mut headers);
        assert_eq!(headers, expected);

        let mut headers = map(&came);
        Form::Identity.describe(&mut headers);
        assert_eq!(
            (headers.len(), headers.get(ETAG)),
            (came.len() + 1, Some(&HeaderValue::from_static("\"a\"")))
        );
        let mut headers = map(&[("vary", "*")]);
        Form::Identity.describe(&mut headers);
        assert_eq!(headers, map(&[("vary", "*")]));
    }

    proptest! {
        #[test]
        fn what_is_chosen_is_accepted(accepted in "([a-z*]{1,8}|gzip|br|zstd)(;q=[0-9.]{1,5})?(, ?(gzip|br|zstd|identity|\\*)(;q=[01](\\.[0-9]{1,3})?)?){0,4}") {
            let request = map(&[("accept-encoding", &accepted)]);
            let weighed = weighed(&request, &ACCEPT_ENCODING);
            let named = |(name, weight): &(String, u16), least: u16, of: &[Coding]| {
                *weight >= least && of.iter().any(|coding| coding.is_called(name))
            };
            let all = |entry: &(String, u16)| entry.1 > 0 && entry.0 == "*";
            match choose(&request, &ALL) {
                Some(coding) => prop_assert!(weighed.iter().any(|entry| named(entry, 1, &[coding]) || all(entry))),
                None => prop_assert!(!weighed.iter().any(|entry| named(entry, WHOLE, &ALL))),
            }
        }
    }
}
