//! `longhaul complete`: prints the completions of a command line for the scripts of shells.
//!
//! A line is a candidate: the value, a tab and a description. The line `:files` adds file names,
//! and `:nospace` suppresses the blank after the completed word.

mod line;
mod values;
mod walk;

use std::process::ExitCode;

use clap::Args;

use self::walk::{Next, walk};
use crate::{Cli, output};

/// Print the completions of a command line
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The calling shell: bash passes the whole line, other shells pass words
    shell: String,
    /// The words so far, from the program's name to the incomplete word
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
        // Bash replaces only the part of the word after the last word-break character.
        let kept = if is_bash { current.rfind(['=', ':']).map_or(0, |at| at + 1) } else { 0 };
        output::print(&text(&next, kept))?;
        Ok(ExitCode::SUCCESS)
    }
}

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
