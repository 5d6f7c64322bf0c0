//! Range requests for objects that are not stored completely: requested, stored, combined and
//! served.

use std::sync::{Arc, Mutex};

use http_cache::{
    Key, KeyRule,
    purge::{Depth, Purge},
    ranges::{Part, Wanted, wanted},
};
use http_stack::{Body, HeaderMap, Method, Request, Response, StatusCode};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{Fixture, MEMORY, ReceivedResponse, request, with};
use crate::{cache::collapse, config::Disk};

type About = fn(usize) -> (&'static str, &'static str);

type Fields = &'static [(&'static str, &'static str)];

type Change = fn(&mut Response<Body>);

type Asked = Arc<Mutex<Vec<String>>>;

const LENGTH: usize = 3000;
const FRESH: &str = "max-age=60";

fn text(tag: &str) -> Vec<u8> {
    (0..LENGTH).map(|place| tag.as_bytes()[1].wrapping_add(u8::try_from(place % 251).unwrap())).collect()
}

fn respond(tag: &str, request: &HeaderMap, mut response: Response<Body>) -> Response<Body> {
    let text = text(tag);
    response.headers_mut().insert("etag", tag.parse().unwrap());
    if request.get("if-none-match").is_some_and(|known| known == tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    match wanted(&Method::GET, request, (StatusCode::OK, response.headers()), LENGTH as u64) {
        Wanted::Parts(parts) => {
            let (from, to) = ends(parts[0]);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            response.headers_mut().insert("content-range", parts[0].label(LENGTH as u64).parse().unwrap());
            response.map(|_| Body::whole(text[from..to].to_vec()))
        }
        Wanted::Nothing => {
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            response
        }
        Wanted::Whole => response.map(|_| Body::whole(text)),
    }
}

fn ends(part: Part) -> (usize, usize) {
    let place = |place| usize::try_from(place).unwrap();
    (place(part.first), place(part.last) + 1)
}

fn stage(zone: &str, about: About) -> (Fixture, Asked) {
    with_disk(None, zone, about)
}

fn with_disk(disk: Option<&Disk>, zone: &str, about: About) -> (Fixture, Asked) {
    let asked = Asked::default();
    let noted = Arc::clone(&asked);
    let fixture = Fixture::with_disk(disk, zone, move |request: Request<Body>, number| {
        let fields = ["range", "if-range", "if-none-match"].map(|name| request.headers().get(name));
        let fields: Vec<_> = fields.into_iter().flatten().map(|field| field.to_str().unwrap()).collect();
        noted.lock().unwrap().push(fields.join(" "));
        let (cache_control, tag) = about(number);
        std::future::ready(respond(tag, request.headers(), with(cache_control, "")))
    });
    (fixture, asked)
}

fn asked(asked: &Asked) -> Vec<String> {
    std::mem::take(&mut asked.lock().unwrap())
}

fn part(told: &str, tag: &str, from: usize, to: usize) -> ReceivedResponse {
    ReceivedResponse { status: 206, told: format!("lhr; {told}"), body: text(tag)[from..to].to_vec().into() }
}

const MISS: &str = "fwd=uri-miss; fwd-status=206; stored";
const JOINED: &str = "fwd=partial; fwd-status=206; stored";
const LARGE: &str = "largest = \"2KB\"\n";
const A: &str = "\"a\"";
const B: &str = "\"b\"";

#[tokio::test]
async fn uncacheable_range_ends_earlier_ranges() {
    for about in [
        |number| (if number < 2 { FRESH } else { "private, max-age=60" }, A),
        |number| (if number < 2 { FRESH } else { "no-store" }, A),
        |number| if number < 2 { (FRESH, A) } else { ("private", B) },
        |number| if number < 2 { (FRESH, A) } else { ("private", "W/\"a\"") },
        |number| (FRESH, if number < 2 { A } else { "W/\"a\"" }),
    ] as [About; 5]
    {
        let (fixture, origin) = stage(LARGE, about);
        let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
        get("bytes=2000-2099").await;
        get("bytes=0-99").await;
        asked(&origin);
        get("bytes=2000-2099").await;
        assert_eq!(asked(&origin).last().map(String::as_str), Some("bytes=2000-2099"));
    }
}

#[tokio::test]
async fn range_of_oversized_object_is_fetched_and_stored() {
    let (fixture, origin) = stage(LARGE, |_| (FRESH, A));
    let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
    assert_eq!(get("bytes=2000-2099").await, part(MISS, A, 2000, 2100));
    // The first request is for the complete body, because its header contains the length.
    assert_eq!(asked(&origin), ["", "bytes=2000-2099"]);
    assert_eq!(get("bytes=2000-2099").await, part("hit", A, 2000, 2100));
    assert_eq!(get("bytes=2010-2019").await, part("hit", A, 2010, 2020));
    assert_eq!(asked(&origin), [""; 0]);
    assert_eq!(get("bytes=0-99").await, part(JOINED, A, 0, 100));
    assert_eq!(get("bytes=2050-2149").await, part(JOINED, A, 2050, 2150));
    assert_eq!(get("bytes=2000-2149").await, part("hit", A, 2000, 2150));
    assert_eq!(asked(&origin), ["bytes=0-99", "bytes=2100-2149 \"a\""]);
    let several = get("bytes=0-1, 2100-2101").await;
    assert_eq!((several.status, several.told.as_str()), (206, "lhr; hit"));
    let unchanged = fixture.get("/", &[("range", "bytes=0-1"), ("if-none-match", A)]).await;
    assert_eq!((unchanged.status, unchanged.told.as_str()), (304, "lhr; hit"));
    assert_eq!((asked(&origin).len(), fixture.node.store.usage().objects), (0, 1));
    let explained = fixture.node.node.explain(&"http://shop.example/".parse().unwrap()).unwrap();
    let why = "Of its 3000 bytes, 250 are stored: the others are fetched from the origin.";
    assert!(explained.why.ends_with(why), "{}", explained.why);
    assert_eq!(get("bytes=3000-").await.status, 416);
    assert_eq!(asked(&origin), ["bytes=3000-"]);
    let head = fixture.send(request(Method::HEAD, "/", &[])).await;
    assert_eq!((head.status, head.told.as_str()), (200, "lhr; fwd=partial; fwd-status=200"));
    assert_eq!(get("bytes=2000-2149").await, part("hit", A, 2000, 2150));
    assert_eq!(asked(&origin), [""]);
}

#[tokio::test]
async fn first_fetched_range_serves_reads_from_the_start() {
    for range in ["bytes=0-", "bytes=0-5000", "lines=1-2"] {
        let (fixture, origin) = stage(LARGE, |_| (FRESH, A));
        let received = fixture.get("/", &[("range", range)]).await;
        assert_eq!((received.status, received.body.len()), (200, LENGTH), "{range}");
        assert_eq!(asked(&origin), [""], "{range}");
    }
}

#[tokio::test]
async fn complete_ranges_become_a_whole_object() {
    let (fixture, origin) = stage("", |number| (if number == 0 { "no-store" } else { FRESH }, A));
    fixture.get("/", &[]).await;
    let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
    assert_eq!(get("bytes=1000-1999").await, part(MISS, A, 1000, 2000));
    assert_eq!(get("bytes=-1000").await, part(JOINED, A, 2000, 3000));
    assert_eq!(asked(&origin), ["", "bytes=1000-1999", "bytes=-1000"]);
    let whole = fixture.node.serve(request(Method::GET, "/", &[])).await;
    assert_eq!((whole.status(), whole.headers().get("content-range")), (StatusCode::OK, None));
    assert_eq!(whole.headers().get("content-length").unwrap(), "3000");
    assert!(whole.into_body().collect(LENGTH).await.unwrap() == text(A));
    assert_eq!(asked(&origin), ["bytes=0-999 \"a\""]);
    let again = fixture.get("/", &[]).await;
    assert!((again.status, again.told.as_str()) == (200, "lhr; hit") && again.body == text(A));
    assert_eq!(get("bytes=5-9").await, part("hit", A, 5, 10));
    assert_eq!((asked(&origin).len(), fixture.node.store.usage().objects), (0, 1));
}

#[tokio::test]
async fn completed_object_goes_to_disk() {
    let directory = TempDir::new().unwrap();
    let disk = Disk { path: directory.path().join("cache"), bytes: 64 << 20 };
    let about: About = |number| (if number == 0 { "no-store" } else { FRESH }, A);
    let (mut fixture, origin) = with_disk(Some(&disk), "", about);
    fixture.get("/", &[]).await;
    for range in ["bytes=1500-", "bytes=0-1499"] {
        fixture.get("/", &[("range", range)]).await;
    }
    fixture.restart(&disk).await;
    let received = fixture.get("/", &[("range", "bytes=1000-1999")]).await;
    assert_eq!((received, asked(&origin).len()), (part("hit", A, 1000, 2000), 3));
}

#[tokio::test]
async fn concurrent_requests_fetch_the_gap_once() {
    let (fixture, origin) = stage("", |number| (if number == 0 { "no-store" } else { FRESH }, A));
    fixture.get("/", &[]).await;
    fixture.get("/", &[("range", "bytes=500-999")]).await;
    fixture.get("/", &[("range", "bytes=0-499")]).await;
    asked(&origin);
    let first = fixture.node.serve(request(Method::GET, "/", &[])).await;
    // The first client reads nothing yet, and a second one shares the fetch.
    let second = fixture.get("/", &[]).await;
    assert!((second.status, second.told.as_str()) == (200, "lhr; hit") && second.body == text(A));
    assert!(first.into_body().collect(LENGTH).await.unwrap() == text(A));
    assert_eq!(asked(&origin), ["bytes=1000- \"a\""]);
}

#[tokio::test]
async fn ranges_of_two_versions_are_never_combined() {
    let (fixture, origin) = stage(LARGE, |number| (FRESH, if number < 2 { A } else { B }));
    let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
    assert_eq!(get("bytes=1000-1999").await, part(MISS, A, 1000, 2000));
    assert_eq!(get("bytes=1500-2499").await, part(JOINED, B, 1500, 2500));
    assert_eq!(asked(&origin)[2..], ["bytes=2000-2499 \"a\"", "bytes=1500-2499"]);
    assert_eq!(get("bytes=1500-1599").await, part("hit", B, 1500, 1600));
    assert_eq!(get("bytes=1000-1499").await, part(JOINED, B, 1000, 1500));
    assert_eq!(get("bytes=1000-2499").await, part("hit", B, 1000, 2500));
}

#[tokio::test]
async fn stale_ranges_are_revalidated() {
    let confirmed = "fwd=stale; fwd-status=304; stored";
    let (fixture, origin) = stage(LARGE, |number| ("max-age=0", if number < 4 { A } else { B }));
    let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
    assert_eq!(get("bytes=1000-1999").await, part(MISS, A, 1000, 2000));
    assert_eq!(get("bytes=1100-1199").await, part(confirmed, A, 1100, 1200));
    assert_eq!(get("bytes=1500-2099").await, part(JOINED, A, 1500, 2100));
    assert_eq!(asked(&origin)[2..], ["bytes=1100-1199 \"a\"", "bytes=2000-2099 \"a\""]);
    assert_eq!(get("bytes=1100-1199").await, part("fwd=stale; fwd-status=206; stored", B, 1100, 1200));
    assert_eq!(asked(&origin), ["bytes=1100-1199 \"a\""]);
}

#[tokio::test]
async fn ranges_honour_stale_while_revalidate() {
    let about: About = |number| ("max-age=0, stale-while-revalidate=60", if number < 3 { A } else { B });
    let (fixture, origin) = stage(LARGE, about);
    let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
    assert_eq!(get("bytes=1000-1999").await, part(MISS, A, 1000, 2000));
    let old = part("hit; detail=revalidating", A, 1000, 1010);
    // The first request revalidates. At the second one the origin has a new representation.
    assert_eq!(get("bytes=1000-1009").await, old);
    landed(&fixture).await;
    assert_eq!(get("bytes=1000-1009").await, old);
    landed(&fixture).await;
    assert_eq!(fixture.node.store.usage().objects, 0);
    assert_eq!(asked(&origin)[2..], ["bytes=1000-1009 \"a\"", "bytes=1000-1009 \"a\""]);
    assert_eq!(get("bytes=1000-1009").await, part(MISS, B, 1000, 1010));
}

async fn landed(fixture: &Fixture) {
    let key = Key::of(&"http://shop.example/".parse().unwrap(), &HeaderMap::new(), &KeyRule::default());
    if let collapse::JoinRole::Follower(waiting) =
        fixture.node.collapse.join(&key, tier_routing::Role::Lower, || None)
    {
        waiting.outcome().await;
    }
}

#[tokio::test]
async fn ranges_honour_stale_if_error() {
    let fixture =
        Fixture::new("largest = \"2KB\"\nstale_if_error = \"1h\"\n", |request: Request<Body>, number| {
            let mut response = respond(A, request.headers(), with("max-age=0", ""));
            if number > 1 {
                *response.status_mut() = StatusCode::BAD_GATEWAY;
            }
            std::future::ready(response)
        });
    fixture.get("/", &[("range", "bytes=1000-1999")]).await;
    let stale = fixture.get("/", &[("range", "bytes=1000-1001")]).await;
    assert_eq!(stale, part("hit; detail=origin-failed", A, 1000, 1002));
    assert_eq!(fixture.get("/", &[("range", "bytes=0-9")]).await.status, 502);
}

#[tokio::test]
async fn ranges_are_purged() {
    let (fixture, origin) = stage(LARGE, |_| (FRESH, A));
    let get = async |range: &str| fixture.get("/", &[("range", range)]).await;
    let purge = |depth| fixture.node.purge("z", vec![Purge::Url("http://shop.example/".into())], depth);
    get("bytes=1000-1999").await;
    assert_eq!(purge(Depth::Soft).unwrap().1, 1);
    let confirmed = part("fwd=stale; fwd-status=304; stored", A, 1000, 1010);
    assert_eq!(get("bytes=1000-1009").await, confirmed);
    assert_eq!(get("bytes=1000-1009").await, part("hit", A, 1000, 1010));
    assert_eq!(purge(Depth::Hard).unwrap().1, 1);
    let usage = fixture.node.store.usage();
    assert_eq!((usage.objects, usage.bytes), (0, 0));
    asked(&origin);
    assert_eq!(get("bytes=1000-1009").await, part(MISS, A, 1000, 1010));
    assert_eq!(asked(&origin), ["bytes=1000-1009"]);
}

#[tokio::test]
async fn in_flight_range_is_stored_as_read_unless_purged() {
    for is_purged in [false, true] {
        let go_on = Arc::new(Notify::new());
        let goes_on = Arc::clone(&go_on);
        let fixture = Fixture::new("", move |request: Request<Body>, number| {
            let mut response = respond(A, request.headers(), with(FRESH, ""));
            if number == 0 {
                set(&mut response, "cache-control", "no-store");
            } else if number == 1 {
                let ((sender, body), goes_on) = (Body::channel(1), Arc::clone(&goes_on));
                tokio::spawn(async move {
                    sender.send(text(A)[1000..1500].to_vec()).await.unwrap();
                    goes_on.notified().await;
                    let _ = sender.send(text(A)[1500..2000].to_vec()).await;
                    let _ = sender.finish().await;
                });
                set(&mut response, "content-length", "1000");
                *response.body_mut() = body;
            }
            std::future::ready(response)
        });
        fixture.get("/", &[]).await;
        let asked = request(Method::GET, "/", &[("range", "bytes=1000-1999")]);
        let mut body = fixture.node.serve(asked).await.into_body();
        let mut seen = 0;
        while seen < 500 {
            seen += body.data().await.unwrap().unwrap().len();
        }
        if is_purged {
            fixture.node.purge("z", vec![Purge::Everything], Depth::Hard);
        }
        drop(body);
        go_on.notify_one();
        let told = if is_purged { MISS } else { "hit" };
        assert_eq!(fixture.get("/", &[("range", "bytes=1000-1499")]).await, part(told, A, 1000, 1500));
        let behind = fixture.get("/", &[("range", "bytes=1400-1599")]).await;
        assert_eq!(behind, part(JOINED, A, 1400, 1600));
    }
}

#[tokio::test]
async fn uncombinable_range_is_forwarded() {
    let changes: [(&str, Fields, Change); 7] = [
        ("a weak tag", &[], |response| set(response, "etag", "W/\"a\"")),
        ("no tag", &[], |response| drop(response.headers_mut().remove("etag"))),
        ("private", &[], |response| set(response, "cache-control", "private, max-age=60")),
        ("another length", &[], |response| *response.body_mut() = Body::whole("01234")),
        ("no length", &[], |response| *response.body_mut() = streamed()),
        ("several parts", &[], |response| set(response, "content-type", "multipart/byteranges; boundary=x")),
        ("the answer to If-Range", &[("if-range", "\"a\"")], |_| ()),
    ];
    for (why, fields, change) in changes {
        let fixture = Fixture::new(LARGE, move |request: Request<Body>, _| {
            let mut response = respond(A, request.headers(), with(FRESH, ""));
            if response.status() == StatusCode::PARTIAL_CONTENT {
                change(&mut response);
            }
            std::future::ready(response)
        });
        let fields = [fields, &[("range", "bytes=4-9")]].concat();
        for count in [2, 3] {
            let received = fixture.get("/", &fields).await;
            assert_eq!(received.told, "lhr; fwd=uri-miss; fwd-status=206", "{why}");
            assert_eq!((fixture.request_count(), fixture.node.store.usage().objects), (count, 0), "{why}");
        }
    }
}

fn set(response: &mut Response<Body>, name: &'static str, value: &str) {
    response.headers_mut().insert(name, value.parse().unwrap());
}

fn streamed() -> Body {
    let (sender, body) = Body::channel(1);
    tokio::spawn(async move {
        sender.send(text(A)[4..10].to_vec()).await.unwrap();
        sender.finish().await.unwrap();
    });
    body
}

#[tokio::test]
async fn ranges_take_no_more_memory_than_a_whole_object() {
    let (fixture, _) = stage("largest = \"1KB\"\n", |_| (FRESH, A));
    let get = async |path: &str, range: &str| fixture.get(path, &[("range", range)]).await;
    get("/", "bytes=0-599").await;
    for _ in 0..2 {
        assert_eq!(get("/", "bytes=1000-1599").await, part(JOINED, A, 1000, 1600));
    }
    assert_eq!(get("/", "bytes=0-599").await, part("hit", A, 0, 600));
    get("/", "bytes=2000-2049").await;
    assert_eq!(get("/", "bytes=2000-2049").await, part("hit", A, 2000, 2050));
    for number in 0..MEMORY / 1800 {
        get(&format!("/{number}"), "bytes=1000-1499").await;
    }
    let usage = fixture.node.store.usage();
    assert!(usage.bytes <= MEMORY && usage.evicted > 0, "{usage:?}");
}
