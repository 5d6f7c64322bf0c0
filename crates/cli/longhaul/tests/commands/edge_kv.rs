//! A key-value store: the command line, stops, and hot restarts.

use std::{
    io::Write,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread::{self, ScopedJoinHandle},
};

use nix::sys::signal::Signal;

use crate::harness::{
    Ended, Folder, LONGHAUL, Running, SetOnDrop, free_address, longhaul, number, wait_until,
};

struct Store {
    folder: Folder,
    file: String,
    at: String,
    admin: String,
    token: String,
    running: Option<Running>,
}

impl Store {
    fn start() -> Self {
        let token = longhaul(&["edge", "token", "--json"]).json();
        let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap().to_owned());
        let (folder, at, admin) = (Folder::new(), free_address(), free_address());
        let text = format!(
            "[network]\nname = \"n\"\n\
             [admin]\ntokens = [\"{hash}\"]\n\
             [[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\nadmin = \"{admin}\"\nhandover = \"{}\"\n\
             [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:1\"]\n\
             [kv]\nlisten = [\"{at}\"]\nstore = \"{}\"\n\
             [[kv.namespace]]\nname = \"sessions\"\ntokens = [\"{hash}\"]\n\
             [[kv.namespace]]\nname = \"copy\"\ntokens = [\"{hash}\"]\n",
            folder.path("handover").display(),
            folder.path("kv.redb").display(),
        );
        let file = folder.file("network.toml", text);
        let running = Some(run(&file, &[]));
        Self { folder, file, at, admin, token, running }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(LONGHAUL);
        command.args(["edge", "kv"]).args(words).args(["--at", &self.at]).env("LONGHAUL_TOKEN", &self.token);
        command
    }

    fn kv(&self, words: &[&str]) -> Ended {
        Ended::of(self.command(words).args(["--namespace", "sessions"]).output().unwrap())
    }

    fn copy(&self, words: &[&str]) -> Ended {
        Ended::of(self.command(words).args(["--namespace", "copy"]).output().unwrap())
    }

    fn status(&self) -> serde_json::Value {
        longhaul(&["edge", "status", "--json", "--admin", &self.admin]).json()
    }
}

fn run(file: &str, more: &[&str]) -> Running {
    Running::listening(Command::new(LONGHAUL).args(["edge", "run", file]).args(more)).0
}

#[test]
fn values_are_there_until_they_are_deleted_and_after_a_restart() {
    let mut store = Store::start();
    let put = store.kv(&["put", "user/7", "Ada", "--ttl", "1h", "--metadata", "{\"a\": 1}", "--json"]).json();
    assert_eq!(put["schema"], "longhaul.edge.kv.written/1");
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    let file = store.folder.file("value", &bytes);
    assert!(store.kv(&["put", "file", "--file", &file]).ok().starts_with("file: version "));
    let mut piped = store.command(&["put", "piped", "--namespace", "sessions"]);
    let mut piped = piped.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
    assert!(piped.wait().unwrap().success());
    assert_eq!(store.kv(&["get", "user/7"]).ok(), "Ada");
    let got = store.kv(&["get", "user/7", "--json"]).json();
    assert_eq!(
        (&got["value"], &got["version"], &got["metadata"]["a"]),
        (&"Ada".into(), &put["version"], &1.into())
    );
    let listed = store.kv(&["list", "--json"]).json();
    assert_eq!((listed["keys"].as_array().unwrap().len(), &listed["complete"]), (3, &true.into()));
    assert!(store.kv(&["list", "--prefix", "user"]).ok().contains(" user/7 "));

    let running = store.running.take().unwrap();
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait(), Some(0));
    store.running = Some(run(&store.file, &[]));
    let out = store.folder.path("back");
    store.kv(&["get", "file", "--out", &out.display().to_string()]).ok();
    assert!(std::fs::read(out).unwrap() == bytes);
    assert!(store.kv(&["delete", "user/7"]).ok().starts_with("user/7: deleted"));
    let gone = store.kv(&["get", "user/7"]);
    assert_eq!((gone.code, gone.stderr.as_str()), (Some(1), "there is no value of \"user/7\"\n"));
    let status = store.status();
    assert_eq!((number(&status, "/kv/keys"), number(&status, "/kv/bytes")), (2.0, 1_000_011.0));
    assert!(longhaul(&["edge", "status", "--admin", &store.admin]).ok().contains("\nkeys: 2 with 1.00 MB, "));
}

