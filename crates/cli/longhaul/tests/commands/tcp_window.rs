//! `longhaul tcp window`: text for given kernels, exit codes, and the settings of a planet's host.

use crate::harness::{Ended, Folder, LONGHAUL, World, longhaul};

fn window(arguments: &[&str]) -> Ended {
    longhaul(&[&["tcp", "window"], arguments].concat())
}

#[test]
fn a_plan_as_text() {
    // 1 Gbit/s x 121 ms / 8 = 14.42 MiB, in steps of 1 MiB; half of a buffer is window.
    let text = window(&["--rtt", "20ms,121ms", "--rate", "1Gbit", "--kernel", "5.15"]).ok();
    let expected = "\
1.00 Gbit/s on one connection, Linux 5.15
 rtt                 on the way    window   tcp_rmem[2]   tcp_wmem[2]
──────────────────────────────────────────────────────────────────────
 20.0 ms       2.5MB = 2.38 MiB   2.5 MiB         5 MiB         5 MiB
 121 ms    15.125MB = 14.42 MiB    15 MiB        30 MiB        30 MiB

rule: tcp_adv_win_scale = 1: window = buffer - buffer / 2
settings, for sysctl.conf (tcp_rmem where it is received, tcp_wmem where it is sent):
  net.ipv4.tcp_rmem = 4096 131072 31457280
  net.ipv4.tcp_wmem = 4096 16384 31457280
note: an application that sets SO_RCVBUF itself would set 15728640, once net.core.rmem_max is 15728640 (it is 212992); \
it costs the autotuning: the buffer is that large for every path, and never larger
";
    assert_eq!(text, expected);
}

#[test]
fn a_plan_as_json() {
    // The published sizing: 131 MB, a window of 128 MiB, a buffer of 512 MiB with a scale of -2.
    let path =
        ["--rtt", "300ms", "--rate", "3500Mbit", "--kernel", "5.15", "--adv-win-scale", "-2", "--json"];
    let plan = window(&path).json();
    assert_eq!(plan["schema"], "longhaul.tcp.window/1");
    assert_eq!(plan["kernel"], "5.15");
    assert_eq!(plan["bdp_bytes"], 131_250_000);
    assert_eq!(plan["window_bytes"], 128 << 20);
    assert_eq!(plan["rmem_max_bytes"], 512 << 20);
    assert_eq!(plan["rule"], "tcp_adv_win_scale = -2: window = buffer / 4");
    let plans = window(&["--rtt", "20ms", "--rtt", "121ms", "--rate", "1Gbit", "--json"]).json();
    assert_eq!(
        (plans[0]["bdp_bytes"].as_u64(), plans[1]["bdp_bytes"].as_u64()),
        (Some(2_500_000), Some(15_125_000))
    );
}

#[test]
fn ceilings_as_text() {
    // 16 MiB / 4 = 4 MiB; x 8 / 121 ms = 277 Mbit/s, / 282 ms = 119: 10 of 24 blocks.
    let arguments = ["--rtt", "121ms,282ms", "--rmem", "16MiB", "--adv-win-scale", "-2", "--kernel", "5.15"];
    let expected = "\
How fast one connection can be by this side's buffers, Linux 5.15
                    buffer   window   Mbit/s   0 to 277 Mbit/s
───────────────────────────────────────────────────────────────────────────
 121 ms   receive   16 MiB    4 MiB      277   ████████████████████████
 282 ms   receive   16 MiB    4 MiB      119   ██████████

rule: tcp_adv_win_scale = -2: window = buffer / 4
";
    assert_eq!(window(&arguments).ok(), expected);
}

#[test]
fn destinations_that_buffers_cap() {
    let folder = Folder::new();
    let file = folder.file("places", "# from Paris\nlondon 8ms\n\nsydney 150ms\nmelbourne 282ms # far\n");
    let all = ["--check", file.as_str(), "--rate", "1Gbit", "--kernel", "6.18"];
    let ended = window(&all);
    // 5/8 of 4 MiB at 8 ms are 2621 Mbit/s, all of it at 150 ms 224. 1/2 to 170/256 of 32 MiB: 895
    // to 1188 at 150 ms, 476 to 632 at 282 ms.
    let expected = "\
How fast one connection can be by this side's buffers, Linux 6.18
                               buffer                window             Mbit/s   0 to 1.00 Gbit/s
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
 london, 8.00 ms     receive   32 MiB   16 MiB to 21.25 MiB   16 777 to 22 282   ████████████████████████    enough
                     send       4 MiB      2.5 MiB to 4 MiB     2 621 to 4 194   ████████████████████████    enough
 sydney, 150 ms      receive   32 MiB   16 MiB to 21.25 MiB       895 to 1 188   █████████████████████░░░   depends
                     send       4 MiB      2.5 MiB to 4 MiB         140 to 224   ███░░                       capped
 melbourne, 282 ms   receive   32 MiB   16 MiB to 21.25 MiB         476 to 632   ███████████░░░░             capped
                     send       4 MiB      2.5 MiB to 4 MiB        74.4 to 119   ██░                         capped

rule: window = buffer x payload / memory of the packets that arrive: 50 % before the first, up to 66 % with 1448 bytes in \
each; tcp_adv_win_scale does nothing
depends: receiving on the memory of packets, sending on how soon the program writes again
remedy: longhaul tcp window --rtt 282ms --rate 1000Mbit --kernel 6.18 says which settings reach it
";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), expected));
    let near = ["--check", "--rtt", "8ms", "--rate", "1Gbit", "--kernel", "6.18"];
    assert_eq!(window(&near).code, Some(0));
    let large = [all.as_slice(), &["--rmem", "128MiB", "--wmem", "128MiB", "--json"]].concat();
    let check = window(&large).json();
    assert_eq!(check["destinations"][2]["name"], "melbourne");
    assert_eq!(check["destinations"][2]["receive"]["verdict"], "enough");
}

