//! Tests of message exchange between logs, without sockets.

use std::collections::BTreeSet;

use http_cache::purge::{Depth, Purge};

use super::*;

fn order(tag: &str) -> ZonePurge {
    ZonePurge::new("z", Purge::Tag(tag.into()), Depth::Soft)
}

fn tell(from: (&str, &PurgeLog), to: (&str, &PurgeLog)) -> usize {
    let message = from.1.sync_message_for(to.0, "n");
    let message = SyncMessage::read(&message.write()).unwrap();
    let (news, ()) = to.1.merge(message.pieces.clone(), |_| ());
    to.1.mark_applied();
    to.1.receive(from.0, &message);
    news.entries.len()
}

#[test]
fn purges_are_sent_once_the_gap_is_known() {
    let (lhr, fra) = (PurgeLog::new(), PurgeLog::new());
    let (place, ()) = lhr.append(vec![order("a"), order("b")], || ());
    lhr.mark_applied();
    assert_eq!(tell(("lhr", &lhr), ("fra", &fra)), 0);
    assert!(!fra.covers(&lhr.position_header().unwrap()).unwrap() && !fra.is_in_sync_with("lhr"));
    assert_eq!(tell(("fra", &fra), ("lhr", &lhr)), 0);
    assert!(!lhr.has_applied("fra", place));
    assert_eq!(tell(("lhr", &lhr), ("fra", &fra)), 2);
    tell(("fra", &fra), ("lhr", &lhr));
    assert!(lhr.has_applied("fra", place) && lhr.is_in_sync_with("fra"));
    assert_eq!(fra.covers(&lhr.position_header().unwrap()), Ok(true));
    assert_eq!(fra.covers(&HeaderValue::from_static("not a position")), Err(NoPosition));
    assert_eq!(lhr.report("lhr", ["fra"].into_iter()).remembered, 2);
    lhr.review_peers(&["fra"].into());
    let report = lhr.report("lhr", ["fra"].into_iter());
    assert_eq!((report.remembered, report.data_centres[0].behind), (0, Some(0)));
    assert_eq!((report.position[0].purges, report.position[0].data_centre.as_deref()), (2, Some("lhr")));
}

#[test]
fn ended_log_does_not_count_as_ahead() {
    let (lhr, fra, old) = (PurgeLog::new(), PurgeLog::new(), PurgeLog::new());
    let _ = old.append(vec![order("a")], || ());
    old.mark_applied();
    for (name, purge_log) in [("lhr", &lhr), ("fra", &fra)] {
        tell((name, purge_log), ("syd", &old));
        tell(("syd", &old), (name, purge_log));
    }
    for (from, to) in [(("lhr", &lhr), ("fra", &fra)), (("fra", &fra), ("lhr", &lhr))] {
        tell(from, to);
        tell(to, from);
    }
    // `old` was the previous run of syd, which has restarted.
    let syd = PurgeLog::new();
    for (purge_log, name) in [(&lhr, "lhr"), (&fra, "fra")] {
        tell((name, purge_log), ("syd", &syd));
        tell(("syd", &syd), (name, purge_log));
        tell((name, purge_log), ("syd", &syd));
        tell(("syd", &syd), (name, purge_log));
    }
    lhr.review_peers(&["fra", "syd"].into());
    assert_eq!(lhr.position_header().unwrap(), "");
    for _ in 0..2 {
        for (name, purge_log) in [("fra", &fra), ("syd", &syd)] {
            tell((name, purge_log), ("lhr", &lhr));
            let message = lhr.sync_reply((&purge_log.state().applied.clone(), &Position::default()), "n");
            purge_log.receive("lhr", &message);
        }
    }
    for purge_log in [&fra, &syd] {
        assert_eq!(purge_log.position_header().unwrap(), "");
    }
    let ahead: Vec<_> = lhr.report("lhr", ["fra", "syd"].into_iter()).data_centres;
    assert!(ahead.iter().all(|there| there.ahead == Some(0) && there.behind == Some(0)), "{ahead:?}");
}

#[test]
fn log_of_a_known_data_centre_does_not_end() {
    let (lhr, fra, syd) = (PurgeLog::new(), PurgeLog::new(), PurgeLog::new());
    let _ = syd.append((0..2500).map(|tag| order(&tag.to_string())).collect(), || ());
    syd.mark_applied();
    let exchange = |a: (&str, &PurgeLog), b: (&str, &PurgeLog)| {
        for _ in 0..4 {
            tell(a, b);
            tell(b, a);
        }
    };
    for (name, purge_log) in [("lhr", &lhr), ("fra", &fra)] {
        exchange((name, purge_log), ("syd", &syd));
    }
    exchange(("lhr", &lhr), ("fra", &fra));
    assert_eq!(lhr.review_peers(&["fra"].into()), [syd.last_own_entry().0]);
    exchange(("lhr", &lhr), ("fra", &fra));
    assert_eq!(fra.position_header(), syd.position_header(), "fra has the old file, and knows better");
    let _ = syd.append((2500..2502).map(|tag| order(&tag.to_string())).collect(), || ());
    syd.mark_applied();
    // Until lhr reports its position in this log again, the response starts with entries that lhr
    // has.
    let ask = || {
        let question = lhr.sync_message_for("syd", "n");
        let answer = syd.sync_reply((&question.position, &question.ended_logs), "n");
        let (news, ()) = lhr.merge(answer.pieces.clone(), |_| ());
        lhr.receive("syd", &answer);
        lhr.mark_applied();
        news.entries.len()
    };
    assert_eq!((ask(), ask()), (0, 2));
    assert_eq!(lhr.position_header(), syd.position_header());
}

