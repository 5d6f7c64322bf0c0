//! `longhaul edge explain`: how a data centre would handle a URL.

use std::process::ExitCode;

use clap::Args;
use edge::admin::api::ExplainedRule;
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
            let rules: String = match &explanation.rules[..] {
                [] => "rule none fits\n".to_owned(),
                rules => rules.iter().map(line).collect(),
            };
            let rewritten = explanation.rewritten.as_deref();
            let rewritten = rewritten.map_or_else(String::new, |url| format!("url  {}\n", plain(url)));
            let purged: String = explanation
                .purged_as
                .iter()
                .map(|url| format!("a purge of it reaches {}\n", plain(url)))
                .collect();
            output::print(&format!(
                "zone {}\n{rules}{rewritten}key  {}\n{purged}{}\n",
                explanation.zone,
                plain(&explanation.key),
                explanation.why
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn line(rule: &ExplainedRule) -> String {
    let ambiguous = if rule.is_ambiguous { " (matches only some interpretations)" } else { "" };
    format!("rule {}: {}{ambiguous}\n", plain(&rule.place), plain(&rule.effect))
}
