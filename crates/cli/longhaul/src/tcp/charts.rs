//! The options for charts, which several commands share.

use std::path::PathBuf;

use clap::Args;
use report::figures::Figures;

use crate::{compare::write_charts, output::say, run::write};

/// Options for charts.
#[derive(Debug, Args)]
pub(super) struct Charts {
    /// Write a page with charts to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write each chart to this folder, for slides
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

impl Charts {
    pub(super) fn write(&self, figures: impl FnOnce() -> Figures) -> anyhow::Result<()> {
        if self.html.is_none() && self.svg.is_none() {
            return Ok(());
        }
        let figures = figures();
        if let Some(path) = &self.html {
            write(path, &report::figures_html(&figures)?)?;
            say(&format!("page: {}", path.display()));
        }
        if let Some(folder) = &self.svg {
            write_charts(folder, &report::svg::figures(&figures))?;
        }
        Ok(())
    }
}
