//! Captures of a planet: every packet appears once at each place.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Read,
    net::Shutdown,
    process::{Command, Stdio},
};

use nix::sys::signal::Signal;

use crate::{
    harness::{Ended, Folder, LONGHAUL, Planet, Running, World, longhaul, number, wait_until},
    pcapng::{Recording, Seen},
};

fn atlantic(name: &str, link: &str) -> Planet {
    World::named(name)
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", &format!("rtt = \"4ms\"\n{link}"))
        .up()
}

struct Capture {
    running: Running,
    folder: Folder,
}

impl Capture {
    fn begin(planet: &Planet, arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let mut command = Command::new(LONGHAUL);
        command.args(["lab", "capture", "--planet", planet.name(), "-o"]).arg(folder.path("c.pcapng"));
        let mut running = Running::start(command.args(arguments).stderr(Stdio::piped()));
        running.says("capturing into ");
        Self { running, folder }
    }

    fn end(self) -> Captured {
        self.running.signal(Signal::SIGINT);
        self.ended()
    }

    fn ended(mut self) -> Captured {
        let said = self.running.says("c.pcapng: ");
        assert_eq!(self.running.wait(), Some(0));
        let file = fs::read(self.folder.path("c.pcapng")).unwrap();
        Captured { said, recording: Recording::read(&file), folder: self.folder }
    }
}

struct Captured {
    said: String,
    recording: Recording,
    folder: Folder,
}

impl Captured {
    fn tcpdump(&self, filter: &str) -> usize {
        let file = File::open(self.folder.path("c.pcapng")).unwrap();
        let output = Command::new("tcpdump").args(["-nn", "-r", "-", filter]).stdin(file).output().unwrap();
        Ended::of(output).ok().lines().count()
    }
}

/// `-c 1` ends at the first reply, so the long timeout costs no time.
fn ping(planet: &Planet, version: &str) {
    planet.exec("visitor", &["ping", version, "-c", "1", "-W", "60", "origin"]).ok();
}

#[test]
fn a_packet_is_seen_once_at_each_place() {
    let planet = atlantic("capture", "");
    let capture = Capture::begin(&planet, &["visitor", "visitor", "--link", "newyork-london"]);
    for version in ["-4", "-4", "-4", "-6", "-6"] {
        ping(&planet, version);
    }
    let captured = capture.end();

    let of = |kind: &'static str| [(4, kind), (4, kind), (4, kind), (6, kind), (6, kind)];
    let mut both = [of("reply"), of("request")].concat();
    both.sort_unstable();
    let recording = &captured.recording;
    assert_eq!(recording.pings("visitor net0"), both);
    assert_eq!(recording.pings("london to newyork"), of("request"));
    assert_eq!(recording.pings("newyork to london"), of("reply"));
    assert_eq!(recording.packets.len(), 20);
    assert!(captured.said.starts_with("20 packets, "), "{}", captured.said);
    assert!(recording.packets.iter().all(|seen| seen.is_sound() && seen.comment.is_none()));
    assert_eq!(recording.missed.values().collect::<Vec<_>>(), [&0, &0, &0]);
    assert_eq!(["ip", "ip6", "icmp or icmp6"].map(|filter| captured.tcpdump(filter)), [12, 8, 20]);
}

#[test]
fn a_transfer_is_seen_as_the_segments_of_a_wire() {
    let planet = atlantic("segments", "");
    let _origin = planet.serve("origin", &["--body", "1MB"]);
    let capture = Capture::begin(&planet, &["--link", "london-newyork"]);
    planet.exec("visitor", &[LONGHAUL, "probe", "http://origin/", "--count", "1", "--json"]).measured();
    let recording = capture.end().recording;
    assert!(recording.packets.iter().all(|seen| seen.is_sound() && seen.length <= 1500));
    let segments: BTreeSet<_> =
        recording.packets.iter().filter_map(|seen| seen.tcp_payload_from(80)).collect();
    assert!(segments.iter().map(|(_, length)| length).sum::<usize>() > 1_000_000);
}

/// The probability that none or all are lost is 2^-39.
#[test]
fn what_is_lost_says_so() {
    let planet = atlantic("lossy", "loss = \"50%\"");
    let capture = Capture::begin(&planet, &["origin", "--link", "london-newyork"]);
    planet.exec("visitor", &["ping", "-q", "-i", "0.01", "-c", "40", "origin"]);
    wait_until(|| {
        let status = planet.status();
        let link = |from: &str| {
            status["links"].as_array().unwrap().iter().find(|link| link["from"] == from).cloned()
        };
        link("london")
            .zip(link("newyork"))
            .is_some_and(|(there, back)| there["delivered"]["segments"] == back["offered"]["segments"])
    });
    let recording = capture.end().recording;
    let count = |place: &str, comment: Option<&str>| {
        let is_meant = |seen: &&Seen| seen.place == place && seen.comment.as_deref() == comment;
        recording.packets.iter().filter(is_meant).count()
    };
    let [there, back] = ["london to newyork", "newyork to london"];
    let [lost_there, lost_back] = [there, back].map(|link| count(link, Some("dropped: loss")));
    assert!((1..40).contains(&lost_there), "{lost_there}");
    let arrived = 40 - lost_there;
    let seen = [there, "origin net0", back].map(|place| count(place, None));
    assert_eq!(seen, [40, 2 * arrived, arrived]);
    assert_eq!(recording.packets.len(), 40 + lost_there + 2 * arrived + arrived + lost_back);
}

