//! Purges through a NATS server: reloads and hot restarts.

use std::{
    fs,
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{Ended, Folder, LONGHAUL, Running, free_address, longhaul, wait_until};

struct Pair {
    folder: Folder,
    token: String,
    hash: String,
    admins: [String; 2],
    links: [String; 2],
    nats: Nats,
}

struct Nats(Child, String);

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Pair {
    fn new() -> Self {
        let folder = Folder::new();
        let authority = folder.path("authority").display().to_string();
        longhaul(&["edge", "ca", "new", &authority]).ok();
        for name in ["lhr", "fra"] {
            longhaul(&["edge", "ca", "issue", &authority, name]).ok();
        }
        let token = longhaul(&["edge", "token", "--json"]).json();
        let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap().to_owned());
        let nats = free_address();
        let settings =
            format!("listen: \"{nats}\"\njetstream {{ store_dir: \"{}\" }}\n", folder.path("nats").display());
        let program = std::env::var("NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
        let mut server = Command::new(program);
        server.arg("-c").arg(folder.file("nats.conf", settings)).stdout(Stdio::null()).stderr(Stdio::null());
        let server = server.spawn().expect("nats-server is installed: sh xtask/tools.sh test");
        let nats = Nats(server, nats);
        wait_until(|| TcpStream::connect(&nats.1).is_ok());
        Self {
            folder,
            token,
            hash,
            admins: [free_address(), free_address()],
            links: [free_address(), free_address()],
            nats,
        }
    }

    fn file(&self, links: &[String; 2], line: &str) -> String {
        let path = |name: &str| self.folder.path(name).display().to_string();
        let centre = |number: usize, name: &str| {
            format!(
                "[[data_centre]]\nname = \"{name}\"\nlisten = [\"127.0.0.1:0\"]\nadmin = \"{}\"\naddress = \"{}\"\n\
                 link_certificate = \"{}\"\nlink_key = \"{}\"\nhandover = \"{}\"\n",
                self.admins[number],
                links[number],
                path(&format!("authority/{name}.pem")),
                path(&format!("authority/{name}-key.pem")),
                path(&format!("{name}.socket")),
            )
        };
        let text = format!(
            "[network]\nname = \"n\"\nauthority = \"{}\"\n{line}\n[admin]\ntokens = [\"{}\"]\n{}{}\
             [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:9\"]\n",
            path("authority/ca.pem"),
            self.hash,
            centre(0, "lhr"),
            centre(1, "fra"),
        );
        self.folder.file("network.toml", text)
    }

    fn bus(&self, rest: &str) -> String {
        format!("bus = \"nats://{}{rest}\"", self.nats.1)
    }

    /// One file per data centre, in which the address of the other is wrong.
    fn apart(&self, line: &str) -> [String; 2] {
        [0, 1].map(|own| {
            let mut links = self.links.clone();
            links[1 - own] = "127.0.0.1:9".to_owned();
            let text = fs::read(self.file(&links, line)).unwrap();
            self.folder.file(&format!("apart-{own}.toml"), text)
        })
    }

    fn ask(&self, centre: usize, words: &[&str]) -> Ended {
        let mut command = Command::new(LONGHAUL);
        command.arg("edge").args(words).args(["--admin", &self.admins[centre]]);
        Ended::of(command.env("LONGHAUL_TOKEN", &self.token).output().unwrap())
    }

    fn bus_of(&self, centre: usize) -> Value {
        self.ask(centre, &["status", "--json"]).json()["purges"]["bus"].clone()
    }

    fn works(&self, centre: usize, stream: &str) -> bool {
        let bus = self.bus_of(centre);
        bus["error"].is_null() && bus["stream"] == format!("nats://{}/{stream}", self.nats.1)
    }

    fn is_applied(&self, centre: usize) -> bool {
        let purged = self.ask(centre, &["purge", "shop", "--tag", "a", "--json"]).json();
        purged["data_centres"][0]["applied_ms"].is_number()
    }
}

fn run(file: &str, name: &str, more: &[&str]) -> Running {
    let mut command = Command::new(LONGHAUL);
    Running::listening(command.args(["edge", "run", file, "--data-centre", name]).args(more)).0
}

#[test]
fn purges_go_through_nats_where_there_is_no_link_and_on_through_reloads_and_other_processes() {
    let pair = Pair::new();
    let files = pair.apart(&pair.bus(""));
    let lhr = run(&files[0], "lhr", &[]);
    let mut fra = run(&files[1], "fra", &[]);
    wait_until(|| [0, 1].iter().all(|&centre| pair.works(centre, "LONGHAUL_PURGES")));
    wait_until(|| pair.is_applied(0) && pair.is_applied(1));
    let shown = pair.ask(0, &["status"]).ok();
    assert!(shown.contains("/LONGHAUL_PURGES: ") && shown.contains("published, "), "{shown}");

    pair.apart(&pair.bus("/SECOND"));
    lhr.signal(Signal::SIGHUP);
    fra.signal(Signal::SIGHUP);
    wait_until(|| [0, 1].iter().all(|&centre| pair.works(centre, "SECOND")));
    wait_until(|| pair.is_applied(0) && pair.is_applied(1));

    // The two processes with the same name are not reported as namesakes.
    let again = run(&files[1], "fra", &["--take-over"]);
    fra.says("another process has taken over");
    wait_until(|| pair.works(1, "SECOND"));
    wait_until(|| pair.is_applied(0) && pair.is_applied(1));
    assert!(pair.bus_of(1)["namesake"].is_null());

    pair.apart("");
    again.signal(Signal::SIGHUP);
    wait_until(|| pair.bus_of(1).is_null());
}

#[test]
fn a_bus_that_is_not_there_is_said_and_a_file_that_it_needs_is_missed_at_once() {
    let mut pair = Pair::new();
    let file = pair.file(&pair.links, &pair.bus("?creds=nowhere.creds"));
    let refused = longhaul(&["edge", "run", &file, "--data-centre", "lhr"]).refused();
    assert!(refused.contains("[network] bus: cannot read nowhere.creds"), "{refused}");
    let file = pair.file(&pair.links, "bus = \"nats://n1:port\"");
    let refused = longhaul(&["edge", "check", &file]).refused();
    assert!(refused.contains("network.toml:4:7: \"n1:port\" is not a server and its port"), "{refused}");
    pair.nats.0.kill().unwrap();
    pair.nats.0.wait().unwrap();
    let file = pair.file(&pair.links, &pair.bus(""));
    let _both = ["lhr", "fra"].map(|name| run(&file, name, &[]));
    wait_until(|| pair.is_applied(0));
    let shown = pair.ask(0, &["status"]).ok();
    assert!(shown.contains("/LONGHAUL_PURGES: not used, purges travel over links only: NATS at"), "{shown}");
    assert!(
        shown.contains("purges not published yet") || shown.contains("1 purge not published yet"),
        "{shown}"
    );
}
