//! `longhaul probe` against nginx, aioquic and hyper-h2. Both ends must report the same about a
//! request.

mod hints;
mod nginx;

use std::{fs::File, net::Ipv4Addr, path::Path, process::Command};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use recording::{Metric, Reader, Sample};

use crate::harness::{Folder, Running, longhaul, project};

const BODY: u64 = 20_000;

const SECURE: [Metric; 5] = [Metric::Connect, Metric::Tls, Metric::Send, Metric::Wait, Metric::Load];
const CLEAR: [Metric; 4] = [Metric::Connect, Metric::Send, Metric::Wait, Metric::Load];
const QUIC: [Metric; 4] = [Metric::Quic, Metric::Send, Metric::Wait, Metric::Load];
const REUSED: [Metric; 3] = [Metric::Send, Metric::Wait, Metric::Load];

fn certified(address: Ipv4Addr) -> Folder {
    let folder = Folder::new();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([address.to_string()]).unwrap();
    folder.file("cert.pem", cert.pem());
    folder.file("key.pem", signing_key.serialize_pem());
    folder
}

fn server(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", program]);
    command
}

fn samples(folder: &Folder, url: &str, arguments: &[&str]) -> Vec<Sample> {
    let (file, ca) = (folder.path("run.jsonl"), folder.path("cert.pem"));
    let (file, ca) = (file.to_str().unwrap(), ca.to_str().unwrap());
    let fixed = ["probe", url, "--ca", ca, "-o", file, "--json"];
    longhaul(&[&fixed[..], arguments].concat()).measured();
    let samples: Vec<Sample> =
        Reader::new(File::open(file).unwrap(), file).unwrap().map(Result::unwrap).collect();
    for sample in &samples {
        assert_eq!(
            (sample.status, sample.body_bytes, &sample.error),
            (Some(200), Some(BODY), &None),
            "{sample:?}"
        );
    }
    samples
}

#[track_caller]
fn has_phases(sample: &Sample, expected: &[Metric]) {
    let present: Vec<_> = Metric::PHASES.into_iter().filter(|&phase| sample.phase(phase).is_some()).collect();
    assert_eq!(present, expected, "{sample:?}");
}

fn label<'s>(sample: &'s Sample, name: &str) -> Option<&'s str> {
    sample.labels.get(name).map(String::as_str)
}

fn in_python(script: &str, folder: &Folder) -> (Running, String) {
    let python = project("target/peers/bin/python");
    assert!(Path::new(&python).exists(), "{python} is missing: `sh xtask/tools.sh test` installs it");
    let script = project("crates/cli/longhaul/tests/commands/peers/") + script;
    Running::listening(server(&python).args([
        &script,
        folder.path("cert.pem").to_str().unwrap(),
        folder.path("key.pem").to_str().unwrap(),
    ]))
}

#[test]
fn aioquic_has_one_handshake_for_each_connection() {
    let folder = certified(Ipv4Addr::LOCALHOST);
    let (_aioquic, url) = in_python("quic.py", &folder);
    for (connections, others) in [("new", &QUIC[..]), ("reuse", &REUSED)] {
        let arguments =
            ["--protocol", "http3", "--count", "6", "--concurrency", "1", "--connections", connections];
        let samples = samples(&folder, &url, &arguments);
        assert_eq!(samples.len(), 6);
        has_phases(&samples[0], &QUIC);
        samples[1..].iter().for_each(|sample| has_phases(sample, others));
        for (number, sample) in samples.iter().enumerate() {
            let is_reused = connections == "reuse" && number > 0;
            assert_eq!((label(sample, "protocol"), sample.reused), (Some("h3"), Some(is_reused)));
            assert_eq!(label(sample, "tls"), Some("TLS 1.3").filter(|_| !is_reused));
        }
    }
}