#[test]
fn several_may_look_at_once() {
    let planet = atlantic("several", "");
    let all = Capture::begin(&planet, &[]);
    let short = Capture::begin(&planet, &["visitor", "--snap", "28"]);
    ping(&planet, "-4");
    let short = short.end().recording;
    ping(&planet, "-4");
    // A ping has 20 bytes of IP header, 8 of ICMP header and 56 of payload.
    let lengths: Vec<_> = short.packets.iter().map(|seen| (seen.bytes.len(), seen.length)).collect();
    assert_eq!(lengths, [(28, 84), (28, 84)]);
    let all = all.end().recording;
    assert_eq!(["origin net0", "visitor net0"].map(|place| all.pings(place).len()), [4, 4]);
}

#[test]
fn a_capture_ends_with_its_time_or_its_planet() {
    let planet = atlantic("end", "");
    let timed = Capture::begin(&planet, &["--for", "1ms"]).ended();
    assert!(timed.said.starts_with("0 packets, "), "{}", timed.said);
    assert!(!timed.said.contains(';'), "{}", timed.said);
    let capture = Capture::begin(&planet, &["visitor"]);
    let gone = format!("planet \"{}\" sends no more", planet.name());
    drop(planet);
    let captured = capture.ended();
    assert!(captured.said.ends_with(&gone), "{}", captured.said);
    assert_eq!(captured.recording.packets.len(), 0);
}

#[test]
fn what_cannot_be_captured_is_said() {
    let planet = atlantic("uncaptured", "");
    let folder = Folder::new();
    let kept = folder.file("kept.pcapng", "an older one");
    for (arguments, expected) in [
        (["orign", "-o", &kept], "did you mean \"origin\"?"),
        (["--link=lodon-newyork", "-o", &kept], "did you mean \"london\"?"),
        (["--link=london", "-o", &kept], "expected two cities with a hyphen between them"),
        (["--snap=0", "-o", &kept], "0 is not in 1.."),
        (["visitor", "-o", "/nowhere/c.pcapng"], "/nowhere/c.pcapng: cannot be written: No such file"),
        (["visitor", "-o", "/dev/full"], "/dev/full: the capture stopped after 0 bytes: No space left"),
    ] {
        let command = [&["lab", "capture", "--planet", planet.name()], &arguments[..]].concat();
        let said = longhaul(&command).refused();
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(fs::read_to_string(kept).unwrap(), "an older one");
}

#[test]
fn who_stops_reading_stops_nobody_else() {
    let planet = atlantic("stopped", "");
    let _origin = planet.serve("origin", &["--body", "4MB"]);
    let probe = || {
        let said = planet.exec("visitor", &[LONGHAUL, "probe", "http://origin/", "--count", "1", "--json"]);
        assert_eq!(number(&said.measured(), "/body_bytes"), 4e6);
    };
    let stopped = Capture::begin(&planet, &["visitor"]);
    stopped.running.signal(Signal::SIGSTOP);
    let up = planet::Planet::find(Some(planet.name())).unwrap();
    let all = planet::Tap { hosts: Vec::new(), links: Vec::new(), snap: None };
    let mut ending = up.capture(&all).unwrap();
    // More than a socket buffer holds: both captures block.
    probe();
    ending.shutdown(Shutdown::Write).unwrap();
    probe();
    wait_until(|| planet.status()["ready"] == true);

    let mut file = Vec::new();
    ending.read_to_end(&mut file).unwrap();
    let payload = |recording: &Recording| -> usize {
        let at_visitor = recording.packets.iter().filter(|seen| seen.place == "visitor net0");
        let segments: BTreeSet<_> = at_visitor.filter_map(|seen| seen.tcp_payload_from(80)).collect();
        segments.iter().map(|(_, length)| length).sum()
    };
    let recording = Recording::read(&file);
    assert!(payload(&recording) > 4_000_000, "{:?}", recording.missed);
    assert_eq!(recording.missed.len(), 2);
    stopped.running.signal(Signal::SIGCONT);
    let recording = stopped.end().recording;
    assert!(payload(&recording) > 8_000_000, "{:?}", recording.missed);
}