#[test]
fn purges_not_on_disk_are_not_reported_applied() {
    let lhr = PurgeLog::new();
    let _ = lhr.append(vec![order("a")], || ());
    assert_eq!(lhr.applied_header().unwrap(), "");
    assert!(!lhr.position_header().unwrap().is_empty());
    lhr.mark_applied();
    assert_eq!(lhr.applied_header(), lhr.position_header());
}

#[test]
fn too_few_peers_means_partitioned() {
    let purge_log = PurgeLog::new();
    let names: BTreeSet<_> = ["fra", "syd", "nyc"].into();
    let at = Duration::from_secs;
    let is_cut_off = |second, heard: &[&str]| {
        heard.iter().for_each(|name| purge_log.state().mark_current(name, at(second)));
        purge_log.review_peers_at(at(second), &names);
        purge_log.is_partitioned()
    };
    assert!(!is_cut_off(10, &[]));
    assert!(is_cut_off(20, &["fra"]));
    let asks = |second, choice| purge_log.must_revalidate_at(at(second), choice, at(60));
    assert!(asks(20, PartitionPolicy::Revalidate));
    assert!(!asks(79, PartitionPolicy::Stale) && asks(80, PartitionPolicy::Stale));
    assert!(!is_cut_off(30, &["syd"]) && !asks(1000, PartitionPolicy::Revalidate));
    assert!(is_cut_off(36, &[]));
}

#[test]
fn stream_gets_own_purges_first_and_others_as_a_fallback() {
    let (lhr, fra) = (PurgeLog::new(), PurgeLog::new());
    let ((own, _), ()) = lhr.append(vec![order("a"), order("b")], || ());
    lhr.mark_applied();
    let ((peers, _), ()) = fra.append(vec![order("c")], || ());
    fra.mark_applied();
    tell(("lhr", &lhr), ("fra", &fra));
    tell(("fra", &fra), ("lhr", &lhr));
    tell(("lhr", &lhr), ("fra", &fra));
    tell(("fra", &fra), ("lhr", &lhr));
    assert_eq!(lhr.stream_lag(), 3);
    let lacks =
        |whose| lhr.missing_in_stream(whose).map(|piece| (piece.log, piece.first, piece.entries.len()));
    assert_eq!((lacks(PublishScope::Own), lacks(PublishScope::All)), (Some((own, 1, 2)), None));
    lhr.record_in_stream(own, 2);
    lhr.snapshot_for_stream();
    assert_eq!((lacks(PublishScope::Own), lacks(PublishScope::All)), (None, Some((peers, 1, 1))));
    lhr.record_in_stream(peers, 1);
    lhr.record_in_stream(peers, 9);
    lhr.record_in_stream(LogId(7), 1 << 50);
    assert_eq!((lacks(PublishScope::All), lhr.stream_lag()), (None, 0));
    let ((_, last), ()) = fra.append(vec![order("d")], || ());
    assert_eq!(last, 2);
    let piece = |first| LogSlice { log: peers, first, forgets: false, entries: vec![order("d")] };
    assert_eq!((lhr.has_gap(&piece(2)), lhr.has_gap(&piece(3))), (false, true));
    lhr.reset_stream();
    assert_eq!((lacks(PublishScope::Own), lhr.stream_lag()), (Some((own, 1, 2)), 3));
}

#[test]
fn broadcast_log_end_affects_only_its_holders() {
    let (lhr, fra) = (PurgeLog::new(), PurgeLog::new());
    let ((log, _), ()) = fra.append(vec![order("a"), order("b")], || ());
    fra.mark_applied();
    let over = |end: u64| format!("{:x}:{end}", log.0).parse::<Position>().unwrap();
    assert_eq!(lhr.own_ended_logs(&over(2)), (Position::default(), Vec::new()));
    tell(("lhr", &lhr), ("fra", &fra));
    tell(("fra", &fra), ("lhr", &lhr));
    assert_eq!(lhr.own_ended_logs(&over(2)), (over(2), Vec::new()));
    let (ended, short) = lhr.own_ended_logs(&over(5));
    assert_eq!((ended, short.len(), short[0].first, short[0].forgets), (Position::default(), 1, 6, true));
    assert_eq!(lhr.own_ended_logs(&over(1)), (Position::default(), Vec::new()));
}
