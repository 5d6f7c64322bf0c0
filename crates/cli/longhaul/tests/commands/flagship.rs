//! The README's figures for `make run` are claims of the scenario, which meets them.

use serde_json::Value;

use crate::harness::{Folder, longhaul, number, project};

fn claimed(scenario: &toml::Table, at: &str, side: &str) -> (String, String) {
    let claims = scenario["claim"].as_array().unwrap();
    let limit = |relation: &str| {
        let is_it = |claim: &&toml::Value| {
            let text = |key: &str| claim.get(key).and_then(toml::Value::as_str);
            (text("at"), text("side")) == (Some(at), Some(side)) && text(relation).is_some()
        };
        let claim =
            claims.iter().find(is_it).unwrap_or_else(|| panic!("nothing claims {at} of {side} {relation}"));
        claim[relation].as_str().unwrap().to_owned()
    };
    (limit("above"), limit("below"))
}

fn flagship() -> toml::Table {
    std::fs::read_to_string(project("scenarios/two-providers.toml")).unwrap().parse().unwrap()
}

#[test]
fn the_figures_of_the_readme_are_claims_of_the_scenario() {
    let scenario = flagship();
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    let picture = readme.split("\n## ").find(|section| section.starts_with("The picture")).unwrap();
    for side in ["swift", "steady"] {
        // "swift    50-66 ms  <| faster   700-1400 ms"
        let name = format!(" {side}  ");
        let mut rows = picture.lines().filter_map(|line| Some(line.rsplit_once(&name)?.1.trim_start()));
        let row = rows.find(|row| row.starts_with(|c: char| c.is_ascii_digit())).unwrap();
        let ranges: Vec<&str> = row.split_whitespace().filter(|word| word.contains('-')).collect();
        assert_eq!(row.matches(" ms").count(), 2, "{row}");
        for (range, at) in ranges.iter().zip(["request.p50", "experienced.mean"]) {
            let (above, below) = claimed(&scenario, at, side);
            assert_eq!(format!("{above} {below}"), range.replace('-', "ms ") + "ms", "{at} of {side}");
        }
        assert_eq!(ranges.len(), 2, "{row}");
    }
    let share = scenario["claim"]
        .as_array()
        .unwrap()
        .iter()
        .find(|claim| claim["at"].as_str() == Some("experienced.faster_than.swift"));
    let share = share.unwrap()["above"].as_str().unwrap().replace('%', " %");
    assert!(
        picture.contains(&format!("For more than {share} of page views steady is the faster one")),
        "{share}"
    );
    assert_eq!(scenario["link"][0]["loss"].as_str(), Some("1%"));
    assert!(picture.contains("loses one packet in a hundred") && picture.contains("loses 1 %"));
    assert_eq!(scenario["page"]["requests"].as_integer(), Some(180));
    assert!(
        picture.contains("180 requests, half of") && scenario["page"]["required"].as_str() == Some("50%")
    );
    for probe in scenario["probe"].as_array().unwrap() {
        assert_eq!(probe["duration"].as_str(), Some("60s"), "the README says a minute");
    }
}

fn shortened(name: &str, changes: &[(&str, &str)]) -> Value {
    let mut text = std::fs::read_to_string(project(&format!("scenarios/{name}.toml"))).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let folder = Folder::new();
    let file = folder.file(&format!("{name}.toml"), text);
    longhaul(&["run", &file, "--out", folder.path("out").to_str().unwrap(), "--json"]).measured()
}

/// A busy machine only adds time: of an INVALID run, only claims of a minimum time count.
fn failed(result: &Value) -> Vec<&str> {
    let is_valid = result["valid"] == true;
    let claims = result["claims"].as_array().unwrap().iter();
    let failed = claims
        .filter(|claim| claim["holds"] == false && claim["decided"] == true)
        .map(|claim| claim["figure"].as_str().unwrap());
    let is_least = |figure: &&str| figure.contains(" ms, more than ") || figure.contains(" s, more than ");
    failed.filter(|figure| is_valid || is_least(figure)).collect()
}

#[test]
fn the_flagship_keeps_what_it_claims() {
    // 2700 samples per side. 80 +- 9 meet a loss, and 75 % of page views are 4.4 standard
    // deviations away.
    let result =
        shortened("two-providers", &[("rate = \"15/s\"", "rate = \"30/s\""), ("\"60s\"", "\"15s\"")]);
    assert_eq!(failed(&result), Vec::<&str>::new(), "{}", result["fidelity"]);
    assert_eq!(result["claims"].as_array().unwrap().len(), 12);
    for side in [0, 1] {
        // Poisson, 2700 +- 52.
        let n = number(&result, &format!("/comparison/sides/{side}/n"));
        assert!((2400.0..=3000.0).contains(&n), "{n}");
    }
}

#[test]
fn a_second_family_takes_the_place_of_the_kernel_s_second() {
    let result = shortened("two-families", &[("rate = \"20/s\"", "rate = \"40/s\""), ("\"30s\"", "\"15s\"")]);
    assert_eq!(failed(&result), Vec::<&str>::new(), "{}", result["fidelity"]);
    assert_eq!(result["claims"].as_array().unwrap().len(), 7);
}
