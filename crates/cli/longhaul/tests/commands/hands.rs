//! Work with a running planet: background programs, file copies, and a published server.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpStream,
    os::unix::fs::{PermissionsExt, symlink},
    process::{Command, Stdio},
};

use nix::sys::signal::Signal;

use crate::{
    documents,
    harness::{Ended, Folder, LONGHAUL, Planet, Running, World, longhaul, number, wait_until},
};

fn atlantic(name: &str) -> Planet {
    World::named(name)
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"40ms\"")
        .up()
}

fn lab(planet: &Planet, subcommand: &str, arguments: &[&str]) -> Ended {
    longhaul(&[&["lab", subcommand, "--planet", planet.name()], arguments].concat())
}

fn detach(planet: &Planet, host: &str, command: &[&str]) -> Ended {
    lab(planet, "exec", &[&["--detach", host, "--"], command].concat())
}

fn have_ended(planet: &Planet) -> bool {
    let programs = lab(planet, "logs", &["--json"]).json();
    programs.as_array().unwrap().iter().all(|program| program.get("end").is_some())
}

fn publish(planet: &Planet, server: &str, from: &str) -> (Running, String) {
    let mut command = Command::new(LONGHAUL);
    command.args(["lab", "publish", "--planet", planet.name(), server, "--from", from]);
    let (running, url) = Running::listening(command.args(["--listen", "127.0.0.1:0"]));
    (running, url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned())
}

#[test]
fn a_published_server_is_as_far_away_as_it_is_from_there() {
    let planet = atlantic("publish");
    let _origin = planet.serve("origin", &["--body", "3MB"]);
    let (published, address) = publish(&planet, "origin:80", "london");
    let url = format!("http://{address}/");
    let arguments = ["--count", "8", "--concurrency", "4", "--json"];
    let said = longhaul(&[&["probe", &url][..], &arguments].concat()).measured();
    assert_eq!((number(&said, "/n"), number(&said, "/errors")), (8.0, 0.0), "{said}");
    assert_eq!(number(&said, "/body_bytes"), 24e6);
    // The connection over the ocean takes 40 ms, and the request another 40 ms.
    assert!(number(&said, "/phases/total/min_ms") >= 80.0, "{said}");
    assert!(number(&planet.status(), "/fidelity/bytes_out") > 24e6);

    published.signal(Signal::SIGINT);
    assert_eq!(published.wait(), Some(0));
    TcpStream::connect(&address).unwrap_err();
}

