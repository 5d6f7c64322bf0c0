//! Worlds in several in-memory files.

use super::*;

fn read(files: &[(&str, &str)]) -> Result<(World, Layout, Vec<String>), String> {
    let (path, text) = files[0];
    let mut document = Document::new(path, text);
    let open = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or(io::Error::from(io::ErrorKind::NotFound))
    };
    World::read_all(&mut document, open).map_err(|mistake| mistake.to_string())
}

fn refused(files: &[(&str, &str)]) -> String {
    read(files).map(|_| ()).unwrap_err()
}

const BASE: &str =
    "[world]\nname = 'base'\nseed = 7\ninflation = 2.0\nsysctl = { 'net.a' = '1', 'net.b' = '1' }\n
[[host]]\nname = 'origin'\ncity = 'newyork'\n[[link]]\nbetween = ['newyork', 'london']\nrtt = '70ms'\n";

const HOST: &str = "[[host]]\nname = 'visitor'\ncity = 'london'\n";

#[test]
fn the_tables_of_others_come_first() {
    let main =
        format!("[world]\ninclude = ['../base.toml']\ninflation = 1.5\nsysctl = {{ 'net.b' = '2' }}\n{HOST}");
    let (world, layout, _) = read(&[("w/main.toml", &main), ("base.toml", BASE)]).unwrap();
    let names: Vec<_> = layout.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["origin", "visitor"]);
    assert_eq!(layout.rtt(0, 1).as_millis(), 70);
    assert_eq!((layout.seed, world.settings.inflation, world.settings.name.as_deref()), (7, 1.5, None));
    let sysctl: Vec<_> =
        layout.hosts[0].sysctl.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(sysctl, [("net.a", "1"), ("net.b", "2")]);
    let again = World::read(&Document::new("again.toml", world.to_toml())).unwrap().1;
    assert_eq!((again.hosts.len(), again.seed), (2, 7));
}

#[test]
fn a_line_that_no_host_has_is_told_unless_it_is_there_for_others() {
    let line = |name: &str| format!("[[access]]\nname = '{name}'\nrtt = '1ms'\n");
    let library = line("spare");
    let main = format!(
        "[world]\ninclude = ['lines.toml']\n{HOST}access = 'cable'\n{}{}",
        line("cabel"),
        line("moon")
    );
    let (_, _, notes) = read(&[("main.toml", &main), ("lines.toml", &library)]).unwrap();
    let expected = [
        "main.toml:8:8: no host has the access line \"cabel\"; did you mean \"cable\"?",
        "main.toml:11:8: no host has the access line \"moon\"",
    ];
    assert_eq!(notes, expected);
    let visitors = format!("[[visitors]]\ncount = 1\ncities = ['rome']\naccess = 'x'\n{}", line("x"));
    assert_eq!(read(&[("main.toml", &visitors)]).unwrap().2, [""; 0]);
}

#[test]
fn a_file_that_two_others_include_is_there_once() {
    let main = format!("[world]\ninclude = ['a.toml', './b.toml']\n{HOST}");
    let other = "[world]\ninclude = ['base.toml']\n";
    let (world, layout, _) =
        read(&[("main.toml", &main), ("a.toml", other), ("b.toml", other), ("base.toml", BASE)]).unwrap();
    assert_eq!((layout.hosts.len(), world.settings.seed), (2, 7));
}

#[test]
fn the_nearer_file_wins() {
    let a = "[world]\nseed = 8\ninclude = ['base.toml']\n";
    let main = format!("[world]\ninclude = ['a.toml']\n{HOST}");
    let files = |main| read(&[("main.toml", main), ("a.toml", a), ("base.toml", BASE)]).unwrap().0.settings;
    let settings = files(&main);
    assert_eq!((settings.seed, settings.inflation), (8, 2.0));
    assert_eq!(files(&main.replace("[world]", "[world]\nseed = 1")).seed, 1);
}

#[test]
fn a_matrix_lies_beside_the_file_that_names_it() {
    let main = format!("[world]\ninclude = ['data/base.toml']\n{HOST}");
    let base = "[world]\nmatrix = 'rtt.csv'\n[[host]]\nname = 'origin'\ncity = 'newyork'\n";
    let files = |rtt| read(&[("main.toml", &main), ("data/base.toml", base), ("data/rtt.csv", rtt)]);
    let (world, layout, notes) = files("from,to,rtt_ms\nlondon,newyork,70\nnewyork,london,72\n").unwrap();
    assert_eq!(layout.rtt(0, 1).as_millis(), 71);
    assert!(
        notes[0].starts_with("data/rtt.csv: 1 pair differs by direction and has the mean; most"),
        "{notes:?}"
    );
    let again = World::read(&Document::new("again.toml", world.to_toml())).unwrap().1;
    assert_eq!(again.rtt(0, 1).as_millis(), 71);
    assert!(
        files("from,to,rtt_ms\nlondon,newyork,x\n")
            .unwrap_err()
            .starts_with("data/rtt.csv:2:16: \"x\" is not a round")
    );
}

#[test]
fn mistakes_name_the_file_they_are_in() {
    let main = format!("[world]\ninclude = ['base.toml']\n{HOST}");
    let with = |base: &str| refused(&[("main.toml", &main), ("base.toml", base)]);
    assert_eq!(
        refused(&[("main.toml", &main)]),
        "main.toml:2:12: base.toml cannot be read: entity not found"
    );
    assert_eq!(
        with("[[host]]\nnam = 'a'\n").split("; did").next().unwrap(),
        "base.toml:2:1: unknown field `nam`, expected one of `name`, `city`, `network`, `last_mile`, `access`, `mptcp`, `nic`, `congestion`, `sysctl`"
    );
    assert_eq!(
        with(&BASE.replace("newyork", "newyrok")),
        "base.toml:9:8: unknown city \"newyrok\"; did you mean \"newyork\"? (a new city needs lat and lon)"
    );
    assert_eq!(
        with(&BASE.replace("origin", "visitor")),
        "main.toml:4:8: host \"visitor\" is declared here and at base.toml:8:8"
    );
    let city = "[[city]]\nname = 'LHR'\n";
    let main = format!("{main}[[city]]\nname = 'london'\n");
    assert_eq!(
        refused(&[("main.toml", &main), ("base.toml", city)]),
        "main.toml:7:8: city \"london\" is declared here and at base.toml:2:8"
    );
}

#[test]
fn circles_and_depths_end() {
    let include = |name: &str| format!("[world]\ninclude = ['{name}']\n{HOST}");
    let (a, b) = (include("b.toml"), include("a.toml"));
    assert_eq!(
        refused(&[("a.toml", &a), ("b.toml", &b)]),
        "b.toml:2:12: these files include each other: a.toml, b.toml, a.toml"
    );
    assert_eq!(
        refused(&[("a.toml", &include("./a.toml"))]),
        "a.toml:2:12: these files include each other: a.toml, a.toml"
    );
    let files: Vec<_> =
        (0..20).map(|n| (format!("{n}.toml"), format!("[world]\ninclude = ['{}.toml']\n", n + 1))).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(refused(&files), "16.toml:2:12: files that include others are 16 deep at most");
}

#[test]
fn a_text_without_files_includes_nothing() {
    let text = format!("[world]\ninclude = ['base.toml']\n{HOST}");
    let said = World::read(&Document::new("w.toml", text)).unwrap_err().to_string();
    assert_eq!(said, "w.toml:2:12: a text that is not a file cannot include others");
}