#[test]
fn a_host_of_a_planet_has_settings_of_its_own() {
    let planet = World::named("window").host("near", "london").host("far", "paris").up();
    planet.exec("far", &["sysctl", "-w", "net.ipv4.tcp_wmem=4096 16384 1048576"]).ok();
    let sent = |host| {
        let command = [LONGHAUL, "tcp", "window", "--check", "--rtt", "100ms", "--json"];
        let check = planet.exec(host, &command).json();
        check["destinations"][0]["send"]["buffer_bytes"].as_u64().unwrap()
    };
    assert_eq!(sent("far"), 1_048_576);
    assert_ne!(sent("near"), 1_048_576);
}

#[test]
fn a_kernel_newer_than_any_that_was_tried_gets_a_note() {
    let path = |kernel| window(&["--rtt", "100ms", "--rate", "1Gbit", "--kernel", kernel]);
    let newer = path("99.7");
    assert!(newer.stderr.contains("Linux 99.7 is newer than 7.3, the newest tested version"), "{newer:?}");
    assert!(newer.ok().contains("Linux 99.7"));
    assert_eq!(path("7.3").stderr, "");
    assert!(window(&["--rtt", "100ms", "--kernel", "3.4"]).ok().contains("6 MiB"));
}

#[test]
fn mistakes_are_answered_with_a_remedy() {
    let folder = Folder::new();
    let file = folder.file("places", "london 8ms\nmelbourne\n");
    for (arguments, what, remedy) in [
        (
            ["--rtt", "0ms", "--rate", "1Gbit"].as_slice(),
            "a round trip of 0 ms has no window",
            "such as 0.2ms",
        ),
        (&["--rtt", "0ms", "--rmem", "4MiB"], "a round trip of 0 ms has no window", "such as 0.2ms"),
        (&["--rtt", "1s", "--rate", "0Mbit"], "\"0Mbit\" is out of range", "from 1bit to 1000Gbit"),
        (&["--rtt", "1s", "--rate", "10Gbit"], "TCP's largest is 1 GiB", "use several connections"),
        (&["--rtt", "10000h", "--rate", "1000Gbit"], "TCP's largest is 1 GiB", "use several connections"),
        (&["--rtt", "1s", "--rmem", "3GiB"], "'3GiB' for '--rmem <BYTES>'", "between 4KiB and 2 GiB"),
        (&["--rtt", "1s", "--wmem", "0B"], "'0B' for '--wmem <BYTES>'", "between 4KiB and 2 GiB"),
        (&["--rtt", "1s", "--kernel", "six"], "\"six\" is not a version of Linux", "write it as \"5.15\""),
        (&["--rtt", "1s", "--kernel", "3.2"], "Linux 3.2 is older than 3.4, the oldest whose", "a newer one"),
        (&["--rtt", "1s", "--kernel", "6.200"], "there is no Linux 6.200: 7.0 follows 6.19", "as uname -r"),
        (
            &["--rtt", "1s", "--kernel", "6.6", "--adv-win-scale", "-2"],
            "tcp_adv_win_scale does nothing on Linux 6.6",
            "an older --kernel",
        ),
        (&["--rtt", "1s", "--kernel", "5.15", "--adv-win-scale", "32"], "32 is not in -31..=31", "--help"),
        (&["--rtt", "1s", "--rate", "1Gbit", "--rmem", "4MiB"], "--rate asks how large", "add --check"),
        (&["--rate", "1Gbit"], "--rtt <TIME>", "--help"),
        (&["--check", "--rate", "1Gbit"], "no destination to check", "add --rtt"),
        (
            &["--check", &file],
            "places:2: \"melbourne\" is not a name and a round trip",
            "\"melbourne 282ms\"",
        ),
        (&["--check", "/nowhere/places"], "/nowhere/places: cannot be read", "No such file"),
    ] {
        let said = window(arguments).refused();
        assert!(said.contains(what) && said.contains(remedy), "expected {what} and {remedy}: {said}");
    }
}
