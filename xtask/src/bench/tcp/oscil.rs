//! Runs `longhaul tcp oscil`: its sender, and its reader with the recording.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::bench::lab::binary;

pub(super) struct Sender {
    child: Child,
    pub address: String,
}

impl Sender {
    pub(super) fn start(arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_at(Command::new("env"), &[&["--listen", "127.0.0.1:0"], arguments].concat())
    }

    pub(super) fn start_at(mut at: Command, arguments: &[&str]) -> anyhow::Result<Self> {
        at.arg(binary()).args(["tcp", "oscil", "serve"]).args(arguments);
        let child = at.stderr(Stdio::piped()).spawn().context("cannot run longhaul")?;
        let mut sender = Self { child, address: String::new() };
        let mut said = String::new();
        let stderr = sender.child.stderr.take().expect("it was piped above");
        BufReader::new(stderr).read_line(&mut said)?;
        let address = said.trim().strip_prefix("listening on ");
        sender.address = address.with_context(|| format!("the sender printed: {said}"))?.to_owned();
        Ok(sender)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn reader(mut at: Command, address: &str, arguments: &[&str]) -> Command {
    at.arg(binary())
        .args(["tcp", "oscil", "read", address, "--programme", "steady", "--json"])
        .args(arguments);
    at
}

pub(super) struct Recording(Value);

impl Recording {
    pub(super) fn of(mut reader: Command) -> anyhow::Result<Self> {
        let output = reader.stderr(Stdio::piped()).output().context("cannot run longhaul")?;
        Self::parse(&output.stdout)
            .with_context(|| format!("reader output: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }

    pub(super) fn parse(json: &[u8]) -> anyhow::Result<Self> {
        let recording = Self(serde_json::from_slice(json).context("the reader gave no JSON")?);
        let ended = &recording.0["ended"];
        ensure!(ended == "complete" || ended == "peer_closed", "the reader ended with: {ended}");
        Ok(recording)
    }

    pub(super) fn bits_per_second(&self) -> anyhow::Result<f64> {
        Ok(self.number("/summary/bytes")? * 8.0 / self.seconds()?)
    }

    pub(super) fn steady(&self, skip: usize) -> anyhow::Result<f64> {
        let seconds = self.0["seconds"].as_array().map_or(&[][..], Vec::as_slice);
        let sum = |what: &str| -> f64 {
            seconds.iter().skip(skip).filter_map(|second| second[what].as_f64()).sum()
        };
        let length = sum("duration_s");
        ensure!(length > 0.0, "the reader reported {} seconds, too few to leave out {skip}", seconds.len());
        Ok(sum("bytes") * 8.0 / length)
    }

    pub(super) fn seconds(&self) -> anyhow::Result<f64> {
        self.number("/summary/duration_s")
    }

    /// The first sample, at 0, is excluded.
    pub(super) fn looks_made(&self) -> anyhow::Result<f64> {
        let made = self.0["samples"].as_array().map_or(0, |samples| samples.len().saturating_sub(1));
        let due = self.seconds()? * 1e3 / self.number("/conditions/interval_ms")?;
        Ok(f64::from(u32::try_from(made)?) / due)
    }

    pub(super) fn doubts(&self) -> impl Iterator<Item = String> {
        let reasons = self.0["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut reasons: Vec<String> = reasons.map(str::to_owned).collect();
        if self.0["valid"] != true && reasons.is_empty() {
            reasons.push("the reader does not call its figures valid, and does not say why".to_owned());
        }
        reasons.into_iter()
    }

    fn number(&self, what: &str) -> anyhow::Result<f64> {
        self.0.pointer(what).and_then(Value::as_f64).with_context(|| format!("the reader reported no {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_is_not_valid_is_doubted_whatever_it_says() {
        let doubts = |rest: &str| {
            let json = format!("{{\"ended\":\"complete\"{rest}}}");
            Recording::parse(json.as_bytes()).unwrap().doubts().count()
        };
        assert_eq!(doubts(",\"valid\":true,\"reasons\":[]"), 0);
        assert_eq!(doubts(",\"valid\":false,\"reasons\":[\"no processor\"]"), 1);
        assert_eq!(doubts(",\"valid\":false,\"reasons\":[]"), 1);
        assert_eq!(doubts(""), 1);
    }
}
