//! Tests of the retention and eviction of copies.

use super::*;

fn held(bytes: usize) -> Arc<MemoryValue> {
    Arc::new(MemoryValue::test(vec![b'v'; bytes]))
}

fn name(key: &str) -> Name {
    Name::of("ns", key)
}

const NOW: Duration = Duration::from_secs(100);

fn has(copies: &ValueCache, key: &str) -> bool {
    copies.find(&name(key), ReadOptions::default(), NOW).is_some()
}

fn keep(copies: &ValueCache, key: &str, bytes: usize) {
    copies.keep(&name(key), copies.ticket(&name(key)), &held(bytes), NOW);
}

#[test]
fn what_was_read_before_a_write_is_not_kept_after_it() {
    let copies = ValueCache::new(1 << 20);
    let ticket = copies.ticket(&name("a"));
    copies.forget(&name("a"));
    copies.keep(&name("a"), ticket, &held(1), NOW);
    assert!(!has(&copies, "a"));
    keep(&copies, "a", 1);
    assert!(has(&copies, "a") && !has(&copies, "b"));
    copies.forget(&name("a"));
    assert!(!has(&copies, "a"));
    assert_eq!(copies.bytes(), 0);
}

#[test]
fn what_comes_from_elsewhere_and_is_older_than_what_is_known_is_not_kept() {
    let copies = ValueCache::new(1 << 20).of_far_store();
    let of = |version: &str| {
        CachedState::Value(Arc::new(MemoryValue { version: version.into(), ..MemoryValue::test(vec![1]) }))
    };
    let seen = || {
        copies
            .find(&name("a"), ReadOptions::default(), NOW)
            .map(|seen| seen.known.version().map(str::to_owned))
    };
    assert!(copies.keep_newest(&name("a"), &of("2"), NOW, None));
    assert!(!copies.keep_newest(&name("a"), &of("1"), NOW, None));
    assert!(!copies.keep_newest(&name("a"), &CachedState::Absent(None), NOW, None));
    assert_eq!(seen(), Some(Some("2".into())));
    copies.wrote(&name("a"), "4");
    assert_eq!((seen(), copies.version(&name("a")).as_deref()), (None, Some("4")));
    assert!(!copies.keep_newest(&name("a"), &of("3"), NOW, Some("2")));
    assert_eq!(seen(), None);
    // The store was requested after the write was known, so its response is kept.
    assert!(copies.keep_newest(&name("a"), &of("3"), NOW, Some("4")));
    copies.wrote(&name("a"), "2");
    assert_eq!(seen(), Some(Some("3".into())));
    copies.doubt(&name("a"));
    assert_eq!((seen(), copies.version(&name("a")).as_deref()), (None, Some("3")));
    assert!(copies.keep_newest(&name("a"), &CachedState::Absent(Some("5".into())), NOW, None));
    assert!(seen().is_some() && copies.bytes() > 0);
    copies.forget_all();
    assert_eq!((seen(), copies.bytes()), (None, 0));
}

#[test]
fn what_the_other_store_is_known_to_have_stays_known_when_something_older_is_written_here() {
    let copies = ValueCache::new(1 << 20);
    copies.wrote(&name("a"), "4");
    copies.forget_older(&name("a"), "3");
    assert_eq!(copies.version(&name("a")).as_deref(), Some("4"));
    copies.forget_older(&name("a"), "4");
    assert_eq!((copies.version(&name("a")), copies.bytes()), (None, 0));
}

#[test]
fn of_one_version_the_copy_that_was_read_later_stays() {
    let copies = ValueCache::new(1 << 20).of_far_store();
    let known = CachedState::Absent(Some("1".into()));
    let age = || copies.look(&name("a"), NOW).unwrap().age.as_secs();
    assert!(copies.keep_newest(&name("a"), &known, NOW - Duration::from_secs(5), None));
    assert!(copies.keep_newest(&name("a"), &known, NOW - Duration::from_secs(9), None));
    assert_eq!(age(), 5);
    assert!(copies.keep_newest(&name("a"), &known, NOW, None));
    assert_eq!(age(), 0);
}

#[test]
fn nothing_is_kept_while_another_process_writes() {
    let copies = ValueCache::new(1 << 20);
    keep(&copies, "a", 1);
    let ticket = copies.ticket(&name("b"));
    copies.close();
    keep(&copies, "a", 1);
    assert!(!has(&copies, "a"));
    copies.open();
    copies.keep(&name("b"), ticket, &held(1), NOW);
    keep(&copies, "a", 1);
    assert!(has(&copies, "a") && !has(&copies, "b"));
}

#[test]
fn room_goes_to_copies_that_are_used() {
    let copies = ValueCache::new(16 * 8000);
    keep(&copies, "used", 1000);
    for number in 0..2000 {
        assert!(has(&copies, "used"), "{number}");
        keep(&copies, &number.to_string(), 1000);
    }
    assert!(copies.bytes() <= 16 * 8000 && copies.bytes() > 16 * 4000, "{}", copies.bytes());
    keep(&copies, "large", LARGEST_COPY + 1);
    assert!(!has(&copies, "large"));
}

#[test]
fn a_key_that_is_written_and_read_by_turns_leaves_nothing_behind() {
    let copies = ValueCache::new(1 << 20);
    for _ in 0..10_000 {
        keep(&copies, "a", 1);
        copies.forget(&name("a"));
    }
    let mut turns = 0;
    copies.all(|shard| turns += shard.turns.len());
    assert!(turns <= SPARE_TURNS + 1, "{turns}");
}

#[test]
fn a_copy_is_read_again_before_it_is_a_minute_old() {
    let copies = ValueCache::new(1 << 20);
    keep(&copies, "a", 1);
    let find = |after, ttl: Option<u64>| {
        let now = NOW + Duration::from_secs(after);
        let wanted = ReadOptions { within: None, cache_ttl: ttl.map(Duration::from_secs) };
        let seen = copies.find(&name("a"), wanted, now)?;
        Some((seen.age.as_secs(), seen.usage == CopyUse::AtOnceAndRefresh))
    };
    assert_eq!(find(41, None), Some((41, false)));
    assert_eq!(find(59, None), Some((59, true)));
    assert_eq!(find(60, None), None);
    assert_eq!(find(35, Some(30)), None);
}
