//! `longhaul edge explain`: how a data centre would handle a URL.

use std::process::ExitCode;

use clap::Args;
use units::show::plain;

use super::Admin;
use crate::output;

/// Show the zone, rule and key of a URL, the stored object, and the response that a client would get
///
/// Example: longhaul edge explain http://www.shop.example/static/app.js
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The URL as clients request it
    url: String,
    #[command(flatten)]
    admin: Admin,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let explanation = self.admin.operator().explain(&self.url)?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.explain/1", explanation))?;
        } else {
            let rule = explanation.rule.as_deref().unwrap_or("none fits");
            let purged: String = explanation
                .purged_as
                .iter()
                .map(|url| format!("a purge of it reaches {}\n", plain(url)))
                .collect();
            output::print(&format!(
                "zone {}\nrule {rule}\nkey  {}\n{purged}{}\n",
                explanation.zone,
                plain(&explanation.key),
                explanation.why
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
