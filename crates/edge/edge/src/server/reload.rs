//! Reload of the network file. An invalid file changes nothing; changes that require a restart are
//! reported.

use std::{mem, path::PathBuf, sync::Arc};

use tokio::signal::unix::Signal;

use crate::{Error, Network, config::DataCentre, purge::nats::journal_of, server::node::Node};

/// The fields hold the state at startup.
pub(crate) struct Reloader {
    pub(crate) path: Option<PathBuf>,
    pub(crate) started_as: Option<DataCentre>,
    pub(crate) serves_links: bool,
}

pub(crate) async fn reload(
    node: Arc<Node>,
    reloader: Reloader,
    mut hangups: Signal,
    tell: impl Fn(Result<Vec<String>, Error>),
) {
    while hangups.recv().await.is_some() {
        tell(reloader.read_again(&node));
    }
}

impl Reloader {
    pub(crate) fn read_again(&self, node: &Arc<Node>) -> Result<Vec<String>, Error> {
        // Log rotation may have renamed the log file: reopen it even if the network file is
        // invalid.
        if let Some(log) = &node.access_log {
            log.reopen();
        }
        let network = Network::open(self.path.as_ref().ok_or(Error::NoFile)?)?;
        network.require_secrets()?;
        let own = network.data_centre(&node.data_centre).map_err(Error::Removed)?.clone();
        let stores = |network: &Network| network.kv.as_ref().map(|kv| kv.stores.clone());
        if stores(&network) != stores(&node.network()) {
            return Err(Error::StoreMoved);
        }
        node.certificates.reload(&network, &own)?;
        let journal =
            if node.uses_nats_of(&network) { None } else { Some(journal_of(&network, &node.data_centre)?) };
        let not_taken = self.reload_error(&network, &own);
        node.update_peers(&network)?;
        if let Some(journal) = journal {
            node.join_nats(journal);
        }
        node.replace_network(network);
        Ok(not_taken)
    }

    fn reload_error(&self, network: &Network, own: &DataCentre) -> Vec<String> {
        let remedy = match &own.handover {
            Some(_) if self.started_as.as_ref().is_some_and(|old| old.handover == own.handover) => {
                "start it with --take-over to apply it"
            }
            _ => "restart the data centre to apply it",
        };
        let changed = self.started_as.iter().flat_map(|old| changed(old, own));
        let mut sentences: Vec<_> = changed
            .map(|key| format!("{key} of data centre \"{}\" is read only at startup: {remedy}", own.name))
            .collect();
        if own.link.is_some() && network.data_centres.len() > 1 && !self.serves_links {
            sentences.push(format!(
                "data centre \"{}\" had no links at startup and does not serve peers yet: {remedy}",
                own.name
            ));
        }
        sentences
    }
}

fn changed(old: &DataCentre, now: &DataCentre) -> impl Iterator<Item = &'static str> {
    let address = |centre: &DataCentre| centre.link.as_ref().map(|link| link.address);
    let disk = |centre: &DataCentre| centre.disk.as_ref().map(|disk| disk.path.clone());
    let disk_size = |centre: &DataCentre| centre.disk.as_ref().map(|disk| disk.bytes);
    [
        ("listen", old.listen != now.listen),
        ("listen_tls", old.listen_tls != now.listen_tls),
        ("tls_min", old.tls.min_version != now.tls.min_version),
        ("client_auth", mem::discriminant(&old.tls.clients) != mem::discriminant(&now.tls.clients)),
        ("proxy_protocol", old.proxy_protocol != now.proxy_protocol),
        ("connections", old.connections != now.connections),
        ("admin", old.admin != now.admin),
        ("memory", old.memory != now.memory),
        ("disk", disk(old) != disk(now)),
        ("disk_size", disk(old) == disk(now) && disk_size(old) != disk_size(now)),
        ("drain", old.drain != now.drain),
        ("access_log", old.access_log != now.access_log),
        ("access_log_format", old.access_log_format != now.access_log_format),
        ("handover", old.handover != now.handover),
        ("address", address(old) != address(now)),
        ("kv_listen", old.kv_listen != now.kv_listen),
        ("kv_listen_tls", old.kv_listen_tls != now.kv_listen_tls),
    ]
    .into_iter()
    .filter_map(|(key, has_changed)| has_changed.then_some(key))
}

#[cfg(test)]
mod tests {
    use config_file::Document;

    use super::*;

    #[test]
    fn reload_names_settings_that_need_a_restart() {
        let text = "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:1\"]\n\
                    [[zone]]\nname = \"z\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:9\"]\n";
        let read = |text: &str| Network::read(&Document::new("n.toml", text.to_owned())).unwrap();
        let started_as = read(text).data_centres.remove(0);
        for (line, keys) in [
            ("connections_per_address = 7", &[][..]),
            ("listen_tls = []", &[]),
            ("drain = \"1s\"\nmemory = \"1MB\"", &["memory", "drain"]),
            ("admin = \"127.0.0.1:2\"\naccess_log = \"log\"", &["admin", "access_log"]),
            ("disk = \"d\"", &["disk"]),
            ("handover = \"h\"", &["handover"]),
            ("tls_min = \"1.3\"", &["tls_min"]),
            ("client_ca = \"ca.pem\"\nclient_auth = \"optional\"", &["client_auth"]),
        ] {
            let network = read(&text.replace("listen =", &format!("{line}\nlisten =")));
            let reloader = Reloader {
                path: Some("n.toml".into()),
                started_as: Some(started_as.clone()),
                serves_links: false,
            };
            let expected: Vec<_> = keys
                .iter()
                .map(|key| {
                    format!(
                        "{key} of data centre \"lhr\" is read only at startup: restart the data centre to apply it"
                    )
                })
                .collect();
            assert_eq!(reloader.reload_error(&network, &network.data_centres[0]), expected, "{line}");
        }
    }
}