#[test]
fn a_server_that_is_not_there_closes_connections_and_is_said_once() {
    let planet = atlantic("absent");
    let mut command = Command::new(LONGHAUL);
    command.args(["lab", "publish", "--planet", planet.name(), "origin:81", "--from", "visitor"]);
    command.args(["--listen", "127.0.0.1:0", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut published = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(published.stdout.take().unwrap()).read_line(&mut line).unwrap();
    documents::keep(&line);
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    for _ in 0..2 {
        let mut client = TcpStream::connect(said["listen"].as_str().unwrap()).unwrap();
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }
    longhaul(&["lab", "down", "--planet", planet.name()]).ok();
    let ended = Ended::of(published.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        ended.stderr.matches("origin:81 cannot be reached from visitor: Connection refused").count(),
        1
    );
    assert!(ended.stderr.ends_with(&format!("planet \"{}\" is gone\n", planet.name())), "{ended:?}");
}

#[test]
fn what_cannot_be_published_is_said() {
    let planet = atlantic("mispublish");
    let (_published, address) = publish(&planet, "origin:80", "visitor");
    for (arguments, expected) in [
        (
            ["origin:80", "--from", "visitor", "--listen", &address],
            format!("cannot listen on {address}: Address already in use"),
        ),
        (["origin:80", "--from", "lodon", "--listen", "127.0.0.1:0"], "did you mean \"london\"?".to_owned()),
        (
            ["orign:80", "--from", "london", "--listen", "127.0.0.1:0"],
            "cannot find orign:80 on planet".to_owned(),
        ),
        (
            ["origin", "--from", "london", "--listen", "127.0.0.1:0"],
            "expected a host and a port, such as origin:80".to_owned(),
        ),
    ] {
        let said = lab(&planet, "publish", &arguments).refused();
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn a_program_in_the_background_is_watched_to_its_end() {
    let planet = atlantic("detach");
    let said = detach(&planet, "origin", &["sh", "-c", "echo out; echo err >&2; exit 3"]);
    assert!(said.stderr.starts_with("[1] sh runs in origin"), "{said:?}");
    detach(&planet, "visitor", &["sh", "-c", "printf half; kill -9 $$"]).ok();
    wait_until(|| have_ended(&planet));

    let programs = lab(&planet, "logs", &["--json"]).json();
    assert_eq!(number(&programs, "/0/end/code"), 3.0, "{programs}");
    assert_eq!(number(&programs, "/1/end/signal"), 9.0, "{programs}");
    let mut listed = programs.clone();
    for program in listed.as_array_mut().unwrap() {
        program.as_object_mut().unwrap().remove("schema");
    }
    assert_eq!(planet.status()["programs"], listed);
    let text = lab(&planet, "status", &[]).ok();
    assert!(text.contains("ended with 3"), "{text}");
    let text = lab(&planet, "logs", &["origin"]).ok();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[..3], ["[1] origin: sh -c echo out; echo err >&2; exit 3", "[1] out", "[1] err"]);
    assert!(lines[3].starts_with("[1] sh ended with 3 after ") && lines.len() == 4, "{text}");
    let text = lab(&planet, "logs", &[]).ok();
    assert!(text.contains("[2] half\n[2] sh was ended by SIGKILL after "), "{text}");
}

#[test]
fn a_program_in_the_background_outlives_its_caller_and_serves() {
    let planet = atlantic("background");
    detach(&planet, "origin", &[LONGHAUL, "serve", "--listen", "0.0.0.0:80", "--body", "1KB"]).ok();
    wait_until(|| lab(&planet, "logs", &["origin"]).ok().contains("listening on"));
    let said = planet.exec("visitor", &[LONGHAUL, "probe", "http://origin/", "--count", "1", "--json"]);
    assert_eq!(number(&said.measured(), "/body_bytes"), 1000.0);
    let programs = lab(&planet, "logs", &["--json"]).json();
    assert!(programs[0].get("end").is_none(), "{programs}");
}

#[test]
fn what_does_not_start_is_said_and_not_listed() {
    let planet = atlantic("unstarted");
    let said = detach(&planet, "origin", &["no-such-program"]).refused();
    assert!(said.contains("cannot run no-such-program in origin: No such file or directory"), "{said}");
    let said = detach(&planet, "orign", &["true"]).refused();
    assert!(said.contains("no host \"orign\""), "{said}");
    assert_eq!(lab(&planet, "logs", &[]).ok(), "");
    let said = lab(&planet, "logs", &["orign"]).refused();
    assert!(said.contains("its hosts are origin, visitor"), "{said}");
}

/// 20 MiB in lines of 16 bytes. The log keeps the last 16 MiB.
#[test]
fn a_log_keeps_its_end() {
    let planet = atlantic("long-log");
    detach(&planet, "origin", &["sh", "-c", "yes 123456789012345 | head -c 20971520; echo the end"]).ok();
    wait_until(|| have_ended(&planet));
    let text = lab(&planet, "logs", &[]).ok();
    let gone = 20 * 1024 * 1024 + "the end\n".len() - 16 * 1024 * 1024;
    assert!(
        text.contains(&format!("[1] ({} bytes are gone: ", units::show::count(gone as u64))),
        "{}",
        &text[..200]
    );
    assert!(text.contains("\n[1] the end\n[1] sh ended with 0 "), "{}", &text[text.len() - 200..]);
    // The last 16 MiB contain 2^20 lines; the first is cut by the length of "the end".
    assert_eq!(text.lines().filter(|line| *line == "[1] 123456789012345").count(), (1 << 20) - 1);
}

#[test]
fn logs_can_be_followed_until_the_planet_ends() {
    let planet = atlantic("follow");
    let mut command = Command::new(LONGHAUL);
    command.args(["lab", "logs", "--planet", planet.name(), "--follow"]);
    let mut follower =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines().map(Result::unwrap);
    detach(&planet, "visitor", &["sh", "-c", "echo ready; exec sleep 1000"]).ok();
    assert!(lines.next().unwrap().starts_with("[1] visitor: sh -c "));
    assert_eq!(lines.next().unwrap(), "[1] ready");
    drop(planet);
    assert_eq!(lines.next(), None);
    assert_eq!(follower.wait().unwrap().code(), Some(0));
}

#[test]
fn folders_are_copied_there_and_back() {
    let planet = atlantic("cp");
    let folder = Folder::new();
    fs::create_dir_all(folder.path("site/img")).unwrap();
    folder.file("site/index.html", "<p>hello</p>");
    folder.file("site/img/run.sh", "#!/bin/sh\necho ran\n");
    fs::set_permissions(folder.path("site/img/run.sh"), fs::Permissions::from_mode(0o741)).unwrap();
    symlink("img/run.sh", folder.path("site/start")).unwrap();
    let site = folder.path("site").display().to_string();

    lab(&planet, "cp", &[&site, "origin:www/"]).ok();
    assert_eq!(planet.exec("origin", &["/srv/origin/www/site/start"]).ok(), "ran\n");
    lab(&planet, "cp", &[&site, "origin:www"]).ok();

    let back = folder.path("back").display().to_string();
    lab(&planet, "cp", &["origin:/srv/origin/www/site", &back]).ok();
    assert_eq!(fs::read_to_string(folder.path("back/index.html")).unwrap(), "<p>hello</p>");
    assert_eq!(fs::read_link(folder.path("back/start")).unwrap().to_str(), Some("img/run.sh"));
    let mode = |path: &str| fs::metadata(folder.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("back/img/run.sh"), 0o741);
    assert_eq!(mode("back/img"), mode("site/img"));
}

#[test]
fn a_copy_leads_nowhere_else() {
    let planet = atlantic("cp-out");
    let folder = Folder::new();
    let file = folder.file("file", "x");
    let secret = folder.file("secret", "kept");
    planet.exec("origin", &["ln", "-s", &secret, "/srv/origin/link"]).ok();
    planet.exec("origin", &["ln", "-s", "..", "/srv/origin/up"]).ok();
    for (arguments, expected) in [
        ([file.as_str(), "origin:../visitor/x"], "\"..\" may lead out of the host's folder /srv/origin"),
        ([file.as_str(), "origin:/etc/x"], "paths of a host are below its folder /srv/origin"),
        ([file.as_str(), "origin:link"], "it leads out of the folder"),
        ([file.as_str(), "origin:up/visitor/x"], "it leads out of the folder"),
        (["origin:link", file.as_str()], "it leads out of the folder"),
        (["origin:none", file.as_str()], "origin:none: No such file or directory"),
        ([file.as_str(), "orign:x"], "no host \"orign\""),
        ([file.as_str(), "other"], "a path on a host is written HOST:PATH"),
        (["origin:a", "visitor:b"], "expected copies from this machine to a host or back"),
    ] {
        let said = lab(&planet, "cp", &arguments).refused();
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_to_string(secret).unwrap(), "kept");
}

#[test]
fn a_full_file_system_is_said_and_leaves_no_half_file() {
    let planet = atlantic("cp-full");
    planet.exec("origin", &["mount", "-o", "remount,size=1m", "/srv"]).ok();
    let folder = Folder::new();
    let large = folder.file("large", vec![1; 2 << 20]);
    let said = lab(&planet, "cp", &[&large, "origin:"]).refused();
    assert!(
        said.contains("origin:large: no room left") && said.contains("remove what is not needed"),
        "{said}"
    );
    assert_eq!(planet.exec("origin", &["ls", "/srv/origin"]).ok(), "log\n");
}

#[test]
fn files_go_with_their_planet() {
    let planet = atlantic("cp-gone");
    let folder = Folder::new();
    lab(&planet, "cp", &[&folder.file("trace-of-a-planet", "x"), "origin:"]).ok();
    assert_eq!(planet.exec("visitor", &["cat", "/srv/origin/trace-of-a-planet"]).ok(), "x");
    drop(planet);
    assert!(!fs::exists("/srv/origin/trace-of-a-planet").unwrap());
}
