//! TLS for all servers: one certificate, and the TLS listener configuration of each server.

use std::{fs, net::SocketAddr, path::Path};

use anyhow::{Context, ensure};

use crate::bench::program::longhaul;

/// `@` is a placeholder for the address.
pub(super) const OF_LONGHAUL: &str =
    "listen_tls = [\"@\"]\ncertificate = \"AUTHORITY/lhr.pem\"\nkey = \"AUTHORITY/lhr-key.pem\"";
pub(super) const OF_NGINX: &str = "listen @ ssl http2;\n        ssl_certificate AUTHORITY/lhr.pem;\n        ssl_certificate_key AUTHORITY/lhr-key.pem;";
pub(super) const OF_HAPROXY: &str = "bind @ ssl crt AUTHORITY/both.pem alpn h2,http/1.1";

pub(crate) const AUTHORITY: &str = "authority";

pub(crate) fn certify(folder: &Path) -> anyhow::Result<()> {
    let place = folder.join(AUTHORITY);
    for words in [&["new"][..], &["issue"]] {
        let mut command = longhaul();
        command.args(["edge", "ca"]).args(words).arg(&place);
        if words == ["issue"] {
            command.args(["lhr", "--for", "127.0.0.1"]);
        }
        let signed = command.output().context("cannot run longhaul")?;
        ensure!(
            signed.status.success(),
            "no certificate was made: {}",
            String::from_utf8_lossy(&signed.stderr)
        );
    }
    let read = |name: &str| fs::read(place.join(name));
    Ok(fs::write(place.join("both.pem"), [read("lhr.pem")?, read("lhr-key.pem")?].concat())?)
}

pub(super) fn listening(piece: &str, address: SocketAddr, folder: &Path) -> String {
    let authority = folder.join(AUTHORITY).display().to_string();
    piece.replace('@', &address.to_string()).replace("AUTHORITY", &authority)
}
