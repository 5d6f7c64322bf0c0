//! Tests of the memory store: variants, eviction and purges.

use http_cache::{Control, Terms, VaryKey};
use http_stack::{Bytes, StatusCode};

use super::*;

const NOW: Time = Time::from_millis(1_000_000);

fn object(path: &str, vary: Option<&str>, began: u64) -> (Object, HeaderMap) {
    let url: http_stack::Uri = format!("http://a{path}").parse().unwrap();
    let mut request = HeaderMap::new();
    let mut headers = HeaderMap::new();
    if let Some(value) = vary {
        request.insert("foo", value.parse().unwrap());
        headers.insert("vary", "foo".parse().unwrap());
    }
    let key = Key::of(&url, &request, &http_cache::KeyRule::default());
    let terms = Terms::read(StatusCode::OK, &headers, Control::default(), None, (NOW, NOW));
    let selection = VaryKey::of(&request, &headers).unwrap();
    let subject = Subject { zone: "z".into(), url: key.url().into(), tags: vec!["t".into()], groups: vec![] };
    let stored = Stored { status: StatusCode::OK, headers, terms, selection };
    (
        Object {
            key,
            subject,
            stored,
            body: Arc::new(SharedBody::in_memory(Bytes::from_static(&[0; 1000]))),
            parts: None,
            sent_epoch: began,
            request_number: 0,
            prerendered: PrerenderedSet::default(),
        },
        request,
    )
}

fn is_there(store: &MemoryStore, path: &str, vary: Option<&str>) -> bool {
    let (object, request) = object(path, vary, 0);
    matches!(store.find(&object.key, &request), Lookup::Object(_))
}

fn add(store: &MemoryStore, path: &str, vary: Option<&str>, began: u64) -> Arc<Object> {
    let (object, request) = object(path, vary, began);
    let object = store.add(object, &request, NOW);
    store.settle(&object);
    object
}

#[test]
fn purge_removes_matching_objects_only() {
    let store = MemoryStore::new(1 << 20);
    let first = add(&store, "/", None, 0);
    let second = add(&store, "/", None, 0);
    assert!(store.lease(&first).is_none() && !store.is_purged(&first) && !store.is_purged(&second));
    store.purge("z", vec![Purge::Everything], Depth::Hard, NOW);
    assert!(store.is_purged(&first) && store.is_purged(&second));
    assert!(!store.is_purged(&add(&store, "/", None, store.epoch())));
}

#[test]
fn variants_coexist() {
    let store = MemoryStore::new(1 << 20);
    add(&store, "/", Some("1"), 0);
    add(&store, "/", Some("2"), 0);
    add(&store, "/", Some("2"), 0);
    assert!(is_there(&store, "/", Some("1")) && is_there(&store, "/", Some("2")));
    assert_eq!(store.usage().objects, 2);
    let (other, request) = object("/", Some("3"), 0);
    assert!(matches!(store.find(&other.key, &request), Lookup::OtherVariant));
}

#[test]
fn least_recently_used_variant_is_evicted() {
    let store = MemoryStore::new(1 << 24);
    let popular = add(&store, "/", Some("popular"), 0);
    let purged = add(&store, "/", Some("purged"), 0);
    for number in 0..3 * MAX_VARIANTS {
        add(&store, "/", Some(&number.to_string()), 0);
        assert!(is_there(&store, "/", Some("popular")));
        store.touch(&purged);
        assert!(store.usage().objects <= MAX_VARIANTS);
    }
    assert_eq!(store.usage().objects, MAX_VARIANTS);
    store.purge("z", vec![Purge::Everything], Depth::Soft, NOW);
    add(&store, "/", Some("one more"), 0);
    for (value, is_kept) in [("popular", true), ("purged", true), ("0", false), ("191", true)] {
        assert_eq!(is_there(&store, "/", Some(value)), is_kept, "{value}");
    }
    assert!(store.lease(&popular).is_none());
}

#[test]
fn full_store_evicts() {
    let store = MemoryStore::new(10_000);
    for number in 0..20 {
        add(&store, &format!("/{number}"), None, 0);
    }
    let usage = store.usage();
    assert!(usage.bytes <= 10_000, "{usage:?}");
    assert_eq!(usage.objects + usize::try_from(usage.evicted).unwrap(), 20);
}

#[test]
fn purge_applies_to_stored_and_in_flight_objects() {
    let store = MemoryStore::new(1 << 20);
    add(&store, "/", None, store.epoch());
    let began = store.epoch();
    assert_eq!(store.purge("z", vec![Purge::Tag("t".into())], Depth::Soft, NOW), (1, 1));
    let (probe, request) = object("/", None, 0);
    let Lookup::Object(found) = store.find(&probe.key, &request) else {
        panic!("a soft purge keeps the object")
    };
    assert!(!found.stored.terms.is_fresh(NOW));
    assert!(add(&store, "/late", None, began).stored.terms.outdated.is_some());
    assert_eq!(store.purge("z", vec![Purge::Everything], Depth::Hard, NOW), (2, 2));
    assert!(!is_there(&store, "/", None));
    add(&store, "/late", None, began);
    assert!(!is_there(&store, "/late", None));
    add(&store, "/late", None, store.epoch());
    assert!(is_there(&store, "/late", None));
}

#[test]
fn replaced_object_is_not_counted_twice() {
    let store = MemoryStore::new(1 << 20);
    let old = add(&store, "/", None, 0);
    let bytes = store.usage().bytes;
    add(&store, "/", None, 0);
    store.settle(&old);
    store.remove(&old);
    assert_eq!((store.usage().bytes, store.usage().objects), (bytes, 1));
}
