//! `longhaul edge explain`: why a URL is answered as it is.

use std::process::ExitCode;

use clap::Args;
use units::show::plain;

use super::Admin;
use crate::output;

/// Say which zone, rule and key a URL has, what is stored for it, and what it would be answered with
///
/// Example: longhaul edge explain http://www.shop.example/static/app.js
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The URL, as visitors have it
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