#[test]
fn a_namespace_is_created_without_the_file_and_is_there_after_a_restart() {
    let mut store = Store::start();
    let namespace = |store: &Store, words: &[&str]| {
        Ended::of(store.command(&[&["namespace"], words].concat()).output().unwrap())
    };
    let made = namespace(&store, &["create", "a b ü", "--json"]).json();
    assert_eq!((&made["schema"], &made["name"]), (&"longhaul.edge.kv.namespace/1".into(), &"a b ü".into()));
    let again = namespace(&store, &["create", "a b ü"]);
    assert!(again.code == Some(2) && again.stderr.contains("already exists"), "{again:?}");
    let own = |store: &Store, words: &[&str], name: &str| {
        Ended::of(store.command(words).args(["--namespace", name]).output().unwrap())
    };
    own(&store, &["put", "x", "1"], "a b ü").ok();
    store.running.take().unwrap().signal(Signal::SIGKILL);
    store.running = Some(run(&store.file, &[]));
    assert_eq!(own(&store, &["get", "x"], "a b ü").ok(), "1");
    assert!(namespace(&store, &["rename", "a b ü", "next"]).ok().starts_with("next: renamed, id "));
    let listed = namespace(&store, &["list", "--json"]).json();
    let names: Vec<_> = listed["namespaces"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["copy", "next", "sessions"]);
    let file = namespace(&store, &["delete", "copy"]);
    assert!(file.code == Some(2) && file.stderr.contains("network's file"), "{file:?}");
    assert_eq!(namespace(&store, &["delete", "next", "--json"]).json()["id"], made["id"]);
    assert!(own(&store, &["get", "x"], "next").stderr.contains("there is no namespace \"next\""));
    assert!(!namespace(&store, &["list"]).ok().contains("next"));
}

#[test]
fn a_store_is_asked_over_tls_and_a_reader_writes_nothing() {
    let tokens = ["writer", "reader"].map(|_| {
        let token = longhaul(&["edge", "token", "--json"]).json();
        ["token", "sha256"].map(|field| token[field].as_str().unwrap().to_owned())
    });
    let [[writer, writers], [reader, readers]] = &tokens;
    let (folder, at) = (Folder::new(), free_address());
    let place = folder.path("ca").display().to_string();
    longhaul(&["edge", "ca", "new", &place]).ok();
    longhaul(&["edge", "ca", "issue", &place, "lhr", "--for", "localhost"]).ok();
    let text = format!(
        "[network]\nname = \"n\"\n\
         [[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\nhandover = \"{}\"\n\
         certificate = \"{place}/lhr.pem\"\nkey = \"{place}/lhr-key.pem\"\n\
         [[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:1\"]\n\
         [kv]\nlisten_tls = [\"{at}\"]\nstore = \"{}\"\n\
         [[kv.namespace]]\nname = \"sessions\"\ntokens = [\"{writers}\"]\nread_tokens = [\"{readers}\"]\n",
        folder.path("handover").display(),
        folder.path("kv.redb").display(),
    );
    let file = folder.file("network.toml", text);
    let url = format!("https://localhost:{}", at.rsplit(':').next().unwrap());
    let ca = format!("{place}/ca.pem");
    let kv = |token: &str, words: &[&str]| {
        let mut command = Command::new(LONGHAUL);
        command.args(["edge", "kv"]).args(words).args(["--at", &url]).env("LONGHAUL_TOKEN", token);
        Ended::of(command.output().unwrap())
    };
    let trusting = |token: &str, words: &[&str]| kv(token, &[words, &["--ca", &ca]].concat());
    let old = run(&file, &[]);
    trusting(writer, &["put", "greeting", "hello"]).ok();
    assert_eq!(trusting(reader, &["get", "greeting"]).ok(), "hello");
    assert!(trusting(reader, &["list"]).ok().contains(" greeting "));
    for words in [&["put", "greeting", "other"][..], &["delete", "greeting"], &["import", &file]] {
        let said = trusting(reader, words).refused();
        assert!(
            said.contains("this token is for reading namespace \"sessions\" only") || words[0] == "import",
            "{said}"
        );
    }
    let stranger = kv(writer, &["get", "greeting"]).refused();
    assert!(
        stranger.contains("no response from https://localhost:") && stranger.contains("hint: --ca FILE"),
        "{stranger}"
    );
    let new = run(&file, &["--take-over"]);
    trusting(writer, &["put", "greeting", "again"]).ok();
    assert_eq!(old.wait(), Some(0));
    assert_eq!(trusting(reader, &["get", "greeting"]).ok(), "again");
    drop(new);
}

