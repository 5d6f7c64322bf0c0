//! Accepted scenario files, and rejected ones with a position and a remedy.

use super::*;
use crate::kind::{commands, ping::Ping, pings, probes, transfers};

const SCENARIO: &str = r#"
[scenario]
title = "Two hosts"

[[host]]
name = "origin"
city = "newyork"

[[host]]
name = "visitor"
city = "london"

[[program]]
host = "origin"
run = ["longhaul", "serve"]
ready = 80

[[probe]]
side = "one"
from = ["visitor"]
url = "http://origin/"

[[fault]]
at = "10s"
for = "5s"
between = ["london", "newyork"]
loss = "5%"

[[claim]]
claim = "it is quick"
at = "request.p50"
side = "one"
below = "100ms"
"#;

fn read(text: &str) -> Result<Plan, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.toml");
    std::fs::write(&path, text).unwrap();
    let shown = format!("{}/", folder.path().display());
    Plan::read(&path).map_err(|error| error.to_string().replace(&shown, ""))
}

#[test]
fn a_scenario_is_resolved() {
    let plan = read(SCENARIO).unwrap();
    assert_eq!(plan.name, "two");
    assert_eq!(probes(&plan.measurements)[0].side, "one");
    assert_eq!(plan.duration, Duration::from_secs(30));
    assert_eq!(
        (plan.faults[0].at, plan.faults[0].lasts),
        (Duration::from_secs(10), Some(Duration::from_secs(5)))
    );
    assert_eq!(plan.faults[0].fault.to_string(), "london-newyork: loss 5%");
    assert_eq!(plan.page.effective_requests(), 1);
    assert_eq!(
        probes(&plan.measurements)[0].arguments().join(" "),
        "--rate 10/s --arrival poisson --duration 30s --connections new --protocol auto --seed 1"
    );
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let swap = |from: &str, to: &str| SCENARIO.replacen(from, to, 1);
    for (text, expected) in [
        (swap("title", "titel"), "two.toml:3:1: unknown field `titel`"),
        (
            swap("host = \"origin\"\nrun", "host = \"orgin\"\nrun"),
            "two.toml:14:8: unknown host \"orgin\"; did you mean \"origin\"?",
        ),
        (
            swap("run = [\"longhaul\", \"serve\"]", "run = []"),
            "two.toml:15:7: expected a program and its arguments",
        ),
        (
            swap("[\"visitor\"]", "[\"visitor\", \"visitor\"]"),
            "two.toml:20:20: one is measured from \"visitor\" twice",
        ),
        (
            swap("\"london\", \"newyork\"", "\"lodnon\", \"newyork\""),
            "two.toml:23:1: no host lives in \"lodnon\"; did you mean \"london\"?",
        ),
        (
            swap("\"http://origin/\"", "\"http://orgin/\""),
            "the world has no host \"orgin\"; did you mean \"origin\"?",
        ),
        (swap("\"http://origin/\"", "\"origin\""), "\"origin\" is not a URL"),
        (swap("[\"visitor\"]", "[]"), "two.toml:20:8: expected at least one host"),
        (
            format!("{SCENARIO}\n[[transfer]]\nside = \"two\"\nfrom = \"origin\"\nto = \"origin\"\n"),
            "two.toml:38:6: \"origin\" is both sender and receiver, whose traffic never leaves its kernel; name another host",
        ),
        (
            "[scenario]\ntitle = \"x\"\nworld = \"gone.toml\"\n".to_owned(),
            "two.toml:3:9: gone.toml cannot be read: No such file",
        ),
        (swap("[\"visitor\"]", "[\"guest*\"]"), "two.toml:20:9: no host's name begins with \"guest\""),
        (
            swap("side = \"one\"\nfrom", "side = \"../one\"\nfrom"),
            "two.toml:19:8: \"../one\" cannot be a side's name",
        ),
        (swap("at = \"10s\"\n", ""), "two.toml:23:1: this fault has no time; expected at = \"10s\""),
        (
            swap("between = [\"london\", \"newyork\"]\nloss = \"5%\"", "host = \"visitor\"\ndown = true"),
            "two.toml:23:1: this fault would kill the measuring program in \"visitor\"",
        ),
        (swap("at = \"10s\"", "at = \"30s\""), "this fault begins at 30s, and measuring ends at 30s"),
        (
            "[scenario]\ntitle = \"x\"\nworld = \"w.toml\"\n[world]\nseed = 2\n".to_owned(),
            "two.toml:3:9: the scenario contains a world",
        ),
        (swap("loss = \"5%\"", ""), "two.toml:23:1: this fault changes nothing"),
        (swap("loss = \"5%\"", "loss = \"120%\""), "two.toml:27:8: \"120%\" is out of range"),
        (swap("\"request.p50\"", "\"p50\""), "two.toml:31:6: \"p50\" is not a measure"),
        (
            swap("side = \"one\"\nbelow", "side = \"ones\"\nbelow"),
            "two.toml:32:8: no probe measures the side \"ones\"; did you mean \"one\"?",
        ),
        (swap("below = \"100ms\"", ""), "two.toml:30:9: a claim has either faster or fewer and than"),
        (
            swap("side = \"one\"\nbelow = \"100ms\"", "fewer = \"one\"\nthan = \"one\""),
            "two.toml:32:9: request.p50 is not counted; expected faster instead of fewer",
        ),
        (
            swap("side = \"one\"\nbelow = \"100ms\"", "faster = \"one\"\nfewer = \"one\"\nthan = \"one\""),
            "two.toml:30:9: a claim has either faster or fewer and than",
        ),
        (
            swap("below = \"100ms\"", "below = \"100ms\"\nabove = \"50ms\""),
            "two.toml:30:9: a claim has either faster or fewer and than",
        ),
        (swap("below = \"100ms\"", "below = \"100Mbit\""), "two.toml:33:9: \"100Mbit\" has the unknown unit"),
        (
            swap("below = \"100ms\"", "is = \"100ms\""),
            "two.toml:33:6: request.p50 is never exactly equal to a number",
        ),
        (
            swap("\"request.p50\"", "\"transfer.stall\""),
            "two.toml:32:8: no transfer measures the side \"one\"",
        ),
        (format!("[page]\nrequests = 0\n{SCENARIO}"), "two.toml:2:12: "),
        (swap("title = \"Two hosts\"", "title = \"x\"\nworld = \"w.toml\""), "expected one of them"),
        (
            SCENARIO.split("[[probe]]").next().unwrap().to_owned(),
            "the scenario measures nothing; add a [[probe]], a [[transfer]], a [[ping]], a [[speed]], a [[kv]] or a [[command]]",
        ),
    ] {
        let said = read(&text).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn mutants_name_claims_that_must_fail() {
    let mutant = |keys: &str| {
        let table = format!("{SCENARIO}\n[[mutant]]\nwithout = 'the short way'\n{keys}\n");
        read(&table).map(|plan| plan.mutants)
    };
    let change = "change = [{ file = 'networks/n.toml', from = 'a', to = '' }, { from = 'b', to = 'c' }]";
    let [only] = mutant(&format!("fails = ['it is quick']\n{change}")).unwrap().try_into().unwrap();
    assert_eq!(
        (only.without.as_str(), only.fails.as_slice()),
        ("the short way", ["it is quick".to_owned()].as_slice())
    );
    let files: Vec<_> = only.changes.iter().map(|change| change.file.clone()).collect();
    assert_eq!(files, [Some("networks/n.toml".into()), None]);
    let twice = SCENARIO.to_owned() + SCENARIO.split_once("[[claim]]").map_or("", |(_, claim)| claim);
    let twice = twice.replacen("below = \"100ms\"\n", "below = \"100ms\"\n[[claim]]", 1);
    let said =
        read(&format!("{twice}[[mutant]]\nwithout = 'x'\nfails = ['it is quick']\n{change}\n")).unwrap_err();
    assert!(
        said.contains("several claims have the text \"it is quick\"; give each a different text"),
        "{said}"
    );
    for (keys, expected) in [
        (format!("fails = []\n{change}"), "37:9: expected at least one claim that must fail"),
        (
            format!("fails = ['it is quik']\n{change}"),
            "37:10: no claim says \"it is quik\"; did you mean \"it is quick\"?",
        ),
        ("fails = ['it is quick']\nchange = []".to_owned(), "38:10: expected at least one change"),
        (
            "fails = ['it is quick']\nchange = [{ file = '../n', from = 'a', to = '' }]".to_owned(),
            "38:20: ../n is not in the scenario's folder; expected a relative path, such as networks/tiers.toml",
        ),
        (
            "fails = ['it is quick']\nchange = [{ from = '', to = 'a' }]".to_owned(),
            "38:20: expected the text that is replaced",
        ),
    ] {
        let said = mutant(&keys).unwrap_err();
        assert!(said.contains(&format!("two.toml:{expected}")), "expected {expected}\n  but got {said}");
    }
}

fn with(tables: &str) -> Result<Plan, String> {
    read(&format!("{}{tables}", SCENARIO.split("[[probe]]").next().unwrap()))
}

#[test]
fn a_transfer_brings_its_server() {
    let plan = with(
        "[[transfer]]\nside = 'tcp'\nfrom = 'visitor'\nto = 'origin'\n\
         [[transfer]]\nside = 'mptcp'\nfrom = 'visitor'\nto = 'origin'\nprotocol = 'mptcp'\nduration = '7s'\n\
         [[transfer]]\nside = 'back'\nfrom = 'origin'\nto = 'visitor'\nport = 99\n",
    )
    .unwrap();
    let servers: Vec<_> =
        plan.programs.iter().skip(1).map(|one| (one.host.as_str(), one.command.join(" "))).collect();
    let expected = [
        ("origin", "longhaul transfer serve --listen [::]:5201 --mptcp"),
        ("visitor", "longhaul transfer serve --listen [::]:99"),
    ];
    assert_eq!(servers, expected.map(|(host, command)| (host, command.to_owned())));
    assert_eq!(plan.duration, Duration::from_secs(30));
}

#[test]
fn both_ends_of_a_transfer_are_told_what_it_says() {
    let plan = with(
        "[[transfer]]\nside = 'small'\nfrom = 'visitor'\nto = 'origin'\nrcvbuf = '64KiB'\nwindow = '4MiB'\n\
         [[transfer]]\nside = 'large'\nfrom = 'visitor'\nto = 'origin'\nport = 99\nbytes = '10MB'\nnotsent_lowat = '128KiB'\n",
    )
    .unwrap();
    let servers: Vec<_> = plan.programs.iter().skip(1).map(|one| one.command.join(" ")).collect();
    let expected = [
        "longhaul transfer serve --listen [::]:99",
        "longhaul transfer serve --listen [::]:5201 --rcvbuf 65.536KB --window 4194.304KB",
    ];
    assert_eq!(servers, expected);
    assert_eq!(transfers(&plan.measurements)[1].bytes, Some(Bytes(10_000_000)));
    assert_eq!(transfers(&plan.measurements)[1].notsent_lowat, Some(Bytes(131_072)));
}

#[test]
fn one_side_may_wait_for_another() {
    let tables = "[[command]]\nside = 'first'\nhost = 'visitor'\nrun = ['true']\nduration = '10s'\n\
         [[command]]\nside = 'second'\nhost = 'visitor'\nrun = ['true', '{out}/x']\nafter = 'first'\n\
         [[transfer]]\nside = 'third'\nfrom = 'visitor'\nto = 'origin'\nbytes = '1KB'\nduration = '2s'\nafter = 'second'\n\
         [[probe]]\nside = 'fourth'\nfrom = ['visitor']\nurl = 'http://origin/'\nduration = '3s'\nafter = 'third'\n";
    let plan = with(tables).unwrap();
    // 10 s, then the default 30 s of a command, then 2 s and 3 s.
    assert_eq!(plan.duration, Duration::from_secs(45));
    let first = commands(&plan.measurements)[0];
    assert_eq!((first.codes.as_slice(), first.timeout), ([0].as_slice(), Duration::from_secs(300)));
    let fault = |at: &str| {
        with(&format!("{tables}[[fault]]\nat = '{at}'\nbetween = ['london', 'newyork']\ndown = true\n"))
    };
    assert!(fault("44s").is_ok());
    assert!(fault("45s").unwrap_err().contains("this fault begins at 45s, and measuring ends at 45s"));
}

#[test]
fn a_probe_may_ask_for_many_objects() {
    let probe = |url: &str, keys: &str| {
        with(&format!("[[probe]]\nside = 'many'\nfrom = ['visitor']\nurl = 'http://origin/{url}'\n{keys}\n"))
    };
    let plan = probe("{}", "objects = 50").unwrap();
    let arguments = probes(&plan.measurements).last().unwrap().arguments().join(" ");
    assert!(arguments.contains("--objects 50 --zipf 0.8 "), "{arguments}");
    for (url, keys, expected) in [
        ("a", "objects = 50", "22:11: the url has no {} for the number of an object"),
        ("{}", "objects = 0", "22:11: expected 1 to 10000000 objects"),
        ("{}", "objects = 5\nzipf = -1.0", "23:8: expected an exponent from 0, all alike, to 10"),
        ("a", "zipf = 1.0", "22:8: zipf is about objects: add objects"),
        ("{}", "", "21:7: the url has a {} for the number of an object: add objects"),
    ] {
        let said = probe(url, keys).unwrap_err();
        assert!(said.contains(&format!("two.toml:{expected}")), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn programs_find_what_lies_beside_the_file() {
    let plan = with("[[command]]\nside = 'one'\nhost = 'visitor'\nrun = ['cat', '{dir}/x']\n").unwrap();
    let path = std::path::PathBuf::from(&commands(&plan.measurements)[0].command[1]);
    assert!(path.is_absolute() && path.ends_with("x"), "{}", path.display());
}

#[test]
fn mistakes_of_commands_and_transfers_have_a_place() {
    let command =
        |keys: &str| format!("[[command]]\nside = 'one'\nhost = 'visitor'\nrun = ['true']\n{keys}\n");
    let transfer =
        |keys: &str| format!("[[transfer]]\nside = 'bulk'\nfrom = 'visitor'\nto = 'origin'\n{keys}\n");
    let claim = |keys: &str| command("") + "[[claim]]\nclaim = 'x'\n" + keys;
    for (tables, expected) in [
        (command("").replace("['true']", "[]"), "21:7: expected a program and its arguments"),
        (
            command("").replace("'visitor'", "'visiter'"),
            "20:8: unknown host \"visiter\"; did you mean \"visitor\"?",
        ),
        (command("duration = '0s'"), "19:8: this has a duration of 0 s"),
        (command("duration = '10min'"), "19:8: the timeout is shorter than the duration"),
        (command("codes = []"), "22:9: codes is empty"),
        (command("codes = [256]"), "22:10: "),
        (command("") + &command(""), "24:8: another command measures this side"),
        (command("after = 'ones'"), "22:9: nothing measures the side \"ones\"; did you mean \"one\"?"),
        (
            format!(
                "[[probe]]\nside = 'one'\nfrom = ['visitor']\nurl = 'http://origin/'\nafter = 'ones'\n{}",
                command("").replace("one", "two")
            ),
            "22:9: nothing measures the side \"ones\"; did you mean \"one\"?",
        ),
        (command("after = 'one'"), "22:9: \"one\" never ends, because it waits for a side that waits for it"),
        (
            command("after = 'bulk'") + &transfer("after = 'one'"),
            "27:9: \"one\" never ends, because it waits for a side that waits for it",
        ),
        (transfer("omit = '30s'"), "19:8: omit is as long as the whole transfer"),
        (transfer("bytes = '3'"), "22:9: \"3\" has no unit"),
        (
            transfer("rcvbuf = '64KiB'") + &transfer("").replace("bulk", "other"),
            "26:6: another transfer to port 5201 of \"origin\" has a different rcvbuf or window",
        ),
        (claim("at = 'json'\nside = 'one'\nis = '0'"), "25:6: \"json\" is not a place in JSON"),
        (claim("at = 'json.errors'\nside = 'two'\nis = '0'"), "26:8: no command measures the side \"two\""),
        (claim("at = 'json.errors'\nside = 'one'\nis = '0B'"), "27:6: \"0B\" is not a plain number"),
        (claim("at = 'json.took_s'\nside = 'one'\nbelow = '3'"), "27:9: \"3\" has no unit"),
        (
            claim("at = 'json.errors'\nfaster = 'one'\nthan = 'one'"),
            "26:10: json.errors does not decide which side is faster",
        ),
        (
            claim("at = 'json.took_s'\nfaster = 'one'\nthan = 'one'\nby = '0.5x'"),
            "28:6: \"0.5x\" is not a multiple; expected one from 1x on",
        ),
    ] {
        let said = with(&tables).unwrap_err();
        assert!(said.contains(&format!("two.toml:{expected}")), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn every_host_pings_every_other() {
    let plan = with(
        "[[host]]\nname = 'third'\ncity = 'paris'\n\
         [[ping]]\nside = 'mesh'\nfrom = ['*']\nto = ['*']\ncount = 3\ninterval = '2s'\n",
    )
    .unwrap();
    let asked = |ping: &Ping| {
        let targets: Vec<_> = ping.targets.iter().map(|target| target.host.clone()).collect();
        (ping.host.clone(), targets.join(" "))
    };
    let expected = [("origin", "visitor third"), ("visitor", "third origin"), ("third", "origin visitor")];
    assert_eq!(
        pings(&plan.measurements).into_iter().map(asked).collect::<Vec<_>>(),
        expected.map(|(host, targets)| (host.to_owned(), targets.to_owned()))
    );
    assert_eq!(plan.duration, Duration::from_secs(6));
}

#[test]
fn no_host_pings_itself() {
    let ping = |from: &str| with(&format!("[[ping]]\nside = 'x'\nfrom = ['{from}']\nto = ['origin']\n"));
    assert_eq!(
        pings(&ping("*").unwrap().measurements).iter().map(|one| one.host.as_str()).collect::<Vec<_>>(),
        ["visitor"]
    );
    assert!(
        ping("origin").unwrap_err().contains("there is nothing to ping, because a host does not ping itself")
    );
}

#[test]
fn a_world_of_its_own_has_all_tables() {
    let plan = read(
        &(SCENARIO.replace("http://origin/", "http://cdn/").replace("[\"visitor\"]", "[\"people-*\"]")
            + "[[visitors]]\ncount = 2\nname = 'people'\ncities = ['paris']\naccess = 'line'\n\
               [[access]]\nname = 'line'\ndown = '10Mbit'\n\
               [[anycast]]\nname = 'cdn'\nprefix = '192.0.2.0/24'\nhosts = ['origin']\n\
               [[fault]]\nat = '1s'\nwithdraw = 'cdn'\n"),
    )
    .unwrap();
    assert_eq!(
        probes(&plan.measurements).iter().map(|probe| probe.host.as_str()).collect::<Vec<_>>(),
        ["people-1", "people-2"]
    );
    assert_eq!(plan.faults[0].fault.to_string(), "cdn withdrawn");
}

#[test]
fn faults_of_a_world_file_are_the_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = "[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'paris'\n";
    let fault = "[[fault]]\nat = '3s'\nbetween = ['london', 'paris']\ndown = true\n";
    std::fs::write(folder.path().join("w.toml"), format!("{hosts}{fault}")).unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(
        &path,
        "[scenario]\ntitle = 'x'\nworld = 'w.toml'\n[[ping]]\nside = 'x'\nfrom = ['a']\nto = ['b']\n\
         [[fault]]\nat = '1s'\ncity = 'paris'\ndown = true\n",
    )
    .unwrap();
    let plan = Plan::read(&path).unwrap();
    let faults: Vec<_> =
        plan.faults.iter().map(|timed| (timed.at.as_secs(), timed.fault.to_string())).collect();
    assert_eq!(faults, [(1, "paris: down".to_owned()), (3, "london-paris: down".to_owned())]);
    // The planet's clock starts earlier, so the planet receives the faults when the measurements
    // start.
    assert!(plan.world.faults.is_empty());
}

#[test]
fn only_programs_die_with_their_host() {
    let plan = read(&SCENARIO.replace(
        "between = [\"london\", \"newyork\"]\nloss = \"5%\"",
        "host = \"origin\"\ndown = \"killed\"",
    ))
    .unwrap();
    assert!(!plan.is_killed("origin", Duration::from_secs(9)));
    assert!(plan.is_killed("origin", Duration::from_secs(10)));
    assert!(plan.is_killed("origin", Duration::from_secs(20)));
    assert!(!plan.is_killed("visitor", Duration::from_secs(20)));
}

#[test]
fn a_speed_test_brings_its_server_and_its_plan() {
    let test = "[[speed]]\nside = 'one'\nfrom = 'visitor'\nto = 'origin'\n";
    let plan = with(test).unwrap();
    assert_eq!(plan.programs[1].command.join(" "), "longhaul speed serve --listen [::]:8090");
    for (tables, expected) in [
        (format!("{test}plan = 'none.toml'"), "two.toml:22:8: none.toml is neither quick nor full"),
        (format!("{test}streams = 0"), "two.toml:22:11: expected 1 to 64 streams"),
        (format!("{test}{test}"), "another speed test measures this side"),
        (
            format!("{test}{}protocol = 'http2'", test.replace("one", "two")),
            "another speed test to port 8090 of \"origin\" speaks clear text",
        ),
    ] {
        let said = with(&tables).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn writers_and_readers_of_keys_are_checked_and_what_they_wrote_is_read_at_the_end() {
    let kv = |more: &str| {
        let table = "[[kv]]\nside = 'keys'\nwriters = ['origin']\nreaders = ['visitor']\nstore = 'origin'\ntoken = 't'\n";
        with(&format!("{table}{more}\n"))
    };
    let filled = kv("keys = 3\nfill = true\nafter = 'other'\n[[ping]]\nside = 'other'\nfrom = ['origin']\nto = ['visitor']").unwrap();
    let steps: Vec<_> = filled
        .measurements
        .iter()
        .map(|one| (one.measures().side(), one.measures().after().map(|after| after.get_ref().as_str())))
        .filter(|(side, _)| side.starts_with("keys"))
        .collect();
    let first = Some("keys.first");
    assert_eq!(
        steps,
        [("keys.first", Some("other")), ("keys", first), ("keys", first), ("keys.last", Some("keys"))]
    );
    let plan = kv("keys = 3\nduration = '10s'").unwrap();
    let steps: Vec<_> = plan.measurements.iter().map(|one| one.measures().side()).collect();
    assert_eq!(steps, ["keys", "keys", "keys.last"]);
    // 10 s, and 1 s for the final reads, which wait for the others.
    assert_eq!(plan.duration, Duration::from_secs(11));
    for (more, expected) in [
        ("keys = 0", "24:8: expected 1 to 1000 keys"),
        ("zipf = 11.0", "24:8: expected an exponent from 0, all alike, to 10"),
        ("write_rate = '5'", "24:14: \"5\" has no unit"),
        ("after = 'others'", "24:9: nothing measures the side \"others\""),
        (
            "[[kv]]\nside = 'keys'\nwriters = ['origin']\nreaders = ['origin']\nstore = 'origin'\ntoken = 't'",
            "25:8: another [[kv]] measures this side",
        ),
        (
            "[[kv]]\nside = 'b'\nwriters = ['origin', 'origin']\nreaders = ['origin']\nstore = 'origin'\ntoken = 't'",
            "26:22: \"origin\" is named twice",
        ),
        (
            "[[kv]]\nside = 'b'\nwriters = ['origin']\nreaders = ['orign']\nstore = 'origin'\ntoken = 't'",
            "27:12: unknown host \"orign\"; did you mean \"origin\"?",
        ),
        (
            "[[kv]]\nside = 'b'\nwriters = ['origin']\nreaders = ['origin']\nstore = 'origin'\ntoken = 'a b'",
            "29:9: expected a token",
        ),
    ] {
        let said = kv(more).unwrap_err();
        assert!(said.contains(&format!("two.toml:{expected}")), "expected {expected}\n  but got {said}");
    }
}
