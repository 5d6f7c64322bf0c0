//! `longhaul ping` of a host that sends false replies: each is counted by its kind, and none shortens the
//! path.

use crate::harness::{LONGHAUL, Planet, Running, World, number, project};

/// A planet with a host "liar" whose kernel does not reply to pings, 40 ms from "visitor".
fn planet(name: &str) -> Planet {
    let silent = "sysctl = { \"net.ipv4.icmp_echo_ignore_all\" = \"1\" }";
    World::named(name)
        .tables(&format!("[[host]]\nname = \"liar\"\ncity = \"newyork\"\n{silent}\n"))
        .host("stranger", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"40ms\"")
        .up()
}

/// Starts a program that replies instead of the kernel.
fn answering(planet: &Planet, script: &str, arguments: &[&str]) -> Running {
    let script = project("crates/cli/longhaul/tests/commands/ping/") + script;
    let command = [&["python3", &script], arguments].concat();
    Running::listening(&mut planet.command("liar", &command)).0
}

#[test]
fn a_host_that_lies_is_found_out() {
    let planet = planet("liar");
    let status = planet.status();
    let hosts = status["hosts"].as_array().unwrap();
    let stranger = hosts.iter().find(|host| host["name"] == "stranger").unwrap();
    let _liar = answering(&planet, "liar.py", &[stranger["addresses"][0].as_str().unwrap()]);
    // Ping 2 times out after 3 s; its reply arrives with the reply to ping 20, 4.5 s later.
    let ping =
        [LONGHAUL, "ping", "liar", "--count", "24", "--interval", "250ms", "--timeout", "3s", "--json"];
    let summary = planet.exec("visitor", &ping).json();
    let told = &summary["targets"][0];
    let count = |name: &str| number(told, &format!("/{name}"));
    // Of 24 pings, 4 and 8 get no valid reply, and 2 gets a late one.
    assert_eq!((count("sent"), count("received"), count("failed_by_reason/timeout")), (24.0, 21.0, 3.0));
    assert_eq!((count("loss/share"), count("rtt_ms/n")), (3.0 / 24.0, 21.0));
    // Ping 1 has two extra replies, and ping 2 one after its late reply.
    assert_eq!((count("duplicates"), count("late")), (3.0, 1.0), "{told}");
    // The reply to ping 16 arrives after that of ping 17.
    assert_eq!(count("reordered"), 1.0, "{told}");
    // Pings 3, 4 and 5; then 7 and 8.
    assert_eq!((count("damaged"), count("forged")), (3.0, 2.0), "{told}");
    // Delays are never too short.
    assert!(count("rtt_ms/min") >= 40.0, "{told}");
}

#[test]
fn an_answer_before_its_question_makes_no_path_shorter() {
    let planet = planet("seer");
    let _seer = answering(&planet, "seer.py", &[]);
    // Pings are 5 ms apart. A forged reply to the fourth ping after this one would arrive 20 ms after that
    // ping was sent.
    let ping = [LONGHAUL, "ping", "liar", "--count", "40", "--interval", "5ms", "--timeout", "60s", "--json"];
    let told = &planet.exec("visitor", &ping).json()["targets"][0];
    assert_eq!((number(told, "/received"), number(told, "/duplicates")), (40.0, 0.0), "{told}");
    // Three guesses for each of the 36 pings with four predecessors. Replies before the ping was sent match
    // no ping.
    assert!((1.0..=108.0).contains(&number(told, "/damaged")), "{told}");
    assert!(number(told, "/rtt_ms/min") >= 40.0, "{told}");
}
