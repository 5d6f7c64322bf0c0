//! Tests of the view of a synthetic planet.

use planet::{Amount, LinkStatus, Status};
use units::Probability;
use world::{Document, World, file::Fault};

use super::*;
use crate::lab::{
    example::{self, host, link, status},
    view,
};

fn picture(window: &Window, columns: usize, rows: usize) -> Vec<Line> {
    let world = Document::new("w.toml", "[[host]]\nname = 'a'\ncity = 'oslo'");
    let (_, layout) = World::read(&world).unwrap();
    view::picture(window, &layout, "m map  q quit", Size { columns, rows }, false)
}

fn text(window: &Window, columns: usize, rows: usize) -> Vec<String> {
    let lines = picture(window, columns, rows);
    lines.iter().map(|line| example::plain(&line.to_string())).collect()
}

/// In half a second: 1.25 MB from london to newyork, 5 lost segments, 250 KB on the phone's line.
fn window() -> Window {
    let look = |running_s: f64, bytes: u64, lost: u64| {
        let long = LinkStatus {
            rate_bps: Some(100_000_000),
            lost: Amount { segments: lost, bytes: lost * 1500 },
            waiting: Amount { segments: 80, bytes: 120_000 },
            ..link("london", "newyork", 10_000_000 + 5 * bytes)
        };
        let line = LinkStatus { access: Some("lte".to_owned()), ..link("phone", "london", bytes) };
        let idle = link("newyork", "paris", 7_000_000);
        let hosts = vec![host("phone", "london"), host("origin", "newyork")];
        Status { running_s, ..status(hosts, vec![idle, line, long]) }
    };
    let mut now = look(723.5, 250_000, 12);
    let lossy = Fault {
        between: Some(["london".to_owned(), "newyork".to_owned()]),
        loss: Probability::new(0.05),
        ..Fault::default()
    };
    now.faults.push(example::fault(1, lossy));
    Window { before: Some(look(723.0, 0, 7)), now }
}

#[test]
fn rates_are_what_has_changed_between_two_looks() {
    // 1.25 MB in half a second are 20 Mbit/s, 250 KB are 4 Mbit/s, and 5 segments are 10 a second.
    let expected = "\
planet \"p\"  up 12 min 04 s  rates over 0.5 s                       m map  q quit
valid  nothing delivered yet, own drops 0

 fault   when                 what
──────────────────────────────────────────────────────
 1       until it is lifted   london-newyork: loss 5%

 link                       now           of   drops/s   waiting
─────────────────────────────────────────────────────────────────
 london → newyork   20.0 Mbit/s   100 Mbit/s      10.0    120 KB

 line                          now         of   drops/s   waiting
──────────────────────────────────────────────────────────────────
 phone → london, lte   4.00 Mbit/s   no limit         0       0 B";
    assert_eq!(text(&window(), 80, 24).join("\n"), expected);
}

#[test]
fn a_first_look_counts_from_the_beginning() {
    let text = text(&Window { before: None, ..window() }, 80, 30).join("\n");
    assert!(text.contains("rates since it came up"), "{text}");
    // 7 MB in 723.5 s are 77.4 Kbit/s.
    assert!(text.contains("newyork → paris    77.4 Kbit/s"), "{text}");
}

#[test]
fn another_planet_of_the_same_name_begins_anew() {
    let mut window = window();
    window.now.running_s = 2.0;
    let text = text(&window, 80, 30).join("\n");
    // 11.25 MB in 2 s are 45 Mbit/s.
    assert!(text.contains("rates since it came up") && text.contains("45.0 Mbit/s"), "{text}");
}

#[test]
fn a_narrow_window_has_what_matters_most() {
    let text = text(&window(), 60, 24);
    assert!(text.iter().all(|line| line.chars().count() <= 60), "{text:#?}");
    assert!(text.contains(&" london → newyork   20.0 Mbit/s      10.0".to_owned()), "{text:#?}");
    assert!(text.contains(&" phone → london, lte   4.00 Mbit/s         0".to_owned()), "{text:#?}");
}

#[test]
fn a_low_window_has_a_part_of_each_and_says_so() {
    let mut window = window();
    window.now.links.extend((0..50).map(|n| link("london", &format!("city-{n}"), 1_000_000)));
    window.now.links.extend((0..50).map(|n| LinkStatus {
        access: Some("dsl".to_owned()),
        ..link(&format!("visitor-{n}"), "london", 1_000_000)
    }));
    window.now.faults = (0..50).map(|n| example::fault(n, Fault::default())).collect();
    let text = text(&window, 80, 26);
    // Below the heading, faults get a third of 24 rows, and links and lines half of the rest each. The empty
    // line, the header, the rule and the last line are not rows of a table: 50 - 4, 51 - 4 and 51 - 4.
    let hidden: Vec<_> = text.iter().filter(|line| line.starts_with("and ")).collect();
    assert_eq!(hidden, ["and 46 more", "and 47 more", "and 47 more"], "{text:#?}");
    assert_eq!(text.len(), 26);
    for rows in 0..8 {
        assert!(picture(&window, 3, rows).len() <= rows);
    }
}

#[test]
fn no_table_is_without_rows() {
    let window = window();
    for rows in 2..24 {
        let text = text(&window, 60, rows);
        let rule = text.iter().rposition(|line| line.starts_with("──"));
        assert!(rule.is_none_or(|rule| rule + 1 < text.len()), "{text:#?}");
        assert!(!text.iter().any(|line| line.starts_with("and 1 more")), "{text:#?}");
    }
    // The heading takes 2 of 9 rows and the link 4, so the line has no room.
    assert_eq!(
        text(&window, 60, 9).last().map(String::as_str),
        Some(" london → newyork   20.0 Mbit/s      10.0")
    );
}

#[test]
fn what_is_invalid_stands_in_red_at_the_top() {
    let mut window = window();
    window.now.fidelity.valid = false;
    window.now.fidelity.reasons.push("the emulator lost 3 packets that no link dropped".to_owned());
    let lines = picture(&window, 80, 24);
    let red = |text: &str| Words::styled(text, RED);
    assert!(lines[1].to_string().starts_with(&Line::from(red("INVALID")).to_string()));
    assert_eq!(lines[2], red("the emulator lost 3 packets that no link dropped").into());
}

#[test]
fn a_still_planet_says_that_it_is() {
    let still = Window { before: None, now: status(vec![host("origin", "newyork")], Vec::new()) };
    assert_eq!(text(&still, 80, 24)[2..], ["", "nothing moves"]);
}