/// Each data centre is in a separate region, some with a store.
struct Several<const N: usize> {
    folder: Folder,
    file: String,
    token: String,
    centres: [(String, String); N],
}

impl<const N: usize> Several<N> {
    fn new(names: [&str; N], stores: &[&str]) -> Self {
        let token = longhaul(&["edge", "token", "--json"]).json();
        let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap().to_owned());
        let folder = Folder::new();
        let place = folder.path("ca").display().to_string();
        longhaul(&["edge", "ca", "new", &place]).ok();
        let mut text = format!("[network]\nname = \"n\"\nauthority = \"{place}/ca.pem\"\n");
        let centres = names.map(|name| {
            longhaul(&["edge", "ca", "issue", &place, name]).ok();
            let [link, admin, at] = [(); 3].map(|()| free_address());
            text.push_str(&format!(
                "[[data_centre]]\nname = \"{name}\"\nlisten = [\"127.0.0.1:0\"]\nadmin = \"{admin}\"\naddress = \"{link}\"\n\
                 link_certificate = \"{place}/{name}.pem\"\nlink_key = \"{place}/{name}-key.pem\"\nkv_listen = [\"{at}\"]\n\
                 region = \"{name}\"\n"
            ));
            (admin, at)
        });
        let store = |name: &&str| format!("{name} = \"{}\"", folder.path(&format!("{name}.redb")).display());
        let stores: Vec<_> = stores.iter().map(store).collect();
        text.push_str(&format!(
            "[[zone]]\nname = \"shop\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:1\"]\n\
             [kv]\nstore = {{ {} }}\n[[kv.namespace]]\nname = \"sessions\"\ntokens = [\"{hash}\"]\n",
            stores.join(", ")
        ));
        let file = folder.file("network.toml", text);
        Self { folder, file, token, centres }
    }
}

