//! Tests of message exchange between logs, without sockets.

use std::collections::BTreeSet;

use cache::purge::{Depth, Purge};

use super::*;

fn order(tag: &str) -> Order {
    Order::new("z", Purge::Tag(tag.into()), Depth::Soft)
}

/// Sends one message. Returns the number of new entries.
fn tell(from: (&str, &Bus), to: (&str, &Bus)) -> usize {
    let message = from.1.message_to(to.0, "n");
    let message = Message::read(&message.write()).unwrap();
    let (news, ()) = to.1.take(message.pieces.clone(), |_| ());
    to.1.is_done();
    to.1.hear(from.0, &message);
    news.entries.len()
}

#[test]
fn purges_are_told_when_it_is_known_who_lacks_them() {
    let (lhr, fra) = (Bus::new(), Bus::new());
    let (place, ()) = lhr.append(vec![order("a"), order("b")], || ());
    lhr.is_done();
    // The position of fra is not known yet.
    assert_eq!(tell(("lhr", &lhr), ("fra", &fra)), 0);
    assert!(!fra.covers(&lhr.reached().unwrap()).unwrap() && !fra.is_even_with("lhr"));
    assert_eq!(tell(("fra", &fra), ("lhr", &lhr)), 0);
    assert!(!lhr.has("fra", place));
    assert_eq!(tell(("lhr", &lhr), ("fra", &fra)), 2);
    tell(("fra", &fra), ("lhr", &lhr));
    assert!(lhr.has("fra", place) && lhr.is_even_with("fra"));
    assert_eq!(fra.covers(&lhr.reached().unwrap()), Ok(true));
    assert_eq!(fra.covers(&HeaderValue::from_static("not a position")), Err(NoPosition));
    // Both have the entries: they can be dropped.
    assert_eq!(lhr.report("lhr", ["fra"].into_iter()).remembered, 2);
    lhr.look(&["fra"].into());
    let report = lhr.report("lhr", ["fra"].into_iter());
    assert_eq!((report.remembered, report.data_centres[0].behind), (0, Some(0)));
    assert_eq!((report.position[0].purges, report.position[0].data_centre.as_deref()), (2, Some("lhr")));
}

#[test]
fn a_log_that_has_ended_is_nobodys_lead() {
    let (lhr, fra, old) = (Bus::new(), Bus::new(), Bus::new());
    let _ = old.append(vec![order("a")], || ());
    old.is_done();
    for (name, bus) in [("lhr", &lhr), ("fra", &fra)] {
        tell((name, bus), ("syd", &old));
        tell(("syd", &old), (name, bus));
    }
    // The first message of each announces its log.
    for (from, to) in [(("lhr", &lhr), ("fra", &fra)), (("fra", &fra), ("lhr", &lhr))] {
        tell(from, to);
        tell(to, from);
    }
    // `old` was the previous run of syd, which has restarted.
    let syd = Bus::new();
    for (bus, name) in [(&lhr, "lhr"), (&fra, "fra")] {
        tell((name, bus), ("syd", &syd));
        tell(("syd", &syd), (name, bus));
        tell((name, bus), ("syd", &syd));
        tell(("syd", &syd), (name, bus));
    }
    lhr.look(&["fra", "syd"].into());
    assert_eq!(lhr.reached().unwrap(), "");
    for _ in 0..2 {
        for (name, bus) in [("fra", &fra), ("syd", &syd)] {
            tell((name, bus), ("lhr", &lhr));
            let message = lhr.message_after((&bus.state().done.clone(), &Position::default()), "n");
            bus.hear("lhr", &message);
        }
    }
    for bus in [&fra, &syd] {
        assert_eq!(bus.reached().unwrap(), "");
    }
    let ahead: Vec<_> = lhr.report("lhr", ["fra", "syd"].into_iter()).data_centres;
    assert!(ahead.iter().all(|there| there.ahead == Some(0) && there.behind == Some(0)), "{ahead:?}");
}

#[test]
fn a_log_is_not_over_for_who_knows_its_data_centre() {
    let (lhr, fra, syd) = (Bus::new(), Bus::new(), Bus::new());
    let _ = syd.append((0..2500).map(|tag| order(&tag.to_string())).collect(), || ());
    syd.is_done();
    let exchange = |a: (&str, &Bus), b: (&str, &Bus)| {
        for _ in 0..4 {
            tell(a, b);
            tell(b, a);
        }
    };
    for (name, bus) in [("lhr", &lhr), ("fra", &fra)] {
        exchange((name, bus), ("syd", &syd));
    }
    exchange(("lhr", &lhr), ("fra", &fra));
    // Temporarily, the network file of lhr does not contain syd.
    assert_eq!(lhr.look(&["fra"].into()), [syd.last_own().0]);
    exchange(("lhr", &lhr), ("fra", &fra));
    assert_eq!(fra.reached(), syd.reached(), "fra has the old file, and knows better");
    // Then syd continues.
    let _ = syd.append((2500..2502).map(|tag| order(&tag.to_string())).collect(), || ());
    syd.is_done();
    // Until lhr reports its position in this log again, the response starts with entries that lhr has.
    let ask = || {
        let question = lhr.message_to("syd", "n");
        let answer = syd.message_after((&question.position, &question.over), "n");
        let (news, ()) = lhr.take(answer.pieces.clone(), |_| ());
        lhr.hear("syd", &answer);
        lhr.is_done();
        news.entries.len()
    };
    assert_eq!((ask(), ask()), (0, 2));
    assert_eq!(lhr.reached(), syd.reached());
}

