//! Each obstacle with its position, and no side effects.

use std::net::TcpListener;

use tempfile::TempDir;

use super::*;
use crate::Certificate;

const NAMESPACE: &str = "[[kv.namespace]]\nname = \"s\"\n\
                         tokens = [\"4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2\"]";

struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "x").unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        Self(folder)
    }

    fn found(&self, lines: &str, more: &str) -> Vec<(String, Severity, String)> {
        let path = self.0.path().join("n.toml");
        let folder = self.0.path().display().to_string();
        let text = format!(
            "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\n{lines}\n\
             [[zone]]\nname = \"z\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:1\"]\n{more}\n"
        );
        fs::write(&path, text.replace('@', &folder)).unwrap();
        let network = Network::open(&path).unwrap();
        let before = fs::read_dir(&folder).unwrap().count();
        let found = obstacles(&path, &network, &network.data_centres[0]).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), before);
        let told = |found: Obstacle| {
            let mut text = found.error.to_string();
            let mut source = std::error::Error::source(&found.error);
            while let Some(error) = source {
                text += &format!(": {error}");
                source = error.source();
            }
            let place = found.place.unwrap_or_default().replace(&folder, "@");
            (place, found.severity, text.replace(&folder, "@"))
        };
        found.into_iter().map(told).collect()
    }

    #[track_caller]
    fn refuses(&self, lines: &str, more: &str, place: &str, sentence: &str) {
        let found = self.found(lines, more);
        let [(at, severity, text)] = &found[..] else { panic!("{lines}: {found:?}") };
        assert_eq!((&**at, *severity), (place, Severity::Fatal), "{found:?}");
        assert!(text.contains(sentence), "{text}");
    }
}

#[test]
fn complete_machine_has_no_obstacles() {
    let machine = Machine::new();
    let lines =
        "disk = \"@/disk\"\naccess_log = \"@/log.jsonl\"\nhandover = \"@/socket\"\nadmin = \"127.0.0.1:0\"";
    let kv = format!("[kv]\nlisten = [\"127.0.0.1:0\"]\nstore = \"@/kv.redb\"\n{NAMESPACE}");
    assert_eq!(machine.found(lines, &kv), []);
    let lines = "disk = \"@/folder\"\naccess_log = \"@/file\"\nhandover = \"@/file\"";
    assert_eq!(machine.found(lines, &kv), []);
}

#[test]
fn unusable_file_is_reported_at_its_setting() {
    let machine = Machine::new();
    for (line, sentence) in [
        ("disk = \"@/file\"", "cannot make @/file: File exists"),
        ("disk = \"@/file/a/b\"", "cannot make @/file/a/b: Not a directory"),
        (
            "access_log = \"@/none/log.jsonl\"",
            "the access log @/none/log.jsonl cannot be written: No such file",
        ),
        ("access_log = \"@/folder\"", "the access log @/folder cannot be written: Is a directory"),
        ("access_log = \"@/file/log\"", "the access log @/file/log cannot be written: Not a directory"),
        ("handover = \"@/none/socket\"", "hand-over at @/none/socket: No such file"),
    ] {
        let column = line.find('"').unwrap() + 1;
        machine.refuses(line, "", &format!("@/n.toml:6:{column}"), sentence);
    }
    let long = format!("handover = \"@/{}\"", "x".repeat(200));
    machine.refuses(&long, "", "@/n.toml:6:12", "path must be shorter than SUN_LEN");
    let kv = |place: &str| format!("[kv]\nlisten = [\"127.0.0.1:0\"]\nstore = \"{place}\"\n{NAMESPACE}");
    machine.refuses(
        "",
        &kv("@/none/kv.redb"),
        "@/n.toml:13:9",
        "cannot open the store @/none/kv.redb: No such file",
    );
    machine.refuses("", &kv("@/folder"), "@/n.toml:13:9", "cannot open the store @/folder: Is a directory");
}

#[test]
fn unusable_certificate_is_reported_at_its_setting() {
    let machine = Machine::new();
    let tls = |certificate: &str, key: &str| {
        format!("listen_tls = [\"127.0.0.1:0\"]\ncertificate = \"@/{certificate}\"\nkey = \"@/{key}\"")
    };
    Certificate::create_authority(machine.0.path()).unwrap();
    for name in ["lhr", "fra"] {
        Certificate::issue(machine.0.path(), name, &[], 1).unwrap();
    }
    assert_eq!(machine.found(&tls("lhr.pem", "lhr-key.pem"), ""), []);
    machine.refuses(&tls("none.pem", "lhr-key.pem"), "", "@/n.toml:7:15", "cannot use @/none.pem");
    machine.refuses(&tls("file", "lhr-key.pem"), "", "@/n.toml:7:15", "cannot use @/file");
    machine.refuses(&tls("lhr.pem", "none.pem"), "", "@/n.toml:8:7", "cannot use @/none.pem");
    machine.refuses(&tls("lhr.pem", "file"), "", "@/n.toml:8:7", "cannot use @/file");
    let found = machine.found(&tls("lhr.pem", "fra-key.pem"), "");
    assert!(
        matches!(&found[..], [(_, Severity::Fatal, text)] if text.contains("cannot use @/")),
        "{found:?}"
    );
    assert_eq!(machine.found("certificate = \"@/none.pem\"\nkey = \"@/none.pem\"", ""), []);
}

#[test]
fn address_in_use_is_a_note_and_duplicate_is_fatal() {
    let machine = Machine::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap();
    let found = machine.found(&format!("admin = \"{taken}\""), "");
    let [(place, Severity::Note, text)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(place, "@/n.toml:6:9");
    assert!(text.starts_with(&format!("{taken} is already in use")), "{text}");
    let found = machine.found("admin = \"192.0.2.1:4480\"", "");
    assert!(
        matches!(&found[..], [(_, Severity::Note, text)] if text.starts_with("cannot listen on 192.0.2.1:4480")),
        "{found:?}"
    );
    drop(listener);
    let kv = format!("[kv]\nlisten = [\"{taken}\"]\nstore = \"@/kv.redb\"\n{NAMESPACE}");
    machine.refuses(&format!("admin = \"{taken}\""), &kv, "@/n.toml:6:9", "is already in use");
}
