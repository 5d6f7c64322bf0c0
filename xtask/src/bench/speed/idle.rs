//! Memory of an idle speed test server.

use std::{thread, time::Duration};

use anyhow::Context;

use super::serve;
use crate::bench::{program::memory_mb, row};

pub(in crate::bench) fn bench() -> anyhow::Result<()> {
    for (what, options) in [("in clear text", &[][..]), ("with TLS and HTTP/3", &["--tls"])] {
        let (mut resident, mut own) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let (server, _) = serve(options).context("cannot start the server")?;
            settle();
            resident.push(memory_mb(server.id(), "VmRSS")?);
            own.push(memory_mb(server.id(), "RssAnon")?);
        }
        row(&format!("server {what}, idle: resident memory"), "< 15", "MB", resident);
        row("of that its own, without pages of files", "", "MB", own);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a program is idle when it has had time to start")]
fn settle() {
    thread::sleep(Duration::from_secs(1));
}

const STARTS: usize = 5;
