//! Cells and their scenarios.

use std::fs;

use super::*;
use crate::Size;

fn grid() -> Grid {
    Grid {
        rmem: vec![Setting::Default, Setting::Is(Size(Bytes(64 << 10)))],
        congestion: vec![Setting::Is("bbr".to_owned()), Setting::Default],
        notsent_lowat: vec![Setting::Is(Size(Bytes(131_072)))],
        repeat: 2,
        duration: Some(Duration::from_secs(5)),
        ..Grid::default()
    }
}

#[test]
fn cells_are_the_product_and_the_last_axis_changes_fastest() {
    let grid = grid();
    let cells = grid.parameters();
    let shown: Vec<_> = cells.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 8);
    assert_eq!(shown[0], "20ms, 1Gbit, tcp_notsent_lowat 128KiB, bbr, oscillating");
    assert_eq!(shown[1], "20ms, 1Gbit, tcp_notsent_lowat 128KiB, oscillating");
    assert_eq!(shown[2], "20ms, 1Gbit, tcp_rmem 64KiB, tcp_notsent_lowat 128KiB, bbr, oscillating");
    assert_eq!(shown[7], "300ms, 1Gbit, tcp_rmem 64KiB, tcp_notsent_lowat 128KiB, oscillating");
    let order: Vec<_> = grid.runs().iter().map(|run| run.cell).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_scenario_says_all_that_its_name_does() {
    let run = &grid().runs()[2];
    assert!(run.name.starts_with("20ms-1Gbit-rmem64KiB-notsent128KiB-bbr-oscillating-1-"), "{}", run.name);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{}.toml", run.name));
    fs::write(&path, &run.scenario).unwrap();
    let plan = scenario::Plan::read(&path).unwrap();
    assert_eq!(plan.name, run.name);
    let [sender, reader] = &plan.layout.hosts[..] else { panic!("two hosts") };
    assert_eq!(plan.layout.rtt(0, 1), Duration::from_millis(20));
    assert_eq!(sender.congestion.as_deref(), Some("bbr"));
    assert_eq!(sender.sysctl["net.ipv4.tcp_notsent_lowat"], "131072");
    assert_eq!(reader.sysctl["net.ipv4.tcp_rmem"], "4096 65536 65536");
    assert_eq!(plan.programs[0].ready, Some(5203));
    let [scenario::Measurement::Command(read)] = &plan.measurements[..] else { panic!("one command") };
    assert_eq!(read.command[4..], ["sender:5203", "--programme", "oscillating", "--for", "5s", "--json"]);
    assert_eq!((run.duration, plan.duration), (Duration::from_secs(5), Duration::from_secs(5)));
}

#[test]
fn whatever_changes_a_measurement_changes_its_name() {
    let names =
        |grid: &Grid| grid.runs().into_iter().map(|run| run.name).collect::<std::collections::BTreeSet<_>>();
    let before = names(&grid());
    assert_eq!(before.len(), 16);
    for (other, what) in [
        (Grid { duration: Some(Duration::from_secs(6)), ..grid() }, "its length"),
        (Grid { link: Table::from_iter([("loss".to_owned(), "1%".into())]), ..grid() }, "the link"),
        (Grid { world: Table::from_iter([("seed".to_owned(), 5.into())]), ..grid() }, "the seed"),
    ] {
        assert!(names(&other).is_disjoint(&before), "{what}");
    }
    // A programme is identified by its phases, not only by its name.
    let mut other = grid();
    other.programme[0].programme.repeat += 1;
    assert!(names(&other).is_disjoint(&before));
    let more = Grid { rtt: [20, 300, 500].map(Duration::from_millis).to_vec(), ..grid() };
    assert!(names(&more).is_superset(&before));
}

#[test]
fn names_do_not_leave_their_folder() {
    let mut grid = grid();
    grid.programme[0].name = "../../e\u{301}vil prog".to_owned();
    assert!(grid.runs()[0].name.contains("-evilprog-1-"), "{}", grid.runs()[0].name);
}
