//! Tests of the status as text: its length and its highlighting.

use planet::Amount;

use super::*;
use crate::lab::example::{self, host, link, status};

const MEGABYTE: u64 = 1_000_000;

fn plain(status: &planet::Status, most: usize) -> String {
    with_programs(status, Vec::new(), most)
}

fn with_programs(status: &planet::Status, programs: Vec<Program>, most: usize) -> String {
    example::plain(&text(&Overview { status: status.clone(), programs }, most))
}

#[test]
fn the_busiest_link_is_first_and_what_is_down_before_it() {
    let lossy = LinkStatus {
        rate_bps: Some(100_000_000),
        lost: Amount { segments: 7, bytes: 10_500 },
        overflowed: Amount { segments: 2, bytes: 3_000 },
        managed: Amount { segments: 3, bytes: 4_500 },
        ..link("london", "newyork", 12 * MEGABYTE)
    };
    let line = LinkStatus { access: Some("lte".to_owned()), is_down: true, ..link("phone", "london", 0) };
    let text = plain(
        &status(vec![host("phone", "london")], vec![link("newyork", "london", MEGABYTE), lossy, line]),
        20,
    );
    let expected = "
 link                          delay         rate    passed   lost   dropped   waiting
───────────────────────────────────────────────────────────────────────────────────────
 phone → london, lte, down   36.0 ms     no limit       0 B      0         0       0 B
 london → newyork            36.0 ms   100 Mbit/s   12.0 MB      7         5       0 B
 newyork → london            36.0 ms     no limit   1.00 MB      0         0       0 B
";
    assert!(text.contains(expected), "{text}");
    assert!(text.starts_with("planet \"p\", up for 12 min 03 s\n\n host    city     addresses\n"), "{text}");
}

#[test]
fn hundreds_of_cities_fit_one_screen() {
    let hosts: Vec<_> = (0..300).map(|n| host(format!("h{n}"), &format!("city-{}", n.min(298)))).collect();
    let text = plain(&status(hosts, Vec::new()), 20);
    // Title, header, rule, 20 cities, total and fidelity; two blank lines.
    assert_eq!(text.lines().count(), 1 + (2 + 20 + 1) + 1 + 2, "{text}");
    assert!(text.contains("\n city-298   h298 … h299       2\n city-0     h0                1\n"), "{text}");
    assert!(text.contains("300 hosts in 299 cities; "), "{text}");
}

#[test]
fn hundreds_of_hosts_and_links_fit_one_screen() {
    let hosts = (0..300).map(|n| host(format!("visitor-{n}"), if n < 200 { "london" } else { "paris" }));
    let links = (0..300).map(|n| link("london", &format!("city-{n}"), n * MEGABYTE));
    let status = status(hosts.collect(), links.collect());
    let text = plain(&status, 20);
    // Title; cities: header, rule, 2, total; links: header, rule, 20, rest; fidelity; three blank
    // lines.
    assert_eq!(text.lines().count(), 1 + 5 + 23 + 1 + 3, "{text}");
    assert!(text.contains(" london   visitor-0 … visitor-199       200\n"), "{text}");
    assert!(text.contains("300 hosts in 2 cities; each with its addresses: --all\n"), "{text}");
    assert!(text.contains("and 280 that carried less: --all\n"), "{text}");
    assert_eq!(plain(&status, usize::MAX).lines().count(), 1 + (2 + 300) + (2 + 300) + 1 + 3);
}

#[test]
fn programs_that_run_come_first_and_late_ones_before_early_ones() {
    let program = |number, command: &str, end| Program {
        number,
        host: "origin".to_owned(),
        command: vec![command.to_owned(), "x".repeat(40)],
        ran_s: 1.5,
        end,
    };
    let programs = vec![
        program(1, "serve", None),
        program(2, "true", Some(planet::End::Code(0))),
        program(3, "ping", None),
        program(4, "sleep", Some(planet::End::Signal(15))),
    ];
    let text = with_programs(&status(vec![host("origin", "london")], Vec::new()), programs, 3);
    let x = |count| "x".repeat(count);
    let expected = format!(
        "
 program   host     command                                     state                    for
─────────────────────────────────────────────────────────────────────────────────────────────
 3         origin   ping {}…   runs                   1.5 s
 1         origin   serve {}…   runs                   1.5 s
 4         origin   sleep {}…   was ended by SIGTERM   1.5 s
and 1 more: --all
",
        x(35),
        x(34),
        x(34)
    );
    assert!(text.contains(&expected), "{text}");
}
