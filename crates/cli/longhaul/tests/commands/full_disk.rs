//! Behaviour on a full disk, which each test mounts in a mount namespace. That needs root, or user
//! namespaces.

use std::process::Command;

use crate::harness::{Ended, Folder, LONGHAUL};

fn on_a_full_disk(folder: &Folder, arguments: &str) -> Ended {
    let script = format!(
        "set -e; mkdir -p disk; mount -t tmpfs -o size=64k none disk; printf kept > disk/old; cp disk/old disk/old.html
         cat /dev/zero > disk/filler 2> /dev/null || true
         set +e; \"{LONGHAUL}\" {arguments} >&2; code=$?
         for name in $(ls -A disk); do test $name = filler || echo $name $(head -c 100 disk/$name); done
         exit $code"
    );
    let mut command = Command::new("unshare");
    if !nix::unistd::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    Ended::of(command.args(["--mount", "sh", "-c", &script]).current_dir(folder.path(".")).output().unwrap())
}

fn folder() -> Folder {
    let folder = Folder::new();
    let row = |i: u32| format!("{i}.5,{},{}\n", i / 9, 100 + i * 7919 % 83);
    let rows: String = (0..5000).map(row).collect();
    folder.file("a.csv", "started_s,page,latency_ms\n".to_owned() + &rows);
    folder
}

const ONLY_WHAT_WAS_THERE: &str = "old kept\nold.html kept\n";

#[test]
fn files_that_are_written_whole() {
    let folder = folder();
    for (output, arguments) in [
        ("disk/x.jsonl", "convert a.csv disk/x.jsonl"),
        ("disk/x.csv", "convert a.csv disk/x.csv"),
        ("disk/x.tsv.gz", "convert a.csv disk/x.tsv.gz"),
        ("disk/x.jsonl.zst", "convert a.csv disk/x.jsonl.zst"),
        ("disk/x.hlog", "convert a.csv disk/x.hlog"),
        ("disk/x.hgrm", "convert a.csv disk/x.hgrm"),
        ("disk/x.prom", "convert a.csv disk/x.prom"),
        ("disk/old", "merge a.csv a.csv -o disk/old --to native"),
        ("disk/x.html", "compare a.csv a.csv --resamples 0 --html disk/x.html"),
        ("disk/old.html", "compare a.csv a.csv --resamples 0 --html disk/old.html"),
        ("disk/x.md", "compare a.csv a.csv --resamples 0 --markdown disk/x.md"),
        ("disk/cdf.svg", "compare a.csv a.csv --resamples 0 --svg disk"),
    ] {
        let ended = on_a_full_disk(&folder, arguments);
        let named = if output.ends_with(".svg") { "disk/" } else { output };
        assert_eq!(ended.code, Some(2), "{arguments}: {ended:?}");
        assert!(
            ended.stderr.contains(named) && ended.stderr.contains("No space left on device"),
            "{arguments}: {ended:?}"
        );
        assert_eq!(ended.stdout, ONLY_WHAT_WAS_THERE, "{arguments}: {ended:?}");
    }
}

#[test]
fn a_recording_that_cannot_go_on() {
    let folder = folder();
    let ended = on_a_full_disk(&folder, "ping 127.0.0.1 --count 3 --interval 10ms -o disk/p.jsonl");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("disk/p.jsonl") && ended.stderr.contains("No space left on device"),
        "{ended:?}"
    );
    assert_eq!(ended.stdout, format!("{ONLY_WHAT_WAS_THERE}p.jsonl\n"), "{ended:?}");
}

#[test]
fn a_file_of_results_that_cannot_grow() {
    let folder = Folder::new();
    folder.file("small.toml", "[[step]]\nlatency = 3\n[[step]]\ndownload = '200KB'\n");
    let script = format!(
        "set -e; mkdir -p disk; mount -t tmpfs -o size=8m none disk
         \"{LONGHAUL}\" speed serve --listen 127.0.0.1:0 --keep disk/results 2> said & server=$!
         trap 'kill $server' EXIT
         until grep -q '^listening on' said; do kill -0 $server; sleep 0.05; done
         set +e; url=$(sed -n 's/^listening on //p' said)
         leave() {{
             \"{LONGHAUL}\" speed test $url --plan small.toml --quiet --keep 2>&1 > shown | sed 's/http.*/LINK/'
             grep -o ^latency shown
         }}
         leave
         cat /dev/zero > disk/filler 2> /dev/null
         leave
         rm disk/filler
         leave"
    );
    let mut command = Command::new("unshare");
    if !nix::unistd::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let ended = command.args(["--mount", "sh", "-c", &script]).current_dir(folder.path(".")).output();
    let ended = Ended::of(ended.unwrap());
    let refused =
        "NOT KEPT: the server responded 507 Insufficient Storage: the server has no room for results";
    let kept = "kept: LINK\nlatency\n";
    assert_eq!(ended.stdout, format!("{kept}{refused}\nlatency\n{kept}"), "{ended:?}");
}
