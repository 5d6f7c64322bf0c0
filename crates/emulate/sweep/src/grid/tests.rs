//! Valid grids and sweep files, and errors with position and remedy.

use std::path::Path;

use config_file::Document;

use super::*;

fn machine(kernel: &str) -> Machine {
    let congestion = ["reno", "cubic", "bbr"].map(str::to_owned).to_vec();
    Machine { kernel: kernel.parse().unwrap(), congestion }
}

fn read(text: &str, kernel: &str) -> Result<Grid, String> {
    let document = Document::new("s.toml", text);
    Grid::parse(&document, Path::new(""), &machine(kernel)).map_err(|mistake| mistake.to_string())
}

#[test]
fn a_file_replaces_the_axes_that_it_has() {
    let grid = read(
        "rtt = ['0.3ms', '1s']\nrmem = ['default', '16MiB']\nadv_win_scale = [-2, 'default', '1']\n\
         congestion = ['bbr']\nprogramme = ['steady', 'stalls']\nrepeat = 3\nfor = '5s'\n\
         [world]\nseed = 7\n[link]\nqueue = '20ms'\n",
        "5.15",
    )
    .unwrap();
    let default = Grid::default();
    assert_eq!(grid.rtt, [Duration::from_micros(300), Duration::from_secs(1)]);
    assert_eq!(grid.adv_win_scale, [Setting::Is(-2), Setting::Default, Setting::Is(1)]);
    assert_eq!((&grid.rate, &grid.notsent_lowat), (&default.rate, &default.notsent_lowat));
    assert_eq!((grid.repeat, grid.duration), (3, Some(Duration::from_secs(5))));
    assert_eq!(grid.cells(), 24);
    assert_eq!((grid.world.len(), grid.link.len()), (default.world.len() + 1, 1));
}

#[test]
fn the_default_takes_a_few_minutes() {
    let grid = Grid::default();
    grid.check(&machine("6.18")).unwrap();
    assert_eq!((grid.cells(), grid.programme[0].programme.duration()), (4, Some(Duration::from_secs(60))));
}

#[test]
fn mistakes_are_located() {
    for (text, expected) in [
        ("rtf = ['1ms']\n", "s.toml:1:1: unknown field `rtf`, expected one of"),
        ("rtt = []\n", "s.toml:1:7: at least one value is expected"),
        ("rtt = ['1ms', '20ms', '1ms']\n", "s.toml:1:7: 1ms is listed twice"),
        ("rtt = ['0ms']\n", "s.toml:1:7: 0ms is not from 10us to 60s"),
        ("rtt = ['1ms', 20]\n", "s.toml:1:15: \"20\" has no unit"),
        ("rtt = '1ms'\n", "s.toml:1:7: invalid type"),
        ("rtt = [true]\n", "s.toml:1:7: expected a text"),
        ("repeat = 1\nrate = ['0Mbit']\n", "s.toml:2:9: "),
        ("rmem = ['1KB']\n", "s.toml:1:8: 1KB is not from 4KiB to 2047MiB"),
        ("rmem = ['3GiB']\n", "s.toml:1:8: 3GiB is not from"),
        ("notsent_lowat = ['0B']\n", "s.toml:1:17: 0B is not from 1B"),
        (
            "congestion = ['cubic', 'bbrr']\n",
            "s.toml:1:14: this kernel has no congestion control \"bbrr\"; did you mean \"bbr\"?; it has reno, cubic, bbr",
        ),
        (
            "programme = ['oscilating']\n",
            "s.toml:1:14: no programme is called \"oscilating\"; did you mean \"oscillating\"?",
        ),
        ("repeat = 0\n", "s.toml:1:10: each cell is measured at least once"),
        ("for = '0s'\n", "s.toml:1:7: 0ms is not from 200ms to 86400s"),
        ("[link]\nrtt = '1ms'\n", "s.toml:1:1: \"rtt\" is set by the sweep"),
        ("[world]\nsysctl = {}\n", "s.toml:1:1: \"sysctl\" is set by the sweep"),
        (
            "repeat = 25000\n",
            "s.toml:1:10: 4 cells, each measured 25000 times, are 100000 runs and more than the limit of 10000",
        ),
    ] {
        let said = read(text, "6.18").unwrap_err();
        assert!(said.starts_with(expected), "{text}said     {said}\nexpected {expected}");
    }
}

#[test]
fn the_scale_is_refused_where_it_does_nothing() {
    let text = "adv_win_scale = [1, 2]\n";
    let said = read(text, "6.6").unwrap_err();
    assert!(
        said.starts_with("s.toml:1:17: since Linux 6.6, and this is 6.6, tcp_adv_win_scale does nothing: "),
        "{said}"
    );
    assert_eq!(read(text, "6.5").unwrap().cells(), 8);
    assert!(read("adv_win_scale = [-32]\n", "5.15").unwrap_err().contains("-32 is not from -31 to 31"));
    assert!(read("adv_win_scale = ['default']\n", "6.18").is_ok());
}

#[test]
fn a_product_beyond_all_numbers_is_refused() {
    let many =
        |number: u64| (1..=number).map(|one| Size(Bytes(4096 + one))).map(Setting::Is).collect::<Vec<_>>();
    let grid =
        Grid { rmem: many(100_000), notsent_lowat: many(100_000), repeat: u32::MAX, ..Grid::default() };
    // Fast: the 100 000 values are not compared pairwise.
    let refusal = grid.check(&machine("6.18")).unwrap_err();
    assert!(refusal.why.contains("more than the limit of 10000"), "{refusal}");
}
