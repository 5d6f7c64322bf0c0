//! Scenario files that are accepted, and those that are refused with a place and a remedy.

use super::*;

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
    assert_eq!(plan.sides(), ["one"]);
    assert_eq!(plan.duration(), Duration::from_secs(30));
    assert_eq!(plan.faults[0].until, Some(Duration::from_secs(15)));
    assert_eq!(plan.faults[0].change.to_string(), "loss 5%");
    assert_eq!(plan.page.effective_requests(), 1);
    assert!(plan.probes[0].arguments.windows(2).any(|pair| pair == ["--rate", "10/s"]));
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
            "two.toml:15:7: a program and its arguments are expected",
        ),
        (
            swap("[\"visitor\"]", "[\"visitor\", \"visitor\"]"),
            "two.toml:20:20: one is measured from \"visitor\" twice",
        ),
        (
            swap("\"london\", \"newyork\"", "\"lodnon\", \"newyork\""),
            "two.toml:26:12: no host lives in \"lodnon\"; did you mean \"london\"?",
        ),
        (
            swap("\"http://origin/\"", "\"http://orgin/\""),
            "the world has no host \"orgin\"; did you mean \"origin\"?",
        ),
        (swap("\"http://origin/\"", "\"origin\""), "\"origin\" is no URL"),
        (swap("[\"visitor\"]", "[]"), "two.toml:20:8: a probe measures from at least one host"),
        (
            swap("side = \"one\"\nfrom", "side = \"../one\"\nfrom"),
            "two.toml:19:8: \"../one\" cannot be a side's name",
        ),
        (swap("at = \"10s\"", "at = \"30s\""), "this fault begins at 30s, and measuring ends at 30s"),
        (
            "[scenario]\ntitle = \"x\"\nworld = \"w.toml\"\n[world]\nseed = 2\n".to_owned(),
            "two.toml:3:9: the scenario has a world of its own",
        ),
        (swap("loss = \"5%\"", ""), "two.toml:26:12: this fault changes nothing"),
        (swap("loss = \"5%\"", "loss = \"120%\""), "two.toml:27:8: \"120%\" is out of range"),
        (swap("\"request.p50\"", "\"p50\""), "two.toml:31:6: \"p50\" is no measure"),
        (
            swap("side = \"one\"\nbelow", "side = \"ones\"\nbelow"),
            "two.toml:32:8: no probe measures the side \"ones\"; did you mean \"one\"?",
        ),
        (swap("below = \"100ms\"", ""), "two.toml:30:9: a claim has either faster and than"),
        (format!("[page]\nrequests = 0\n{SCENARIO}"), "two.toml:2:12: "),
        (swap("title = \"Two hosts\"", "title = \"x\"\nworld = \"w.toml\""), "one of them is expected"),
        (
            SCENARIO.split("[[probe]]").next().unwrap().to_owned(),
            "the scenario measures nothing; add a [[probe]]",
        ),
    ] {
        let said = read(&text).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}