#[test]
fn a_store_is_used_in_another_data_centre() {
    let Several { folder, file, token, centres } = Several::new(["lhr", "syd"], &["lhr"]);
    let lhr = run(&file, &["--data-centre", "lhr"]);
    let _syd = run(&file, &["--data-centre", "syd"]);
    let kv = |at: &str, words: &[&str]| {
        let mut command = Command::new(LONGHAUL);
        let command =
            command.args(["edge", "kv"]).args(words).args(["--at", at]).env("LONGHAUL_TOKEN", &token);
        Ended::of(command.output().unwrap())
    };
    let [(lhr_admin, at_lhr), (syd_admin, at_syd)] = &centres;
    let written = kv(at_syd, &["put", "greeting", "hello", "--json"]).json();
    assert_eq!(kv(at_lhr, &["get", "greeting"]).ok(), "hello");
    for source in ["store", "lower"] {
        let got = kv(at_syd, &["get", "greeting", "--json"]).json();
        assert_eq!(
            (&got["value"], &got["source"], &got["version"]),
            (&"hello".into(), &source.into(), &written["version"])
        );
    }
    let file = folder.file("value", vec![7; 3_000_000]);
    kv(at_syd, &["put", "large", "--file", &file]).ok();
    assert_eq!(kv(at_syd, &["get", "large"]).ok().len(), 3_000_000);
    assert!(kv(at_syd, &["list"]).ok().contains(" greeting "));
    let shown = kv(at_syd, &["watch", "greeting", "--json"]).ok();
    let lines: Vec<serde_json::Value> =
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for (line, name) in lines.iter().zip(["lhr", "syd"]) {
        assert_eq!((&line["data_centre"], &line["source"]), (&name.into(), &"lower".into()));
        assert!(line["version"] == written["version"] && line["age_ms"].is_u64(), "{line}");
    }
    // The status of the data centre that was started later may not be known yet.
    wait_until(|| kv(at_lhr, &["watch", "greeting"]).code == Some(0));
    assert!(kv(at_lhr, &["watch", "greeting"]).ok().contains(" lower"));
    let status = |admin: &str| longhaul(&["edge", "status", "--json", "--admin", admin]).json();
    // One other data centre per region is notified; the store's own is not.
    wait_until(|| number(&status(lhr_admin), "/kv/network/told") == 2.0);
    assert_eq!(number(&status(syd_admin), "/kv/of_others/store"), 2.0);
    let text = longhaul(&["edge", "status", "--admin", syd_admin]).ok();
    assert!(
        text.contains("\nkeys: in lhr, ") && text.contains("\nchanges of keys in other data centres: "),
        "{text}"
    );
    drop(lhr);
    let refused = kv(at_syd, &["put", "greeting", "again"]).refused();
    assert!(refused.contains("the store is in data centre \"lhr\", which has not responded"), "{refused}");
    assert_eq!(kv(at_syd, &["get", "greeting"]).ok(), "hello");
    let shown = kv(at_syd, &["watch", "greeting"]);
    assert_eq!(shown.code, Some(1));
    let wrong = std::fs::read_to_string(folder.path("network.toml")).unwrap().replace("{ lhr =", "{ lrh =");
    let wrong = folder.file("wrong.toml", wrong);
    assert!(
        longhaul(&["edge", "check", &wrong]).refused().contains("the network has no data centre \"lrh\"")
    );
}

#[test]
fn two_stores_that_are_killed_by_turns_lose_nothing() {
    let Several { folder: _folder, file, token, centres } =
        Several::new(["lhr", "nyc", "syd"], &["lhr", "nyc"]);
    let start = |name: &str| run(&file, &["--data-centre", name]);
    let mut stores = ["lhr", "nyc"].map(|name| Some(start(name)));
    let _syd = start("syd");
    let kv = |centre: usize, words: &[&str]| {
        let mut command = Command::new(LONGHAUL);
        let at = &centres[centre].1;
        let command =
            command.args(["edge", "kv"]).args(words).args(["--at", at]).env("LONGHAUL_TOKEN", &token);
        Ended::of(command.output().unwrap())
    };
    let status =
        |centre: usize| longhaul(&["edge", "status", "--json", "--admin", &centres[centre].0]).json();
    let pair = |store: usize| status(store)["kv"]["pair"].clone();
    let are_linked = || {
        let links = status(2)["links"].clone();
        links.as_array().unwrap().iter().all(|link| link["up"] == true)
    };
    let mut written = Vec::new();
    for round in 0..4 {
        let (killed, other) = (round % 2, 1 - round % 2);
        for number in 0..6 {
            let key = format!("k{round}-{number}");
            kv(2, &["put", &key, &key]).ok();
            written.push(key);
            if number == 2 {
                let store = stores[killed].take().unwrap();
                store.signal(Signal::SIGKILL);
                store.wait();
            }
        }
        // Values that were only in the killed store are missing.
        assert_eq!(kv(2, &["get", &format!("k{round}-5")]).ok(), format!("k{round}-5"));
        assert!(kv(2, &["list"]).ok().contains(&format!("k{round}-5")));
        stores[killed] = Some(start(["lhr", "nyc"][killed]));
        wait_until(|| {
            let is_even = |store| pair(store)["behind"] == 0 && pair(store)["is_reachable"] == true;
            [killed, other].into_iter().all(is_even) && are_linked()
        });
    }
    for store in [0, 1] {
        let list = kv(store, &["list"]).ok();
        let lacks: Vec<_> = written.iter().filter(|key| !list.contains(key.as_str())).collect();
        assert!(lacks.is_empty(), "{store} lacks {lacks:?}");
    }
    let text = longhaul(&["edge", "status", "--admin", &centres[0].0]).ok();
    assert!(text.contains("\nother store, in nyc: reachable, 0 keys behind; "), "{text}");
}

