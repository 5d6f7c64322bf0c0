//! Planets: distance, loss, names, exit codes, and removal.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use link::{Arrival, Ecn, Link, Packet, Verdict};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, Uid},
};
use world::{Document, World as Description};

use crate::harness::{Ended, Folder, LONGHAUL, Running, World, is_up, longhaul, number, sleeper, wait_until};

fn atlantic(name: &str) -> World {
    World::named(name).host("origin", "newyork").host("visitor", "london").link(
        "newyork",
        "london",
        "rtt = \"40ms\"",
    )
}

#[test]
fn hosts_reach_each_other_by_name_over_the_distance() {
    let planet = atlantic("names").up();
    for version in ["-4", "-6"] {
        let text = planet.exec("visitor", &["ping", version, "-q", "-c", "3", "-i", "0.2", "origin"]).ok();
        let least: f64 = text.rsplit("= ").next().unwrap().split('/').next().unwrap().parse().unwrap();
        // 20 ms in each direction. The benchmark checks the upper limit.
        assert!(least >= 40.0, "{text}");
    }
}

#[test]
fn exit_codes_and_signals_are_passed_on() {
    let planet = atlantic("codes").up();
    assert_eq!(planet.exec("origin", &["sh", "-c", "exit 7"]).code, Some(7));
    assert_eq!(planet.exec("origin", &["sh", "-c", "kill -TERM $$"]).code, Some(128 + 15));
    let said = planet.exec("origin", &["no-such-program"]).refused();
    assert!(said.contains("cannot run no-such-program in origin: No such file or directory"), "{said}");
    let said = planet.exec("orign", &["true"]).refused();
    assert!(said.contains("no host \"orign\"") && said.contains("its hosts are origin, visitor"), "{said}");
}

#[test]
fn a_program_keeps_folder_input_and_environment() {
    let planet = atlantic("habits").up();
    let folder = Folder::new();
    folder.file("here", "found\n");
    let mut command = planet.command("origin", &["sh", "-c", "cat here; echo $FLAVOUR"]);
    let output = command.current_dir(folder.path("")).env("FLAVOUR", "plain").output().unwrap();
    assert_eq!(Ended::of(output).ok(), "found\nplain\n");
}

/// With the same seed, the engine alone and a planet must lose the same packets.
#[test]
fn the_planet_loses_the_packets_that_the_engine_says() {
    const PINGS: u32 = 400;
    let world = World::named("losses").host("origin", "newyork").host("visitor", "london").link(
        "newyork",
        "london",
        "rtt = \"2ms\"\nloss = \"10%\"",
    );
    let layout = Description::read(&Document::new("w.toml", world.text())).unwrap().1;

    let direction = |from, to| Link::new(layout.link(from, to), layout.link_seed(from, to));
    let (mut there, mut back) = (direction(1, 0), direction(0, 1));
    let passes = |link: &mut Link<()>| {
        let mut passed = false;
        let arrival = Arrival { packet: Packet::single(84), flow: 0, ecn: Ecn::NotCapable, tag: () };
        link.offer(std::time::Duration::ZERO, arrival, &mut |(), verdict| {
            passed = matches!(verdict, Verdict::Deliver { .. });
        });
        passed
    };
    let expected = (0..PINGS).filter(|_| passes(&mut there) && passes(&mut back)).count();
    assert!((250..=400).contains(&expected), "81 % of 400 are expected: {expected}");

    let planet = world.up();
    let count = PINGS.to_string();
    // Longer than a busy machine delays a process.
    let said = planet
        .exec("visitor", &["ping", "-4", "-q", "-c", &count, "-i", "0.005", "-W", "5", "origin"])
        .stdout;
    let received = said.split(" received").next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(received, expected.to_string(), "{said}");
}

#[test]
fn every_byte_of_a_transfer_is_accounted_for() {
    let planet = World::named("bytes")
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"10ms\"\nrate = \"200Mbit\"\nqueue = \"30KB\"\nloss = \"0.1%\"")
        .up();
    let _origin = planet.serve("origin", &["--body", "5MB"]);
    let summary =
        planet.exec("visitor", &[LONGHAUL, "probe", "http://origin/", "--count", "4", "--json"]).measured();
    assert_eq!(number(&summary, "/body_bytes"), 20e6);
    let fidelity = planet.status()["fidelity"].clone();
    let bytes = |name: &str| number(&fidelity, &format!("/bytes_{name}"));
    assert!(bytes("out") > 20e6 && bytes("dropped") > 0.0, "{fidelity}");
    assert_eq!(bytes("in"), bytes("out") + bytes("dropped") + bytes("in_flight"));
}

#[test]
fn a_second_planet_of_one_name_is_refused_and_the_first_lives_on() {
    let planet = atlantic("twice").up();
    let folder = Folder::new();
    let file = folder.file("w.toml", atlantic("twice").text());
    let said = longhaul(&["lab", "up", &file, "--detach", "--name", planet.name()]).refused();
    assert!(said.contains("is up already") && said.contains("longhaul lab down --planet"), "{said}");
    planet.exec("origin", &["true"]).ok();
}

