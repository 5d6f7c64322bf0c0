//! The phases of requests over a path of known length.

use std::fs::File;

use recording::{Metric, Reader, Sample};

use crate::harness::{Folder, LONGHAUL, Running, World};

#[test]
fn each_handshake_and_the_answer_take_a_round_trip() {
    let planet = World::named("phases")
        .host("origin", "newyork")
        .host("visitor", "london")
        .link("newyork", "london", "rtt = \"40ms\"")
        .up();
    let folder = Folder::new();
    let [ca, file] = ["ca.pem", "run.jsonl"].map(|name| folder.path(name).display().to_string());
    let serve = [LONGHAUL, "serve", "--listen", "0.0.0.0:443", "--name", "origin", "--tls", "--http3"];
    let serve = [&serve[..], &["--write-ca", &ca]].concat();
    let (_origin, _) = Running::listening(&mut planet.command("origin", &serve));
    for (version, phases) in [
        ("http1", &[Metric::Connect, Metric::Tls, Metric::Wait][..]),
        ("http2", &[Metric::Connect, Metric::Tls, Metric::Wait]),
        ("http3", &[Metric::Quic, Metric::Wait]),
    ] {
        let probe =
            [LONGHAUL, "probe", "https://origin/", "--ca", &ca, "--protocol", version, "--count", "4"];
        planet.exec("visitor", &[&probe[..], &["-4", "--json", "-o", &file]].concat()).measured();
        let samples: Vec<Sample> =
            Reader::new(File::open(&file).unwrap(), &file).unwrap().map(Result::unwrap).collect();
        assert_eq!(samples.len(), 4);
        for sample in samples {
            assert_eq!((sample.status, &sample.error), (Some(200), &None), "{sample:?}");
            // 20 ms in each direction.
            for &phase in phases {
                assert!(sample.phase(phase) >= Some(40_000_000), "{version}, {phase:?}: {sample:?}");
            }
        }
    }
}