#[test]
fn an_export_is_imported_with_all_that_was_said_of_the_values() {
    let store = Store::start();
    for (key, value) in [("a", "text"), ("b", "more"), ("c/ü", "")] {
        store.kv(&["put", key, value, "--metadata", "[1]"]).ok();
    }
    let file = store.folder.file("value", [0, 255, 10]);
    store.kv(&["put", "bytes", "--file", &file, "--ttl", "1h"]).ok();
    let out = store.folder.path("keys.jsonl").display().to_string();
    let exported = store.kv(&["export", "--out", &out, "--json"]).json();
    assert_eq!((&exported["keys"], &exported["bytes"]), (&4.into(), &11.into()));
    let imported = store.copy(&["import", &out, "--json"]).json();
    assert_eq!((&imported["keys"], &imported["left_out"]), (&4.into(), &0.into()));
    let [one, other] = ["sessions", "copy"].map(|namespace| {
        let exported = store.command(&["export", "--namespace", namespace]).output().unwrap();
        String::from_utf8(exported.stdout).unwrap()
    });
    assert_eq!((one.lines().count(), one), (4, other));
    assert_eq!(store.copy(&["get", "bytes", "--json"]).json()["value"], "AP8K");

    let text = std::fs::read_to_string(&out).unwrap();
    let wrong =
        store.folder.file("wrong.jsonl", format!("{}{{\"key\": \"d\"}}\n", text.replace("\"a\"", "\"new\"")));
    let refused = store.copy(&["import", &wrong]).refused();
    assert!(refused.contains("wrong.jsonl:5: not a line of an export: missing field `value`"), "{refused}");
    assert_eq!(store.copy(&["get", "new"]).code, Some(1));
    let over = store.folder.file("over.jsonl", "{\"key\":\"x\",\"value\":\"\",\"expiration\":1000}\n");
    assert_eq!(
        store.copy(&["import", &over]).ok(),
        "0 keys imported, 0 B, 1 key left out that were over or almost\n"
    );
}

#[test]
fn bad_input_gets_a_sentence() {
    let mut store = Store::start();
    for (words, why) in [
        (&["put", "", "v"][..], "the key cannot be used: Key names must not be empty"),
        (&["get", ".."], "Illegal key name \"..\""),
        (&["put", "k", "v", "--ttl", "5s"], "Expiration TTL must be at least 60"),
        (&["put", "k", "v", "--metadata", "{"], "the metadata cannot be used: Metadata is not JSON"),
        (&["put", "k", "--file", "/nowhere"], "/nowhere: cannot be read: No such file"),
        (&["import", "/nowhere"], "/nowhere: cannot be read: No such file"),
    ] {
        let said = store.kv(words).refused();
        assert!(said.contains(why), "{said}");
    }
    let said = Ended::of(store.command(&["import", &store.file]).output().unwrap()).refused();
    assert!(
        said.contains("the token is for the namespaces copy, sessions: select one with --namespace"),
        "{said}"
    );
    store.token = "wrong".into();
    assert!(store.kv(&["list"]).refused().contains("lists this token's SHA-256"));
    let elsewhere = Command::new(LONGHAUL)
        .args(["edge", "kv", "list", "--at", &free_address()])
        .env("LONGHAUL_TOKEN", "t")
        .output();
    assert!(Ended::of(elsewhere.unwrap()).refused().contains("hint: check that a data centre is running"));
    let without = Command::new(LONGHAUL).args(["edge", "kv", "list"]).env_remove("LONGHAUL_TOKEN").output();
    assert!(Ended::of(without.unwrap()).refused().contains("LONGHAUL_TOKEN has no token"));
    let second = store.folder.file(
        "second.toml",
        std::fs::read_to_string(&store.file)
            .unwrap()
            .replace(&store.at, &free_address())
            .replace(&store.admin, &free_address())
            .replace("/handover", "/other"),
    );
    assert!(longhaul(&["edge", "run", &second]).refused().contains("is in use by another process"));
}

