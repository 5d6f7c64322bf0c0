//! The JSON output of the commands for planets.

use std::{fs, process::Command};

use crate::{
    documents,
    harness::{Ended, Folder, LONGHAUL, Planet, World, longhaul, number},
};

fn pair(name: &str) -> Planet {
    World::named(name)
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"4ms\"")
        .up()
}

#[track_caller]
fn schema(json: &serde_json::Value, name: &str) {
    assert_eq!(json["schema"], format!("longhaul.{name}/1"), "{json}");
}

fn last_line(text: &str) -> serde_json::Value {
    let line = text.lines().next_back().unwrap();
    documents::keep(line);
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_planet_comes_and_goes() {
    let world = World::named("json-up").host("origin", "newyork").host("visitor", "london");
    let folder = Folder::new();
    let file = folder.file("a world.toml", world.text());
    let up = longhaul(&["lab", "up", &file, "--detach", "--name", world.name(), "--json"]).json();
    let planet = Planet::of(world.name().to_owned());
    schema(&up, "lab.up");
    assert_eq!((&up["planet"], &up["detached"]), (&world.name().into(), &true.into()));
    assert_eq!(up["hosts"][1]["name"], "visitor");
    assert_eq!(up["hosts"][0]["addresses"][0], "10.0.0.1");
    let down = planet.lab(&["down", "--json"]).json();
    schema(&down, "lab.down");
    assert_eq!(down["planets"], serde_json::json!([world.name()]));
}

#[test]
fn of_a_program_it_says_the_end_and_leaves_standard_output_alone() {
    let planet = pair("json-exec");
    let exec = |json: &str, command: &[&str]| {
        let mut arguments = vec!["lab", "exec", "--planet", planet.name(), json, "visitor", "--"];
        arguments.extend(command);
        longhaul(&arguments)
    };
    let ended = exec("--json", &["sh", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(7), "out\n"));
    assert!(ended.stderr.starts_with("err\n"), "{ended:?}");
    let json = last_line(&ended.stderr);
    schema(&json, "lab.exec");
    assert_eq!((&json["exit_code"], &json["end"]), (&7.into(), &serde_json::json!({"code": 7})));
    assert_eq!((&json["host"], &json["started"]), (&"visitor".into(), &true.into()));
    assert!(number(&json, "/ran_s") > 0.0);

    let ended = exec("--json", &["sh", "-c", "kill -9 $$"]);
    let json = last_line(&ended.stderr);
    assert_eq!((ended.code, &json["exit_code"]), (Some(137), &137.into()));
    assert_eq!(json["end"], serde_json::json!({"signal": 9}));

    let ended = exec("--json", &["sh", "-c", "exit 2"]);
    assert_eq!((ended.code, &last_line(&ended.stderr)["started"]), (Some(2), &true.into()));
    let ended = exec("--json", &["no-such-program"]);
    let json = last_line(&ended.stderr);
    assert_eq!((ended.code, &json["started"]), (Some(2), &false.into()));
    assert!(json.get("end").is_none() && ended.stderr.contains("No such file"), "{ended:?}");

    let folder = Folder::new();
    let file = folder.path("how it ended.json");
    let ended = exec(&format!("--json={}", file.display()), &["sh", "-c", "echo out; exit 3"]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(3), "out\n", ""));
    let text = fs::read_to_string(file).unwrap();
    documents::keep(&text);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    schema(&json, "lab.exec");
    assert_eq!(json["exit_code"], 3);
}

#[test]
fn a_program_in_the_background_says_its_number() {
    let planet = pair("json-detach");
    let arguments = ["lab", "exec", "--planet", planet.name(), "visitor", "--detach", "--json", "--", "true"];
    let json = longhaul(&arguments).json();
    schema(&json, "lab.exec");
    assert_eq!((&json["number"], &json["command"]), (&1.into(), &serde_json::json!(["true"])));
    assert!(json.get("end").is_none());
    let logs = planet.lab(&["logs", "--json"]).json();
    schema(&logs[0], "lab.logs");
}

#[test]
fn files_and_maps() {
    let planet = pair("json-files");
    let folder = Folder::new();
    fs::create_dir_all(folder.path("site/img")).unwrap();
    folder.file("site/index.html", "hello");
    folder.file("site/img/a.svg", "<svg/>");
    let site = folder.path("site").display().to_string();
    let json = planet.lab(&["cp", &site, "origin:", "--json"]).json();
    schema(&json, "lab.cp");
    assert_eq!(
        [&json["files"], &json["folders"], &json["bytes"], &json["links"]],
        [&serde_json::json!(2), &2.into(), &11.into(), &0.into()]
    );

    let json = planet.lab(&["map", "--json"]).json();
    schema(&json, "lab.map");
    assert!(json["svg"].as_str().unwrap().starts_with("<svg"), "{json}");
    let picture = folder.path("a map.svg");
    let json = planet.lab(&["map", "--json", "-o", picture.to_str().unwrap()]).json();
    assert_eq!((&json["file"], json.get("svg")), (&picture.to_str().unwrap().into(), None));
    assert!(fs::read_to_string(picture).unwrap().starts_with("<svg"));
}

