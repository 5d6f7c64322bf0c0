//! `longhaul ping` of a host that sends false replies.

use crate::harness::{LONGHAUL, Planet, Running, World, number, project};

fn planet(name: &str) -> Planet {
    let silent = "sysctl = { \"net.ipv4.icmp_echo_ignore_all\" = \"1\" }";
    World::named(name)
        .tables(&format!("[[host]]\nname = \"liar\"\ncity = \"newyork\"\n{silent}\n"))
        .host("stranger", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"40ms\"")
        .up()
}

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
    // Ping 2 times out after 3 s; its reply arrives 4.5 s later.
    let ping =
        [LONGHAUL, "ping", "liar", "--count", "24", "--interval", "250ms", "--timeout", "3s", "--json"];
    let summary = planet.exec("visitor", &ping).json();
    let told = &summary["targets"][0];
    let count = |name: &str| number(told, &format!("/{name}"));
    assert_eq!((count("sent"), count("received"), count("failed_by_reason/timeout")), (24.0, 21.0, 3.0));
    assert_eq!((count("loss/share"), count("rtt_ms/n")), (3.0 / 24.0, 21.0));
    assert_eq!((count("duplicates"), count("late")), (3.0, 1.0), "{told}");
    assert_eq!(count("reordered"), 1.0, "{told}");
    assert_eq!((count("damaged"), count("forged")), (3.0, 2.0), "{told}");
    assert!(count("rtt_ms/min") >= 40.0, "{told}");
}

#[test]
fn an_answer_before_its_question_makes_no_path_shorter() {
    let planet = planet("seer");
    let _seer = answering(&planet, "seer.py", &[]);
    // A forged reply to the fourth ping after this one would arrive 20 ms after that was sent.
    let ping = [LONGHAUL, "ping", "liar", "--count", "40", "--interval", "5ms", "--timeout", "60s", "--json"];
    let told = &planet.exec("visitor", &ping).json()["targets"][0];
    assert_eq!((number(told, "/received"), number(told, "/duplicates")), (40.0, 0.0), "{told}");
    // Three guesses for each of 36 pings. Replies before the ping was sent match no ping.
    assert!((1.0..=108.0).contains(&number(told, "/damaged")), "{told}");
    assert!(number(told, "/rtt_ms/min") >= 40.0, "{told}");
}
