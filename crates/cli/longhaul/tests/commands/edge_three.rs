//! Runs the steps of `docs/tiers.md`: its commands, its file, and its systemd unit. A machine is a
//! host of a planet with its own `/etc` and `/var/cache`.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};

use recording::{Reader, Sample};
use serde_json::Value;

use crate::harness::{Ended, Folder, LONGHAUL, Planet, Running, World, project, wait_until};

/// In the order of their addresses on the planet, after the origin's.
const MACHINES: [&str; 3] = ["lhr", "fra", "syd"];

const HOSTS: &str = "127.0.0.1 localhost\n10.0.0.1 origin.shop.example\n127.0.0.1 www.shop.example\n";

/// Replacements of programs; `$MACHINES` is the folder with the machines' files.
const SHIMS: [(&str, &str); 4] = [
    ("ssh", "machine=${1#root@}; shift; test \"$1 $2\" = 'mkdir -p' && mkdir -p \"$MACHINES/$machine$3\""),
    (
        "scp",
        "for to; do :; done; to=${to#root@}; while [ $# -gt 1 ]; do cp \"$1\" \"$MACHINES/${to%%:*}${to#*:}\"; shift; done",
    ),
    ("useradd", "exit 0"),
    ("chown", "exit 0"),
];

struct Page {
    commands: Vec<Vec<String>>,
    file: String,
}

impl Page {
    fn read() -> Self {
        let text = fs::read_to_string(project("docs/tiers.md")).unwrap();
        let steps = text.split_once("## Run three data centres").unwrap().1;
        let steps = steps.split_once("edge_three.rs").unwrap().0;
        let (mut commands, mut file) = (Vec::new(), String::new());
        for block in steps.split("\n```").skip(1).step_by(2) {
            match block.split_once('\n').unwrap() {
                ("console", lines) => {
                    let typed = lines.lines().filter_map(|line| line.strip_prefix("$ "));
                    commands.push(typed.map(str::to_owned).collect());
                }
                ("toml", text) => file.push_str(text),
                (other, _) => panic!("a block of {other}"),
            }
        }
        Self { commands, file }
    }
}

struct Network {
    folder: Folder,
    planet: Planet,
}