#[test]
fn packets_and_what_moves() {
    let planet = pair("json-view");
    planet.exec("visitor", &["ping", "-c", "2", "-i", "0.01", "origin"]).ok();
    let json = planet.lab(&["view", "--json", "--once"]).json();
    schema(&json, "lab.view");
    assert_eq!(json["running_s"], json["over_s"]);
    let names = |link: &serde_json::Value| (link["from"].clone(), link["to"].clone());
    let links: Vec<_> = json["links"].as_array().unwrap().iter().map(names).collect();
    assert!(links.contains(&("london".into(), "newyork".into())), "{json}");

    let lines = Command::new("sh")
        .args(["-c", "\"$0\" lab view --json --planet \"$1\" | head -n 2", LONGHAUL, planet.name()])
        .output();
    let text = Ended::of(lines.unwrap()).ok();
    let looks: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let between = number(&looks[1], "/running_s") - number(&looks[0], "/running_s");
    assert!((number(&looks[1], "/over_s") - between).abs() < 1e-9, "{text}");

    let folder = Folder::new();
    let file = folder.path("c.pcapng");
    let capture = ["capture", "--duration", "20ms", "--json", "--out", file.to_str().unwrap()];
    let json = planet.lab(&capture).json();
    schema(&json, "lab.capture");
    assert_eq!((&json["ended"], &json["missed"]), (&"asked".into(), &0.into()));
    assert_eq!(json["bytes"], fs::metadata(&file).unwrap().len());
    let script = "\"$0\" lab capture --planet \"$1\" --for 20ms --json -o - > /dev/null";
    let streamed = Command::new("sh").args(["-c", script, LONGHAUL, planet.name()]).output();
    let json = last_line(&Ended::of(streamed.unwrap()).stderr);
    schema(&json, "lab.capture");
    assert!(json.get("file").is_none());
}

#[test]
fn faults() {
    let planet = pair("json-faults");
    schema(&planet.lab(&["fault", "london-newyork", "--loss", "1%", "--json"]).json(), "lab.fault");
    planet.lab(&["fault", "host", "origin", "--loss", "1%"]).ok();
    schema(&planet.lab(&["fault", "list", "--json"]).json()[1], "lab.fault");
    let lifted = planet.lab(&["fault", "lift", "1", "--json"]).json();
    schema(&lifted, "lab.fault.lift");
    assert_eq!(lifted["faults"], serde_json::json!([1]));
    assert_eq!(planet.lab(&["fault", "lift", "all", "--json"]).json()["faults"], serde_json::json!([2]));
    schema(&planet.status(), "lab.status");
    schema(&longhaul(&["doctor", "--json"]).json(), "doctor");
}

#[test]
fn a_published_server_says_where_it_listens() {
    let planet = pair("json-publish");
    let mut command = Command::new(LONGHAUL);
    command.args(["lab", "publish", "origin:80", "--from", "london", "--listen", "0", "--json"]);
    let mut child =
        command.args(["--planet", planet.name()]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    documents::keep(&line);
    let json: serde_json::Value = serde_json::from_str(&line).unwrap();
    schema(&json, "lab.publish");
    assert!(json["listen"].as_str().unwrap().starts_with("127.0.0.1:"), "{json}");
    assert_eq!((&json["from"], &json["city"]), (&"visitor".into(), &"london".into()));
}

#[test]
fn files_that_were_written_are_named() {
    let folder = Folder::new();
    let pages = folder.path("man");
    let json = longhaul(&["manual", pages.to_str().unwrap(), "--json"]).json();
    schema(&json, "files");
    let files: Vec<_> = json["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    let page = pages.join("longhaul-lab-exec.1").display().to_string();
    assert!(files.contains(&page.as_str()), "{json}");
    assert!(!files.iter().any(|file| file.ends_with("longhaul-complete.1")), "{json}");
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{file}");
    }
    let example = folder.path("pub");
    let json = longhaul(&["example", example.to_str().unwrap(), "--json"]).json();
    schema(&json, "files");
    assert_eq!(json["files"][1], example.join("provider-b.csv").display().to_string());
}