#[test]
fn what_is_not_on_disk_yet_is_not_said_to_be_done() {
    let lhr = Bus::new();
    let _ = lhr.append(vec![order("a")], || ());
    assert_eq!(lhr.done().unwrap(), "");
    assert!(!lhr.reached().unwrap().is_empty());
    lhr.is_done();
    assert_eq!(lhr.done(), lhr.reached());
}

#[test]
fn whoever_hears_of_too_few_is_cut_off() {
    let bus = Bus::new();
    let names: BTreeSet<_> = ["fra", "syd", "nyc"].into();
    let at = Duration::from_secs;
    let is_cut_off = |second, heard: &[&str]| {
        heard.iter().for_each(|name| bus.state().heard(name, at(second)));
        bus.look_at(at(second), &names);
        bus.is_cut_off()
    };
    // Just started: no peer has responded yet, and the grace period has not ended.
    assert!(!is_cut_off(10, &[]));
    // Two of four are not a majority.
    assert!(is_cut_off(20, &["fra"]));
    let asks = |second, choice| bus.asks_first_at(at(second), choice, at(60));
    assert!(asks(20, CutOff::Revalidate));
    assert!(!asks(79, CutOff::Stale) && asks(80, CutOff::Stale));
    assert!(!is_cut_off(30, &["syd"]) && !asks(1000, CutOff::Revalidate));
    assert!(is_cut_off(36, &[]));
}

#[test]
fn the_stream_is_told_of_own_purges_at_once_and_of_others_when_nobody_else_does_it() {
    let (lhr, fra) = (Bus::new(), Bus::new());
    let ((own, _), ()) = lhr.append(vec![order("a"), order("b")], || ());
    lhr.is_done();
    let ((others, _), ()) = fra.append(vec![order("c")], || ());
    fra.is_done();
    tell(("lhr", &lhr), ("fra", &fra));
    tell(("fra", &fra), ("lhr", &lhr));
    tell(("lhr", &lhr), ("fra", &fra));
    tell(("fra", &fra), ("lhr", &lhr));
    assert_eq!(lhr.stream_is_behind(), 3);
    let lacks = |whose| lhr.stream_lacks(whose).map(|piece| (piece.log, piece.first, piece.entries.len()));
    assert_eq!((lacks(Whose::Own), lacks(Whose::All)), (Some((own, 1, 2)), None));
    lhr.stream_has(own, 2);
    lhr.look_at_stream();
    // The stream already lacked it at the last check.
    assert_eq!((lacks(Whose::Own), lacks(Whose::All)), (None, Some((others, 1, 1))));
    lhr.stream_has(others, 1);
    // Entries that are unknown here are not counted.
    lhr.stream_has(others, 9);
    lhr.stream_has(LogId(7), 1 << 50);
    assert_eq!((lacks(Whose::All), lhr.stream_is_behind()), (None, 0));
    let ((_, last), ()) = fra.append(vec![order("d")], || ());
    assert_eq!(last, 2);
    let piece = |first| Piece { log: others, first, forgets: false, entries: vec![order("d")] };
    assert_eq!((lhr.has_gap(&piece(2)), lhr.has_gap(&piece(3))), (false, true));
    // A replaced stream is empty.
    lhr.stream_is_anew();
    assert_eq!((lacks(Whose::Own), lhr.stream_is_behind()), (Some((own, 1, 2)), 3));
}

#[test]
fn what_is_told_to_all_of_a_log_that_is_over_concerns_who_has_it() {
    let (lhr, fra) = (Bus::new(), Bus::new());
    let ((log, _), ()) = fra.append(vec![order("a"), order("b")], || ());
    fra.is_done();
    let over = |end: u64| format!("{:x}:{end}", log.0).parse::<Position>().unwrap();
    assert_eq!(lhr.ends_here(&over(2)), (Position::default(), Vec::new()));
    tell(("lhr", &lhr), ("fra", &fra));
    tell(("fra", &fra), ("lhr", &lhr));
    assert_eq!(lhr.ends_here(&over(2)), (over(2), Vec::new()));
    // Only a part was received, and no peer has the rest.
    let (ended, short) = lhr.ends_here(&over(5));
    assert_eq!((ended, short.len(), short[0].first, short[0].forgets), (Position::default(), 1, 6, true));
    assert_eq!(lhr.ends_here(&over(1)), (Position::default(), Vec::new()));
}
