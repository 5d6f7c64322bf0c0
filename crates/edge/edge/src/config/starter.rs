//! The text of a first network file: one data centre and one zone.

use std::{fmt::Write as _, net::SocketAddr};

use http_stack::Origin;
use schemars::JsonSchema;
use serde::Serialize;

/// The answers from which a network file is written.
#[derive(Debug, Clone)]
pub struct Starter {
    /// Listening addresses for clients, in clear text.
    pub from: Vec<SocketAddr>,
    /// Origins in order of preference.
    pub to: Vec<Origin>,
    /// Host names of the zone; `*` for all.
    pub hosts: Vec<String>,
    /// Listening address of the admin interface.
    pub admin: SocketAddr,
    /// SHA-256 of the token for purges and for the key-value store.
    pub token_hash: Option<String>,
    /// Directory for objects on disk.
    pub disk: Option<String>,
    /// Listening address of a key-value store.
    pub kv: Option<SocketAddr>,
}

/// A written network file, the output of `edge init --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Initialized {
    /// Path of the file; `-` for standard output.
    pub file: String,
    /// Secret token for purges and for the key-value store. The file contains only its SHA-256.
    pub token: String,
}

impl Starter {
    /// The name of the data centre.
    pub const DATA_CENTRE: &str = "edge";

    /// The file, with a comment for each setting that most operators change.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let Self { from, to, hosts, admin, token_hash, disk, kv } = self;
        writeln!(text, "# A network with one data centre: `longhaul edge check` validates this file,")?;
        writeln!(text, "# `longhaul edge run` starts the data centre, and SIGHUP reloads the file.")?;
        writeln!(text, "[network]\nname = \"network\"\n")?;
        if let Some(hash) = token_hash {
            writeln!(text, "# SHA-256 of the token that purges. `longhaul edge token` makes another one.")?;
            writeln!(text, "[admin]\ntokens = [{}]\n", quoted(hash))?;
        }
        writeln!(text, "[[data_centre]]\nname = {}", quoted(Self::DATA_CENTRE))?;
        writeln!(text, "# 127.0.0.1 admits only this machine, 0.0.0.0 all machines.")?;
        writeln!(text, "listen = [{}]", list(from))?;
        writeln!(text, "# For HTTPS and HTTP/3:")?;
        writeln!(text, "# listen_tls = [\"0.0.0.0:443\"]")?;
        writeln!(text, "# certificate = \"/etc/ssl/site.pem\"")?;
        writeln!(text, "# key = \"/etc/ssl/site-key.pem\"")?;
        writeln!(
            text,
            "# For `longhaul edge status`, `top`, `explain` and `purge`, and for Prometheus at /metrics:"
        )?;
        writeln!(text, "admin = {}", quoted(admin))?;
        writeln!(text, "# Memory for stored objects.\nmemory = \"256MB\"")?;
        match disk {
            Some(path) => {
                writeln!(
                    text,
                    "# Directory for stored objects.\ndisk = {}\ndisk_size = \"10GB\"",
                    quoted(path)
                )?;
            }
            None => {
                writeln!(text, "# To keep objects on disk too:")?;
                writeln!(text, "# disk = \"/var/cache/longhaul\"\n# disk_size = \"10GB\"")?;
            }
        }
        writeln!(text, "# access_log = \"access.log\"\n")?;
        writeln!(text, "[[zone]]\nname = \"site\"")?;
        writeln!(text, "# Host names of this zone; \"*\" is all names.\nhosts = [{}]", list(hosts))?;
        writeln!(text, "# Origins in order of preference.\norigin = [{}]", list(to))?;
        writeln!(text, "# How long a stale object may be used while the origins fail:")?;
        writeln!(text, "# stale_if_error = \"1h\"\n")?;
        writeln!(text, "# The header fields of the origin decide what is stored. A rule overrides them:")?;
        writeln!(text, "# [[zone.rule]]\n# path = \"/static/*\"\n# edge_ttl = \"1h\"")?;
        if let (Some(address), Some(hash)) = (kv, token_hash) {
            writeln!(text, "\n# A key-value store with the API of Workers KV.")?;
            writeln!(text, "[kv]\nlisten = [{}]\nstore = \"kv.redb\"\n", quoted(address))?;
            writeln!(text, "[[kv.namespace]]\nname = \"default\"\ntokens = [{}]", quoted(hash))?;
        }
        Ok(())
    }
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(quoted).collect::<Vec<_>>().join(", ")
}

fn quoted<T: ToString + ?Sized>(value: &T) -> String {
    toml::Value::String(value.to_string()).to_string()
}

#[cfg(test)]
mod tests {
    use config_file::Document;

    use super::*;
    use crate::Network;

    fn starter() -> Starter {
        Starter {
            from: vec!["127.0.0.1:8080".parse().unwrap(), "[::1]:8080".parse().unwrap()],
            to: vec!["http://127.0.0.1:8000".parse().unwrap(), "https://origin.example".parse().unwrap()],
            hosts: vec!["*".to_owned()],
            admin: "127.0.0.1:4480".parse().unwrap(),
            token_hash: None,
            disk: None,
            kv: None,
        }
    }

    fn read(text: &str) -> Network {
        Network::read(&Document::new("network.toml", text)).unwrap_or_else(|why| panic!("{why}\n{text}"))
    }

    #[test]
    fn a_starter_file_is_valid_and_contains_the_answers() {
        let network = read(&starter().text());
        let centre = network.data_centre(Starter::DATA_CENTRE).unwrap();
        assert_eq!((&centre.listen, centre.admin), (&starter().from, Some(starter().admin)));
        assert_eq!((centre.disk.is_some(), network.kv.is_some()), (false, false));
        assert_eq!(
            (
                network.zones[0].origins.iter().map(|url| url.origin().clone()).collect(),
                &network.zones[0].hosts
            ),
            (starter().to, &starter().hosts)
        );
        let disk = Some("/var/cache/a \"b\" \\c".to_owned());
        let hash = Some("0".repeat(64));
        let network = read(
            &Starter { disk, token_hash: hash, kv: Some("127.0.0.1:4490".parse().unwrap()), ..starter() }
                .text(),
        );
        let centre = network.data_centre(Starter::DATA_CENTRE).unwrap();
        assert_eq!(centre.disk.as_ref().unwrap().path.to_str(), Some("/var/cache/a \"b\" \\c"));
        assert_eq!((network.tokens.len(), centre.kv_listen.len()), (1, 1));
    }

    #[test]
    fn the_settings_in_comments_are_valid() {
        let text = starter().text();
        let is_setting = |line: &&str| line.contains(" = ") || line.starts_with("[[");
        let uncommented: String = text
            .lines()
            .map(|line| match line.strip_prefix("# ").filter(is_setting) {
                Some(setting) => format!("{setting}\n"),
                None => format!("{line}\n"),
            })
            .collect();
        let network = read(&uncommented);
        assert_eq!(network.zones[0].rules.len(), 1);
        assert_eq!(network.data_centres[0].listen_tls.len(), 1);
    }
}
