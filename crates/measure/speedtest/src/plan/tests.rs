//! The built-in plans, and errors in other plans.

use super::*;

fn said(text: &str) -> String {
    Plan::read("mine", &Document::new("p.toml", text)).unwrap_err().to_string()
}

#[test]
fn the_plans_that_are_compiled_in_can_be_read() {
    let full = Plan::full();
    // 9 x 0.1 + 8 x 1 + 6 x 10 + 4 x 25 + 3 x 100 + 2 x 250 MB, and the warm-up.
    assert_eq!(full.most_bytes(Direction::Download), Bytes(969_000_000));
    // 8 x 0.1 + 6 x 1 + 4 x 10 + 4 x 25 + 3 x 50 MB.
    assert_eq!(full.most_bytes(Direction::Upload), Bytes(296_800_000));
    assert_eq!(full.steps[1], Step::Latency { samples: 20 });
    assert_eq!(full.larger.map(|larger| (larger.by, larger.up_to)), Some((4, LARGEST)));
    assert_eq!(Plan::quick().limits.longest_set, Duration::from_secs(4));
    assert_eq!(Plan::quick().larger, None);
}

#[test]
fn a_plan_of_ones_own_has_defaults_for_what_it_does_not_say() {
    let text = "[[step]]\ndownload = '2MB'\ncount = 3\n[[step]]\nloss = 10";
    let plan = Plan::read("mine", &Document::new("p.toml", text)).unwrap();
    let download = Step::Transfer { direction: Direction::Download, bytes: 2_000_000, count: 3 };
    assert_eq!(plan.steps, [download, Step::Loss { messages: 10 }]);
    assert_eq!(plan.limits, Limits { stop_after_round_trips: 10, ..Plan::full().limits });
    assert_eq!(plan.larger, None);
    assert_eq!(plan.probe_every, Plan::full().probe_every);
}

#[test]
fn mistakes_are_answered_with_line_and_column() {
    for (text, expected) in [
        ("", "p.toml:1:1: a plan has at least one [[step]]"),
        ("[[step]]\n", "p.toml:1:1: a step is one of: warm_up"),
        ("[[step]]\nlatency = 3\ndownload = '1MB'", "p.toml:1:1: a step is one of"),
        ("[[step]]\nlatency = 3\ncount = 4", "p.toml:3:9: count is for a step that is a download"),
        ("[[step]]\ndownload = '2GB'", "p.toml:2:12: the body of a request has 1B to 1GB"),
        ("[[step]]\ndownload = '1MB'\ncount = 0", "p.toml:3:9: expected a number from 1 to 1000"),
        ("[[step]]\nlatency = -1", "p.toml:2:11: invalid value: integer `-1`, expected a whole number"),
        ("[[step]]\ndonwload = '1MB'", "did you mean \"download\"?"),
        ("probe_every = '1ms'\n[[step]]\nlatency = 1", "p.toml:1:15: probe_every is less than 20ms"),
        (
            "stop_after_round_trips = 0\n[[step]]\nlatency = 1",
            "p.toml:1:26: expected a number from 1 to 1000",
        ),
        (
            "larger = { by = 1, up_to = '1GB', count = 2, within = '30s' }\n[[step]]\nlatency = 1",
            "p.toml:1:17: expected a number from 2 to 100",
        ),
        (
            "larger = { by = 4, up_to = '2GB', count = 2, within = '30s' }\n[[step]]\nlatency = 1",
            "p.toml:1:28: the body of a request has 1B to 1GB",
        ),
        (
            "larger = { by = 4, up_to = '1GB', within = '30s' }\n[[step]]\nlatency = 1",
            "p.toml:1:10: missing field `count`",
        ),
        ("stop_after = 'soon'\n[[step]]\nlatency = 1", "p.toml:1:14: "),
    ] {
        let said = said(text);
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    let many = "[[step]]\nlatency = 1\n".repeat(101);
    assert!(said(&many).starts_with("p.toml:201:1: a plan has at most 100 steps"), "{}", said(&many));
}