#[test]
fn a_world_may_bring_large_recordings() {
    let folder = Folder::new();
    // 9 MiB each: both exceed the limit of a single file.
    let recording = folder.file("steady.trace", "1234567\n".repeat(9 << 17));
    let trace = format!("trace = \"{recording}\"");
    let planet = World::named("recordings")
        .host("a", "newyork")
        .host("b", "london")
        .host("c", "paris")
        .link("newyork", "london", &trace)
        .link("newyork", "paris", &trace)
        .up();
    assert_eq!(planet.exec("a", &["true"]).code, Some(0));
}

#[test]
fn down_takes_everything_with_it() {
    let planet = atlantic("down").up();
    let orphan = sleeper(planet.name(), "origin");
    longhaul(&["lab", "down", "--planet", planet.name()]).ok();
    assert_eq!(orphan.wait(), Some(128 + 9));
    assert!(!is_up(planet.name()));
    let said = longhaul(&["lab", "exec", "--planet", planet.name(), "origin", "--", "true"]).refused();
    assert!(said.contains("no planet named"), "{said}");
}

#[test]
fn ctrl_c_ends_a_planet_in_the_foreground() {
    let world = atlantic("ctrl-c");
    let folder = Folder::new();
    let file = folder.file("w.toml", world.text());
    let mut up = Running::start(
        Command::new(LONGHAUL).args(["lab", "up", &file, "--name", world.name()]).stderr(Stdio::piped()),
    );
    up.says("is up");
    assert!(is_up(world.name()));
    up.signal(Signal::SIGINT);
    assert_eq!(up.wait(), Some(0));
    assert!(!is_up(world.name()));
}

#[test]
fn a_planet_in_the_foreground_tells_who_ended_it() {
    let folder = Folder::new();
    for (cause, words, code) in [
        ("down", "was stopped by another process (longhaul lab down)", 0),
        ("planet", "ended unexpectedly: it was killed by signal 9", 2),
        ("guard", "ended unexpectedly: it was killed by signal 9", 2),
    ] {
        let world = atlantic(&format!("ended-{cause}"));
        let file = folder.file("w.toml", world.text());
        let mut up = Running::start(
            Command::new(LONGHAUL).args(["lab", "up", &file, "--name", world.name()]).stderr(Stdio::piped()),
        );
        up.says("try: ");
        let planet = planet::Planet::find(Some(world.name())).unwrap();
        let pid = match cause {
            "guard" => parent(planet.pid()),
            _ => planet.pid(),
        };
        match cause {
            "down" => planet.down().unwrap(),
            _ => kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap(),
        }
        up.says(words);
        assert_eq!(up.wait(), Some(code), "{cause}");
        assert!(!is_up(world.name()));
    }
}

/// The 4th field in `/proc`, after a name in parentheses.
fn parent(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, behind_name) = stat.rsplit_once(')').unwrap();
    behind_name.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn kill_9_of_whoever_started_it_ends_a_planet_in_the_foreground() {
    let world = atlantic("kill");
    let folder = Folder::new();
    let file = folder.file("w.toml", world.text());
    let mut up = Running::start(
        Command::new(LONGHAUL).args(["lab", "up", &file, "--name", world.name()]).stderr(Stdio::piped()),
    );
    up.says("is up");
    let orphan = sleeper(world.name(), "origin");
    up.signal(Signal::SIGKILL);
    assert_eq!(up.wait(), None);
    assert_eq!(orphan.wait(), Some(128 + 9));
    wait_until(|| !is_up(world.name()));
}

#[test]
fn kill_9_of_a_planet_leaves_no_process() {
    let planet = atlantic("kill-planet").up();
    let orphan = sleeper(planet.name(), "origin");
    let pid = planet::Planet::find(Some(planet.name())).unwrap().pid();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    assert_eq!(orphan.wait(), Some(128 + 9));
    wait_until(|| !is_up(planet.name()));
}

/// In a user namespace. If the device is not 0666, root changes its mode for this test.
#[test]
fn root_is_not_needed() {
    let device = fs::metadata("/dev/net/tun").unwrap().permissions();
    let is_root = Uid::effective().is_root();
    if is_root {
        fs::set_permissions("/dev/net/tun", fs::Permissions::from_mode(0o666)).unwrap();
    }
    let folder = Folder::new();
    let file = folder.file("w.toml", atlantic("rootless").text());
    // Readable by all users, wherever the project was built.
    let program = folder.path("longhaul");
    fs::copy(LONGHAUL, &program).unwrap();
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o755)).unwrap();

    let as_nobody = |arguments: &[&str]| {
        let mut command = if is_root {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"])
                .arg(&program);
            command
        } else {
            Command::new(&program)
        };
        Ended::of(command.args(arguments).current_dir("/").output().unwrap())
    };
    let name = atlantic("rootless").name().to_owned();
    let up = as_nobody(&["lab", "up", &file, "--detach", "--name", &name]);
    let ping = as_nobody(&[
        "lab", "exec", "--planet", &name, "visitor", "--", "ping", "-q", "-c", "2", "-i", "0.2", "origin",
    ]);
    let down = as_nobody(&["lab", "down", "--planet", &name]);
    fs::set_permissions("/dev/net/tun", device)
        .or_else(|error| if is_root { Err(error) } else { Ok(()) })
        .unwrap();
    up.ok();
    assert!(ping.ok().contains("2 received"));
    down.ok();
}