impl Network {
    fn new() -> Self {
        let mut world = World::named("three").host("origin", "newyork");
        for (name, city) in MACHINES.into_iter().zip(["london", "frankfurt", "sydney"]) {
            world = world.host(name, city);
        }
        let network = Self { folder: Folder::new(), planet: world.up() };
        for folder in ["operator", "bin"] {
            fs::create_dir(network.folder.path(folder)).unwrap();
        }
        for (name, script) in SHIMS {
            let file = network.folder.file(&format!("bin/{name}"), format!("#!/bin/sh\nset -e\n{script}\n"));
            fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::os::unix::fs::symlink(LONGHAUL, network.folder.path("bin/longhaul")).unwrap();
        for name in MACHINES {
            fs::create_dir_all(network.machine(name).join("etc")).unwrap();
            // CacheDirectory= of the unit creates this.
            fs::create_dir_all(network.machine(name).join("cache/longhaul")).unwrap();
            fs::write(network.machine(name).join("etc/hosts"), HOSTS).unwrap();
        }
        network
    }

    fn machine(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn path(&self) -> String {
        format!("{}:{}", self.folder.path("bin").display(), std::env::var("PATH").unwrap())
    }

    fn type_here(&self, command: &str) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-ec", command]).current_dir(self.folder.path("operator"));
        shell.env("PATH", self.path()).env("MACHINES", self.folder.path(""));
        Ended::of(shell.output().unwrap()).ok()
    }

    fn command_at(&self, name: &str, command: &str) -> Command {
        let own = self.machine(name).display().to_string();
        let script = format!(
            "mount -t overlay overlay -o lowerdir={own}/etc:/etc /etc\n\
             mount --bind {own}/etc/longhaul /etc/longhaul\n\
             mount --bind {own}/cache /var/cache\nexport PATH='{}'\n{command}",
            self.path()
        );
        self.planet.command(name, &["unshare", "--mount", "sh", "-ec", &script])
    }

    fn type_at(&self, name: &str, command: &str) -> Ended {
        Ended::of(self.command_at(name, command).output().unwrap())
    }

    fn start(&self, name: &str) -> Running {
        let unit = fs::read_to_string(project("docs/operation/longhaul-edge@.service")).unwrap();
        let line = |key: &str| {
            let line = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap();
            line.replace("%i", name).replace("/usr/bin/longhaul", LONGHAUL)
        };
        let pid = self.machine(name).join("pid").display().to_string();
        let script = format!("{} >&2\necho $$ > {pid}\nexec {}", line("ExecStartPre"), line("ExecStart"));
        assert_eq!(line("Restart"), "on-failure");
        Running::listening(&mut self.command_at(name, &script)).0
    }

    fn status(&self, name: &str) -> Value {
        self.type_at(name, "longhaul edge status --json").json()
    }

    fn is_whole(&self, name: &str) -> bool {
        let status = self.status(name);
        let all = |pointer: &str, is_so: &dyn Fn(&Value) -> bool| {
            let others = status.pointer(pointer).and_then(Value::as_array).unwrap();
            others.len() == 2 && others.iter().all(is_so)
        };
        all("/links", &|link| link["up"] == true)
            && all("/purges/data_centres", &|there| there["behind"] == 0 && there["ahead"] == 0)
    }

    fn visit(&self, name: &str, path: &str) -> String {
        let file = self.machine(name).join("visit.jsonl").display().to_string();
        let command =
            format!("longhaul probe http://www.shop.example{path} --count 1 --json --output {file}");
        self.type_at(name, &command).measured();
        let samples = Reader::new(fs::File::open(&file).unwrap(), &file).unwrap();
        let [sample] = &samples.collect::<Result<Vec<Sample>, _>>().unwrap()[..] else { panic!() };
        assert_eq!(sample.status, Some(200));
        sample.cache.clone().unwrap()
    }
}

#[test]
fn three_data_centres_run_on_three_machines_as_the_page_says() {
    let (page, network) = (Page::read(), Network::new());
    let [authority, copy, begin, status, purge, lose] = &page.commands[..] else {
        panic!("{:?}", page.commands)
    };
    let said: String = authority.iter().map(|command| network.type_here(command)).collect();
    let token = said.split_once("LONGHAUL_TOKEN=").unwrap().1.lines().next().unwrap();
    let hash = said.split('"').nth(1).unwrap();
    network.folder.file("operator/network.toml", page.file.replace('…', hash));
    copy.iter().for_each(|command| drop(network.type_here(command)));
    for name in MACHINES {
        let files = fs::read_dir(network.machine(name).join("etc/longhaul")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort_unstable();
        let mut expected =
            ["ca.pem", "network.toml", &format!("{name}-key.pem"), &format!("{name}.pem")].map(str::to_owned);
        expected.sort_unstable();
        assert_eq!(files, expected);
    }

    let _origin = network.planet.serve("origin", &["--body", "1KB"]);
    let mut running = MACHINES.map(|name| {
        let (start, before) = begin.split_last().unwrap();
        assert_eq!(start, "systemctl enable --now longhaul-edge@lhr");
        before.iter().for_each(|command| drop(network.type_at(name, &command.replace("lhr", name)).ok()));
        network.start(name)
    });
    for name in MACHINES {
        wait_until(|| network.is_whole(name));
        let shown = network.type_at(name, &status[0]).ok();
        assert!(
            MACHINES.iter().filter(|other| **other != name).all(|other| shown.contains(other)),
            "{shown}"
        );
    }

    let purge_at = |name: &str| {
        let command = format!("LONGHAUL_TOKEN={token} {} --json", purge[0]);
        network.type_at(name, &command).json()
    };
    let has_done = |answer: &Value, name: &str| {
        let others = answer["data_centres"].as_array().unwrap();
        others.iter().any(|there| there["data_centre"] == name && there["applied_ms"].is_number())
    };
    for name in MACHINES {
        network.visit(name, "/a");
        assert_eq!(network.visit(name, "/a"), "hit", "{name}");
    }
    for name in MACHINES {
        wait_until(|| {
            let answer = purge_at("lhr");
            has_done(&answer, "fra") && has_done(&answer, "syd")
        });
        assert_ne!(network.visit(name, "/a"), "hit", "{name}");
        assert_eq!(network.visit(name, "/a"), "hit", "{name}");
    }

    assert_eq!(lose, &["systemctl kill --signal KILL longhaul-edge@syd"]);
    let pid = fs::read_to_string(network.machine("syd").join("pid")).unwrap();
    network.planet.exec("syd", &["kill", "-s", "KILL", pid.trim()]).ok();
    wait_until(|| !has_done(&purge_at("fra"), "syd"));
    assert!(running[2].has_ended());
    assert!(has_done(&purge_at("fra"), "lhr"));
    running[2] = network.start("syd");
    MACHINES.iter().for_each(|name| wait_until(|| network.is_whole(name)));
    assert_ne!(network.visit("syd", "/a"), "hit");
    assert_eq!(network.visit("syd", "/a"), "hit");
}
