//! `longhaul ping` on a planet with a known distance and loss.

mod liar;

use crate::harness::{Folder, LONGHAUL, World, longhaul, number};

fn atlantic(name: &str, link: &str) -> World {
    World::named(name).host("origin", "newyork").host("visitor", "london").link("newyork", "london", link)
}

#[test]
fn round_trips_have_the_length_of_the_path() {
    let planet = atlantic("ping", "rtt = \"40ms\"").up();
    let folder = Folder::new();
    for family in ["-4", "-6"] {
        let file = folder.path(&format!("pings{family}.jsonl")).display().to_string();
        let command = [
            LONGHAUL,
            "ping",
            "origin",
            "visitor",
            family,
            "--count",
            "3",
            "--interval",
            "50ms",
            "--json",
            "--timeout",
            "60s",
            "-o",
            &file,
        ];
        let summary = planet.exec("visitor", &command).json();
        assert_eq!((summary["sent"].as_u64(), summary["received"].as_u64()), (Some(6), Some(6)));
        let (far, near) = (&summary["targets"][0], &summary["targets"][1]);
        // 20 ms in each direction. The benchmark checks the upper limit.
        assert!(number(far, "/rtt_ms/min") >= 40.0, "{far}");
        assert!(number(near, "/rtt_ms/min") > 0.0, "{near}");
        assert_eq!(far["address"].as_str().unwrap().contains(':'), family == "-6");
        assert_eq!(number(far, "/rtt_ms/thin_above"), 0.0);

        let compared = longhaul(&["compare", &file, "--by", "target", "--json"]).measured();
        assert_eq!(number(&compared, "/sides/0/n"), 6.0);
    }
}

#[test]
fn what_is_lost_is_missing_and_not_zero() {
    let planet = atlantic("ping-lost", "rtt = \"2ms\"\nloss = \"100%\"").up();
    let folder = Folder::new();
    let file = folder.path("pings.jsonl").display().to_string();
    let command = [
        LONGHAUL,
        "ping",
        "origin",
        "visitor",
        "--count",
        "2",
        "--interval",
        "10ms",
        "--timeout",
        "100ms",
        "--json",
        "-o",
        &file,
    ];
    let ended = planet.exec("visitor", &command);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let summary = ended.measured();
    let lost = &summary["targets"][0];
    assert_eq!((number(lost, "/sent"), number(lost, "/received")), (2.0, 0.0));
    assert_eq!(number(lost, "/failed_by_reason/timeout"), 2.0);
    assert_eq!(lost.get("rtt_ms"), None);
    let recording = std::fs::read_to_string(file).unwrap();
    assert_eq!(recording.matches("\"error\":\"timeout\"").count(), 2, "{recording}");
    assert!(recording.contains("\"failed\":2"), "{recording}");
}

#[test]
fn the_table_has_a_line_a_target() {
    let text = longhaul(&["ping", "127.0.0.1", "127.0.0.2", "--count", "2", "--interval", "10ms"]).ok();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[2].starts_with(" 127.0.0.1 ") && lines[3].starts_with(" 127.0.0.2 "), "{text}");
    assert!(text.contains('~') && text.contains("fewer than 10 samples beyond"), "{text}");
    assert_eq!(longhaul(&["ping", "127.0.0.1", "--count", "1", "--quiet"]).ok(), "");
}

#[test]
fn mistakes_are_named() {
    for (arguments, expected) in [
        (["ping", "127.0.0.1", "no-such-host.invalid"].as_slice(), "unknown host \"no-such-host.invalid\""),
        (&["ping", "127.0.0.1", "-6"], "127.0.0.1"),
        (&["ping", "127.0.0.1", "-4", "-6"], "cannot be used with"),
        (&["ping", "127.0.0.1", "--interval", "0s"], "an interval of 0"),
        (&["ping", "127.0.0.1", "--size", "65508"], "65508 is not in"),
        (&["ping", "127.0.0.1", "--count", "0"], "0 is not in"),
        (&["ping"], "<HOST>"),
    ] {
        let said = longhaul(arguments).refused();
        assert!(said.contains(expected), "expected {expected}: {said}");
    }
}
