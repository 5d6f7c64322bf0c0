//! Checks the names in a scenario file against its world.

use std::{ops::Range, path::Path, time::Duration};

use config_file::suggestion;
use toml::Spanned;
use units::Bytes;
use world::{Diagnostic, Document, HostId, Layout};

use crate::folder::{DIR, absolute};

/// Replaces the seed in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

pub(crate) struct Check<'d> {
    pub document: &'d Document,
    pub layout: &'d Layout,
    pub seed: Option<Seed>,
    pub folder: &'d Path,
}

impl Check<'_> {
    pub(crate) fn limit(&self, limit: Option<&Spanned<Bytes>>) -> Result<Bytes, Diagnostic> {
        let Some(limit) = limit else { return Ok(OUTPUT) };
        if (LEAST_OUTPUT.0..=MOST_OUTPUT.0).contains(&limit.get_ref().0) {
            return Ok(*limit.get_ref());
        }
        let message = format!(
            "limit = {} is out of range, because part of the output is kept in memory; expected {LEAST_OUTPUT} to {MOST_OUTPUT}",
            limit.get_ref()
        );
        Err(self.document.mistake(limit.span(), message))
    }

    pub(crate) fn probe_seed(&self, index: usize) -> u64 {
        let base = self.seed.map_or(0, |Seed(seed)| seed.wrapping_mul(SEEDS_APART));
        base.wrapping_add(index as u64 + 1)
    }

    pub(crate) fn side(&self, side: &Spanned<String>) -> Result<String, Diagnostic> {
        let name = side.get_ref();
        if is_file_name(name) {
            return Ok(name.clone());
        }
        let message = format!(
            "\"{name}\" cannot be a side's name; expected a-z, A-Z, 0-9, \".\", \"_\" and \"-\", as in a file's name"
        );
        Err(self.document.mistake(side.span(), message))
    }

    pub(crate) fn lasts(&self, duration: Duration, side: &Spanned<String>) -> Result<(), Diagnostic> {
        if duration.is_zero() {
            let message = "this has a duration of 0 s and would measure nothing; expected more than 0 s";
            return Err(self.document.mistake(side.span(), message));
        }
        Ok(())
    }

    /// `{dir}` is filled in. An empty command line is an error.
    pub(crate) fn command(&self, command: &Spanned<Vec<String>>) -> Result<Vec<String>, Diagnostic> {
        if command.get_ref().is_empty() {
            let message = "expected a program and its arguments";
            return Err(self.document.mistake(command.span(), message));
        }
        let folder = absolute(self.folder);
        Ok(command.get_ref().iter().map(|word| word.replace(DIR, &folder.to_string_lossy())).collect())
    }

    pub(crate) fn apart(&self, from: HostId, to: HostId, place: Range<usize>) -> Result<(), Diagnostic> {
        if from != to {
            return Ok(());
        }
        let name = &self.layout.hosts[from].name;
        let message = format!(
            "\"{name}\" is both sender and receiver, whose traffic never leaves its kernel; name another host"
        );
        Err(self.document.mistake(place, message))
    }

    /// Only hosts and anycast prefixes of the world can be reached.
    pub(crate) fn url(&self, url: &Spanned<String>) -> Result<(), Diagnostic> {
        let mistake = |message: String| Err(self.document.mistake(url.span(), message));
        let Some((_, rest)) = url.get_ref().split_once("://") else {
            return mistake(format!(
                "\"{}\" is not a URL; expected something like \"http://origin/\"",
                url.get_ref()
            ));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.starts_with('[') {
            return Ok(());
        }
        let name = authority.split(':').next().unwrap_or_default();
        let is_address = name.parse::<std::net::Ipv4Addr>().is_ok();
        if is_address || self.layout.host(name).is_some() || self.layout.anycast(name).is_some() {
            return Ok(());
        }
        let anycast = self.layout.anycast.iter().map(|any| any.name.as_str());
        let hint = suggestion(name, self.host_names().chain(anycast));
        mistake(format!("the world has no host \"{name}\"{hint}"))
    }

    /// "*" at the end of a name matches any suffix.
    pub(crate) fn hosts(
        &self,
        list: &Spanned<Vec<Spanned<String>>>,
    ) -> Result<Vec<(HostId, Range<usize>)>, Diagnostic> {
        let mut hosts = Vec::new();
        for name in list.get_ref() {
            let Some(beginning) = name.get_ref().strip_suffix('*') else {
                hosts.push((self.host(name)?, name.span()));
                continue;
            };
            let found = self.host_names().enumerate().filter(|(_, host)| host.starts_with(beginning));
            let before = hosts.len();
            hosts.extend(found.map(|(host, _)| (host, name.span())));
            if hosts.len() == before {
                let message = format!("no host's name begins with \"{beginning}\"");
                return Err(self.document.mistake(name.span(), message));
            }
        }
        if hosts.is_empty() {
            return Err(self.document.mistake(list.span(), "expected at least one host"));
        }
        Ok(hosts)
    }

    pub(crate) fn host(&self, name: &Spanned<String>) -> Result<HostId, Diagnostic> {
        self.layout.host(name.get_ref()).ok_or_else(|| {
            let hint = suggestion(name.get_ref(), self.host_names());
            self.document.mistake(name.span(), format!("unknown host \"{}\"{hint}", name.get_ref()))
        })
    }

    fn host_names(&self) -> impl Iterator<Item = &str> {
        self.layout.hosts.iter().map(|host| host.name.as_str())
    }
}

/// Longer than a log that a person reads, and small enough for JSON in memory.
const OUTPUT: Bytes = Bytes(8_000_000);

const LEAST_OUTPUT: Bytes = Bytes(4000);

/// Up to half of a log may be in memory. Parsed JSON takes about thirty times its size.
const MOST_OUTPUT: Bytes = Bytes(256_000_000);

const SEEDS_APART: u64 = 1_000_000;

fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=60).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with(['.', '-'])
}
