//! The speed test over loopback: bulk beside iperf3's single stream, a thousand slow clients at once, and a server that nobody asks.

mod bulk;
mod clients;
mod idle;
mod quiet;

use anyhow::Context;

use super::program::{Running, longhaul};

pub(super) use self::{bulk::bench as bulk, clients::bench as clients, idle::bench as idle};

/// A server of speed tests on any free port of loopback; its address, such as `127.0.0.1:40000`.
fn serve(options: &[&str]) -> anyhow::Result<(Running, String)> {
    let mut command = longhaul();
    command.args(["speed", "serve", "--listen", "127.0.0.1:0"]).args(options);
    let (server, said) = Running::saying(&mut command)?;
    let address = said.split("://").nth(1).map(|address| address.trim_end_matches('/').to_owned());
    Ok((server, address.with_context(|| format!("the server said: {said}"))?))
}

/// Says of what was printed why it does not count, if so.
fn admit(doubts: &[String]) {
    doubts.iter().for_each(|doubt| println!("| in the rows above, INVALID: {doubt} | | | | | |"));
}
