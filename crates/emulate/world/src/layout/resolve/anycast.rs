//! Resolves the anycast prefixes of a world.

use std::time::Duration;

use config_file::{Diagnostic, Document, suggestion};
use toml::Spanned;

use super::{hosts::is_host_name, links::end};
use crate::{
    file::{self, World},
    layout::{Anycast, Bias, City, Host, Prefix},
};

pub(super) fn anycast(
    world: &World,
    cities: &[City],
    hosts: &[Host],
    document: &Document,
) -> Result<Vec<Anycast>, Diagnostic> {
    let mut all: Vec<Anycast> = Vec::new();
    let host_of = |name: &Spanned<String>| {
        hosts.iter().position(|host| host.name == *name.get_ref()).ok_or_else(|| {
            let hint = suggestion(name.get_ref(), hosts.iter().map(|host| host.name.as_str()));
            document.mistake(name.span(), format!("no host \"{}\"{hint}", name.get_ref()))
        })
    };
    for (index, any) in world.anycast.iter().enumerate() {
        let prefixes = prefixes(any, &all, document)?;
        let place = any.prefix.first().map_or(0..0, Spanned::span);
        if any.hosts.is_empty() || prefixes.is_empty() {
            return Err(document.mistake(place, "an anycast prefix has at least one host that announces it"));
        }
        let name =
            any.name.as_ref().map_or_else(|| format!("anycast-{}", index + 1), |name| name.get_ref().clone());
        let is_taken =
            hosts.iter().any(|host| host.name == name) || all.iter().any(|other| other.name == name);
        if is_taken || !is_host_name(&name) {
            let message = format!("\"{name}\" cannot name an anycast prefix: it is taken, or no host's name");
            return Err(document.mistake(any.name.as_ref().map_or(place, Spanned::span), message));
        }
        let mut sites = Vec::new();
        for site in &any.hosts {
            let host = host_of(site)?;
            if sites.contains(&host) {
                let message =
                    format!("\"{}\" announces this prefix already; name each site once", site.get_ref());
                return Err(document.mistake(site.span(), message));
            }
            sites.push(host);
        }
        let bias = any.bias.iter().map(|bias| {
            let from = bias.from.as_ref().map(|city| end(city, cities, document)).transpose()?;
            let host = host_of(&bias.host)?;
            if sites.contains(&host) {
                return Ok(Bias { from, host, cost: bias.cost });
            }
            let known: Vec<_> = any.hosts.iter().map(|site| site.get_ref().as_str()).collect();
            let hint = suggestion(bias.host.get_ref(), known.iter().copied());
            let message = format!(
                "\"{}\" does not announce this prefix, so a bias has no effect on it; its sites are {}{hint}",
                bias.host.get_ref(),
                known.join(", ")
            );
            Err(document.mistake(bias.host.span(), message))
        });
        let bias = bias.collect::<Result<_, _>>()?;
        all.push(Anycast {
            name,
            prefixes,
            hosts: sites,
            bias,
            convergence: any.convergence.unwrap_or(CONVERGENCE),
            transient: any.transient,
        });
    }
    Ok(all)
}

fn prefixes(any: &file::Anycast, before: &[Anycast], document: &Document) -> Result<Vec<Prefix>, Diagnostic> {
    let mut prefixes: Vec<Prefix> = Vec::new();
    for text in &any.prefix {
        let mistake = |message: String| document.mistake(text.span(), message);
        let prefix: Prefix = text.get_ref().parse().map_err(mistake)?;
        let others = before.iter().flat_map(|other| &other.prefixes).chain(&prefixes);
        if let Some(other) = others.copied().find(|&other| other.overlaps(prefix)) {
            return Err(mistake(format!(
                "{prefix} overlaps {other}; anycast prefixes have no address in common"
            )));
        }
        if let Some(taken) =
            TAKEN.iter().find(|taken| taken.parse().is_ok_and(|taken: Prefix| taken.overlaps(prefix)))
        {
            return Err(mistake(format!(
                "{prefix} overlaps {taken}, which is reserved; expected one such as 192.0.2.0/24"
            )));
        }
        prefixes.push(prefix);
    }
    Ok(prefixes)
}

/// Published convergence times of withdrawals are from 20 s to minutes.
const CONVERGENCE: Duration = Duration::from_secs(20);

/// Hosts and routers, loopback, multicast, and link-local addresses, which no router forwards (RFC
/// 4291, section 2.5.6).
const TAKEN: [&str; 7] =
    ["10.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "fd6c:6f6e:6768::/48", "::1/128", "ff00::/8", "fe80::/10"];

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "[[host]]\nname = 'pop-rome'\ncity = 'rome'\n[[host]]\nname = 'pop-oslo'\ncity = 'oslo'\n\
                       [[host]]\nname = 'pop-bonn'\ncity = 'berlin'\n[[anycast]]\nprefix = '192.0.2.0/24'\n";

    #[test]
    fn a_site_is_named_once_and_a_bias_is_of_a_site() {
        for (text, expected) in [
            (
                "hosts = ['pop-rome', 'pop-oslo', 'pop-rome']",
                "w.toml:12:34: \"pop-rome\" announces this prefix already; name each site once",
            ),
            (
                "hosts = ['pop-rome', 'pop-oslo']\n[[anycast.bias]]\nhost = 'pop-bonn'\ncost = '9ms'",
                "w.toml:14:8: \"pop-bonn\" does not announce this prefix, so a bias has no effect on it; its sites are \
                 pop-rome, pop-oslo",
            ),
            (
                "hosts = ['pop-rome', 'pop-oslo']\n[[anycast.bias]]\nhost = 'pop-roma'\ncost = '9ms'",
                "w.toml:14:8: no host \"pop-roma\"; did you mean \"pop-rome\"?",
            ),
        ] {
            let said =
                World::read(&Document::new("w.toml", format!("{TWO}{text}\n"))).unwrap_err().to_string();
            assert!(said.starts_with(expected), "expected {expected}\n  but got {said}");
        }
    }

    #[test]
    fn what_is_reserved_cannot_be_announced() {
        for prefix in TAKEN {
            let world = format!(
                "[[host]]\nname = 'a'\ncity = 'paris'\n[[anycast]]\nname = 'w'\nprefix = '{prefix}'\nhosts = ['a']"
            );
            let said = World::read(&Document::new("w.toml", world)).unwrap_err().to_string();
            assert!(said.contains(&format!("{prefix} overlaps {prefix}, which is reserved")), "{said}");
        }
    }
}
