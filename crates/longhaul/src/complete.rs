//! `longhaul complete`: what could come next on a command line. The completion scripts of shells ask it.
//!
//! It answers with a line for each candidate, and after a tab what that is. `:files` says that names of files fit as well,
//! and `:nospace` that what was completed goes on without a blank.

mod line;
mod values;
mod walk;

use std::process::ExitCode;

use clap::Args;

use self::walk::{Next, walk};
use crate::{Cli, output};

/// Say what could come next on a command line
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The shell that asks: bash sends its line as it is, others its words
    shell: String,
    /// The words so far, the program's name first and the one at hand last
    #[arg(allow_hyphen_values = true, trailing_var_arg = true, required = true)]
    words: Vec<String>,
}

impl Complete {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let is_bash = self.shell == "bash";
        let words = if is_bash { line::words(&self.words.concat()) } else { self.words.clone() };
        let Some((current, before)) = words.split_last() else { return Ok(ExitCode::SUCCESS) };
        let mut command = Cli::conventional();
        command.build();
        let next = walk(&command, before.get(1..).unwrap_or_default(), current);
        // Bash completes no more than what follows the last of the characters at which it takes words apart.
        let kept = if is_bash { current.rfind(['=', ':']).map_or(0, |at| at + 1) } else { 0 };
        output::print(&text(&next, kept))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a script reads; the first `kept` bytes of each candidate are there already.
fn text(next: &Next, kept: usize) -> String {
    let mut text = String::new();
    for candidate in &next.candidates {
        let value = candidate.value.get(kept..).unwrap_or_default();
        let what = candidate.what.lines().next().unwrap_or_default();
        text += &format!("{value}\t{what}\n");
    }
    let goes_on = |candidate: &walk::Candidate| candidate.value.ends_with([':', '=', '-', ',']);
    if !next.candidates.is_empty() && next.candidates.iter().all(goes_on) {
        text += ":nospace\n";
    }
    if next.files {
        text += ":files\n";
    }
    text
}
