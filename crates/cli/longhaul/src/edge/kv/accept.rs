//! `longhaul edge kv accept`: accepts a NATS stream that lacks acknowledged messages.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use kv_server::{Acceptance, RefusedStream, Seen};
use units::show::{count, plural};

use crate::{edge::Admin, output};

/// Accept the NATS stream of a store that was refused because it lacks acknowledged messages
///
/// Without --yes, the command shows the stream, changes nothing, and exits with 1 if a stream is refused. A
/// missing stream is created. The token is read from the environment: LONGHAUL_TOKEN. `longhaul edge token`
/// makes one.
///
/// Example: longhaul edge kv accept --yes
#[derive(Debug, Args)]
pub(crate) struct Accept {
    /// Accept the stream; missing messages are lost
    #[arg(long)]
    yes: bool,
    /// Print the stream as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    admin: Admin,
}

impl Accept {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let operator = self.admin.operator();
        let Some(refused) = operator.status()?.kv.and_then(|kv| kv.refused_stream) else {
            self.print(None, false)?;
            return Ok(ExitCode::SUCCESS);
        };
        if !self.yes {
            self.print(Some(refused), false)?;
            return Ok(ExitCode::FAILURE);
        }
        let token = std::env::var("LONGHAUL_TOKEN").context(
            "LONGHAUL_TOKEN has no token; `longhaul edge token` makes one, and [admin] tokens lists its SHA-256",
        )?;
        let accepted = operator.accept_stream(&token, refused.found.as_ref())?;
        self.print(Some(accepted), true)?;
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, refused: Option<RefusedStream>, is_accepted: bool) -> anyhow::Result<()> {
        if self.json {
            let acceptance = Acceptance { refused, is_accepted };
            return output::print_json(&output::named("longhaul.edge.kv.accept/1", acceptance));
        }
        output::print(&match &refused {
            None => "no stream is refused\n".to_owned(),
            Some(refused) if is_accepted => format!("{}accepted\n", text(refused)),
            Some(refused) => format!("{}--yes accepts it; missing messages are lost\n", text(refused)),
        })
    }
}

fn text(RefusedStream { stream, expected, found, missing_keys }: &RefusedStream) -> String {
    let missing = match missing_keys {
        Some(keys) => format!("missing or older: {}\n", plural(*keys, "key")),
        None => String::new(),
    };
    let found = found.as_ref().map_or_else(|| "missing".to_owned(), state);
    format!("stream {stream}\nexpected: {}\nfound:    {found}\n{missing}", state(expected))
}

fn state(Seen { created, last_sequence, keys }: &Seen) -> String {
    let keys = keys.map_or_else(String::new, |keys| format!(", {}", plural(keys, "key")));
    format!("created {created}, last sequence {}{keys}", count(*last_sequence))
}
