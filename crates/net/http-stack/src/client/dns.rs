//! DNS queries, to the servers of the system's resolv.conf or to configured ones.
//!
//! The hosts file takes precedence over DNS, and changes of it are detected.

mod hosts;

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Mutex, OnceLock, PoisonError},
};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts},
    net::{DnsError, NetError, runtime::TokioRuntimeProvider},
    proto::{op::ResponseCode, rr::RecordType},
};

use self::hosts::HostsFile;
use crate::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    A,
    Aaaa,
}

pub(crate) struct DnsClient {
    servers: Vec<SocketAddr>,
    resolver: OnceLock<Option<TokioResolver>>,
    hosts: Mutex<HostsFile>,
}

impl DnsClient {
    pub(crate) fn of(servers: &[SocketAddr]) -> Self {
        Self { servers: servers.to_vec(), resolver: OnceLock::new(), hosts: Mutex::new(HostsFile::at(HOSTS)) }
    }

    /// Empty if the name has no such records.
    pub(crate) async fn ask(&self, host: &str, kind: Kind) -> Result<Vec<IpAddr>, Failure> {
        let resolver = self.resolver.get_or_init(|| resolver(&self.servers));
        let resolver = resolver.as_ref().ok_or(Failure::Dns("the system's resolv.conf cannot be used"))?;
        let mut resolver = resolver.clone();
        resolver.set_hosts(self.hosts.lock().unwrap_or_else(PoisonError::into_inner).now());
        let kind = match kind {
            Kind::A => RecordType::A,
            Kind::Aaaa => RecordType::AAAA,
        };
        match resolver.lookup(host, kind).await {
            Ok(found) => Ok(found.answers().iter().filter_map(|record| record.data.ip_addr()).collect()),
            Err(error) => refusal(&error).map_or(Ok(Vec::new()), Err),
        }
    }
}

/// `None` if the name exists without records of this type.
fn refusal(error: &NetError) -> Option<Failure> {
    let what = match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NoError => return None,
            ResponseCode::NXDomain => NO_SUCH_NAME,
            ResponseCode::Refused => "refused by the server",
            _ => "the server failed",
        },
        NetError::Dns(DnsError::ResponseCode(ResponseCode::Refused)) => "refused by the server",
        NetError::Dns(_) => "the server failed",
        NetError::Timeout => "no answer",
        NetError::NoConnections => "no server to ask",
        NetError::Io(_) => "the server cannot be reached",
        NetError::Proto(_) => "not a name, or not an answer",
        _ => "no usable answer",
    };
    Some(Failure::Dns(what))
}

/// `None` if the system's configuration is present but unusable.
fn resolver(servers: &[SocketAddr]) -> Option<TokioResolver> {
    let runtime = TokioRuntimeProvider::default();
    let mut builder = if servers.is_empty() {
        TokioResolver::builder_tokio()
            .unwrap_or_else(|_| TokioResolver::builder_with_config(no_servers(), runtime))
    } else {
        let servers = servers.iter().map(|server| {
            let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
                connection.port = server.port();
                connection
            });
            NameServerConfig::new(server.ip(), true, connections.into())
        });
        let config = ResolverConfig::from_name_servers(servers.collect());
        TokioResolver::builder_with_config(config, runtime).with_options(ResolverOpts::default())
    };
    builder.options_mut().cache_size = 0;
    // hickory reads the hosts file only once, so [`HostsFile`] reads it instead.
    builder.options_mut().use_hosts_file = ResolveHosts::Never;
    builder.build().ok()
}

pub(crate) const NO_SUCH_NAME: &str = "no such name";

const HOSTS: &str = "/etc/hosts";

fn no_servers() -> ResolverConfig {
    ResolverConfig::from_name_servers(Vec::new())
}