#[test]
fn clients_that_write_get_no_error_during_a_hot_restart() {
    let mut store = Store::start();
    let is_over = AtomicBool::new(false);
    let written: Vec<String> = thread::scope(|scope| {
        let end_writers = SetOnDrop(&is_over);
        let write = |writer: usize| {
            let mut keys = Vec::new();
            while !is_over.load(SeqCst) || keys.len() < 5 {
                let key = format!("{writer}/{}", keys.len());
                store.kv(&["put", &key, &key]).ok();
                assert_eq!(store.kv(&["get", &key]).ok(), key);
                keys.push(key);
            }
            keys
        };
        let writers = [0, 1].map(|writer| scope.spawn(move || write(writer)));
        let mut new = run(&store.file, &["--take-over"]);
        wait_until(|| {
            writers.iter().any(ScopedJoinHandle::is_finished) || number(&store.status(), "/kv/writes") > 3.0
        });
        drop(end_writers);
        let all = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        assert!(!new.has_ended());
        all
    });
    let old = store.running.take().unwrap();
    assert_eq!(old.wait(), Some(0));
    store.running = Some(run(&store.file, &[]));
    for key in written {
        assert_eq!(store.kv(&["get", &key]).ok(), key);
    }
}

fn damage(file: &std::path::Path, pattern: &[u8], with: &[u8]) {
    let mut bytes = std::fs::read(file).unwrap();
    let places: Vec<_> =
        (0..bytes.len() - pattern.len()).filter(|at| bytes[*at..].starts_with(pattern)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + with.len()].copy_from_slice(with);
    }
    std::fs::write(file, bytes).unwrap();
}

fn stop(store: &mut Store) {
    let running = store.running.take().unwrap();
    running.signal(Signal::SIGTERM);
    assert_eq!(running.wait(), Some(0));
}

#[test]
fn a_damaged_file_costs_the_damaged_key_and_is_repaired() {
    let mut store = Store::start();
    for number in 0..50 {
        let value = format!("VAL{number:04}-").repeat(40);
        store.kv(&["put", &format!("k{number:03}"), &value]).ok();
    }
    let path = store.folder.path("kv.redb");
    let file = path.display().to_string();
    let check = |words: &[&str]| longhaul(&[&["edge", "kv"], words].concat());
    assert!(check(&["check", &file]).refused().contains("is in use by another process"));
    stop(&mut store);
    assert_eq!(check(&["check", &file, "--json"]).json()["is_intact"], true);
    damage(&path, b"VAL0021-VAL", b"XXXX");

    store.running = Some(run(&store.file, &[]));
    let damaged = store.kv(&["get", "k021"]);
    assert!(damaged.code != Some(0) && damaged.stdout.is_empty(), "{damaged:?}");
    assert!(store.kv(&["get", "k020"]).ok().starts_with("VAL0020-"));
    assert!(number(&store.status(), "/kv/integrity/damaged_blocks") > 0.0);
    assert!(longhaul(&["edge", "status", "--admin", &store.admin]).ok().contains("store damaged: "));
    stop(&mut store);

    let found = check(&["check", &file]);
    assert_eq!(found.code, Some(1));
    assert!(found.stdout.contains("/k021\n") && found.stdout.ends_with("damaged\n"), "{found:?}");
    let copy = store.folder.path("copy.redb").display().to_string();
    let salvaged = check(&["salvage", &file, &copy, "--json"]).json();
    assert_eq!((&salvaged["schema"], &salvaged["keys"]), (&"longhaul.edge.kv.file/1".into(), &49.into()));
    assert!(check(&["salvage", &file, &copy]).refused().contains("already exists"));
    assert!(check(&["repair", &file]).ok().contains("kv.redb.damaged"));
    assert!(check(&["check", &file]).ok().ends_with("intact\n"));

    store.running = Some(run(&store.file, &[]));
    assert!(store.kv(&["get", "k020"]).ok().starts_with("VAL0020-"));
    assert_eq!(store.kv(&["get", "k021"]).stderr, "there is no value of \"k021\"\n");
    assert_eq!(store.kv(&["list", "--json"]).json()["keys"].as_array().unwrap().len(), 49);
}
