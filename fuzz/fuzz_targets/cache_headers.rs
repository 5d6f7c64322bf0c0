//! Cache decisions for any request and response fields: a stored response matches its request, ranges
//! lie within the body, and internal fields are removed.
//!
//! The input is the request's field lines, an empty line, and the response's field lines.
//!
//! `cargo +nightly fuzz run cache_headers corpus/cache_headers seeds/cache_headers`

#![no_main]

use http_cache::{
    Coding, Control, Coverage, Form, Fragment, Key, KeyRule, Rest, Reuse, Selection, Stored, Supply, Terms,
    Time, Told, Validators, Wishes,
    internal, invalidation, may_store, purge,
    ranges::{self, Wanted},
    update,
};
use http_stack::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let split = text.windows(2).position(|two| two == b"\n\n").unwrap_or(text.len());
    let (request, mut response) = (fields(&text[..split]), fields(&text[split..]));
    let url = Uri::from_static("http://a.example/b?c=d");
    let times = (Time::from_millis(1_000_000), Time::from_millis(1_000_500));
    let key = Key::of(&url, &request, &KeyRule::default());
    assert_eq!(key.url(), "http://a.example/b?c=d");

    let wishes = Wishes::read(&request);
    let control = Control::read(&response, &[HeaderName::from_static("cdn-cache-control")]);
    let terms = Terms::read(StatusCode::OK, &response, control, None, times);
    let _ = invalidation::urls(&Method::POST, &url, StatusCode::OK, &response);
    let _ = (invalidation::groups(&response), invalidation::invalidated_groups(&Method::POST, &response));
    let told = Told::read(&response);
    assert!(told.is_none_or(|told| !told.tier.is_empty()));
    let _ = (purge::tags(&response), invalidation::is_own_location(&url, &response));
    let _ = may_store((&Method::GET, &request), wishes, (StatusCode::OK, &response), &terms, false);

    let Some(selection) = Selection::of(&request, &response) else { return };
    assert!(selection.matches(&request), "it is for the request that fetched it");
    let stored = Stored { status: StatusCode::OK, headers: response.clone(), terms, selection };
    if stored.reuse(wishes, times.1) == Reuse::Fresh {
        assert!(stored.terms.is_fresh(times.1));
    }
    let whole = (StatusCode::OK, &stored.headers);
    if let Wanted::Parts(parts) = ranges::wanted(&Method::GET, &request, whole, 100) {
        assert!(
            !parts.is_empty()
                && parts.iter().all(|part| part.length() > 0 && part.first + part.length() <= 100)
        );
    }
    if let Some(fragment) = Fragment::read(StatusCode::PARTIAL_CONTENT, &response) {
        keep(&fragment, &request, &stored);
    }
    if let Some(validators) = Validators::of(&stored) {
        let mut asked = HeaderMap::new();
        validators.ask(&mut asked);
        assert!(!asked.is_empty());
    }
    let form = Form::of(&request, (StatusCode::OK, &response), &Coding::ALL);
    let mut described = response.clone();
    form.describe(&mut described);
    let mut again = described.clone();
    form.describe(&mut again);
    assert_eq!(described, again, "nothing is said twice");
    if let Form::Coded(coding) = form {
        assert_eq!(described.get("content-encoding").unwrap(), coding.token());
        assert!(described.get("etag").is_none_or(|tag| tag.as_bytes().starts_with(b"W/")));
        assert!(!described.contains_key("content-length"));
    }
    update::refresh(&mut response, &request);
    hop_by_hop::remove_hop_by_hop(&mut response);
    internal::clear(&mut response);
    assert!(!response.keys().any(|name| internal::is_internal(name.as_str().as_bytes())));
});

/// Combines a fragment with its own complete response, and requests the missing part.
fn keep(fragment: &Fragment<'_>, request: &HeaderMap, stored: &Stored) {
    let mut coverage = Coverage::of(fragment.length);
    assert!(coverage.add(fragment.part) && coverage.gaps(fragment.part).is_empty());
    let Some(headers) = fragment.whole(request) else { return };
    let stored = Stored { headers, ..stored.clone() };
    assert!(fragment.is_of(&stored));
    if let Supply::AllBut(gap) = coverage.supply(&Method::GET, request, &stored) {
        assert!(gap.missing.last < fragment.length);
        assert!(gap.asked.is_none_or(|asked| asked.length() > gap.missing.length()));
        assert!(Rest::between(gap.missing, &stored).is_some());
    }
}

fn fields(text: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in text.split(|&byte| byte == b'\n').take(64) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}
