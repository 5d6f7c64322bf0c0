//! Reload of the network file. An invalid file changes nothing; changes that require a restart are reported.

use std::{path::PathBuf, sync::Arc};

use http::server::Identity;
use tokio::signal::unix::Signal;

use crate::{Error, Network, centre::Edge, nats::journal_of, network::DataCentre};

/// Applies the network file to a running data centre. The fields hold the state at startup.
pub(crate) struct Reloader {
    pub(crate) path: Option<PathBuf>,
    pub(crate) started_as: Option<DataCentre>,
    pub(crate) identity: Option<Identity>,
    pub(crate) serves_links: bool,
}

/// Reloads at each SIGHUP and reports the result.
pub(crate) async fn reload(
    edge: Arc<Edge>,
    reloader: Reloader,
    mut hangups: Signal,
    tell: impl Fn(Result<Vec<String>, Error>),
) {
    while hangups.recv().await.is_some() {
        tell(reloader.read_again(&edge));
    }
}

impl Reloader {
    /// Returns a sentence for each changed setting that requires a restart.
    pub(crate) fn read_again(&self, edge: &Arc<Edge>) -> Result<Vec<String>, Error> {
        // Log rotation may have renamed the log file: reopen it even if the network file is invalid.
        if let Some(log) = &edge.log {
            log.reopen();
        }
        let network = Network::open(self.path.as_ref().ok_or(Error::NoFile)?)?;
        let own = network.data_centre(&edge.centre).map_err(Error::Removed)?.clone();
        let stores = |network: &Network| network.kv.as_ref().map(|kv| kv.stores.clone());
        if stores(&network) != stores(&edge.network()) {
            return Err(Error::StoreMoved);
        }
        if let (Some(identity), Some((certificate, key))) = (&self.identity, &own.identity) {
            identity.replace(certificate, key)?;
        }
        let journal =
            if edge.is_on_bus_of(&network) { None } else { Some(journal_of(&network, &edge.centre)?) };
        let not_taken = self.not_taken(&network, &own);
        edge.relink(&network)?;
        if let Some(journal) = journal {
            edge.take_part(journal);
        }
        edge.replace(network);
        Ok(not_taken)
    }

    fn not_taken(&self, network: &Network, own: &DataCentre) -> Vec<String> {
        let remedy = match &own.handover {
            Some(_) if self.started_as.as_ref().is_some_and(|before| before.handover == own.handover) => {
                "start it with --take-over to apply it"
            }
            _ => "restart the data centre to apply it",
        };
        let changed = self.started_as.iter().flat_map(|before| changed(before, own));
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

/// The changed keys that require a restart.
fn changed(before: &DataCentre, now: &DataCentre) -> impl Iterator<Item = &'static str> {
    let address = |centre: &DataCentre| centre.link.as_ref().map(|link| link.address);
    let disk = |centre: &DataCentre| centre.disk.as_ref().map(|disk| disk.path.clone());
    let disk_size = |centre: &DataCentre| centre.disk.as_ref().map(|disk| disk.bytes);
    [
        ("listen", before.listen != now.listen),
        ("listen_tls", before.listen_tls != now.listen_tls),
        ("certificate", before.identity.is_some() != now.identity.is_some()),
        ("proxy_protocol", before.proxy_protocol != now.proxy_protocol),
        ("connections", before.connections != now.connections),
        ("admin", before.admin != now.admin),
        ("memory", before.memory != now.memory),
        ("disk", disk(before) != disk(now)),
        ("disk_size", disk(before) == disk(now) && disk_size(before) != disk_size(now)),
        ("drain", before.drain != now.drain),
        ("access_log", before.access_log != now.access_log),
        ("handover", before.handover != now.handover),
        ("address", address(before) != address(now)),
        ("kv_listen", before.kv_listen != now.kv_listen),
        ("kv_listen_tls", before.kv_listen_tls != now.kv_listen_tls),
    ]
    .into_iter()
    .filter_map(|(key, has_changed)| has_changed.then_some(key))
}

#[cfg(test)]
mod tests {
    use document::Document;

    use super::*;

    #[test]
    fn settings_that_only_a_new_process_can_use_are_named() {
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
        ] {
            let network = read(&text.replace("listen =", &format!("{line}\nlisten =")));
            let reloader = Reloader {
                path: Some("n.toml".into()),
                started_as: Some(started_as.clone()),
                identity: None,
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
            assert_eq!(reloader.not_taken(&network, &network.data_centres[0]), expected, "{line}");
        }
    }
}
