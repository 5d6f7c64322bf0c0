//! The speed test over loopback: bulk transfer compared with a single iperf3 stream, a thousand slow clients,
//! and an idle server.

mod bulk;
mod clients;
mod idle;
mod quiet;

use anyhow::Context;

use super::program::{Running, longhaul};

pub(super) use self::{bulk::bench as bulk, clients::bench as clients, idle::bench as idle};

fn serve(options: &[&str]) -> anyhow::Result<(Running, String)> {
    let mut command = longhaul();
    command.args(["speed", "serve", "--listen", "127.0.0.1:0"]).args(options);
    let (server, said) = Running::saying(&mut command)?;
    let address = said.split("://").nth(1).map(|address| address.trim_end_matches('/').to_owned());
    Ok((server, address.with_context(|| format!("the server printed: {said}"))?))
}

fn admit(doubts: &[String]) {
    doubts.iter().for_each(|doubt| println!("| in the rows above, INVALID: {doubt} | | | | | |"));
}
