//! The destination: a given address, or a listener of this process.

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use tcp::{Clock, Error, source_port::Transport};

use super::{
    acceptor::Acceptor,
    config::Config,
    fill::{self, Sharing, Task},
    occupied,
};

#[derive(Debug)]
pub(super) struct Target {
    pub destination: SocketAddr,
    pub acceptor: Option<Acceptor>,
}

impl Target {
    pub(super) fn open(config: &Config) -> Result<Self, Error> {
        let here = config.source.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let target = match (config.transport, config.destination) {
            (Transport::Tcp, None) => {
                let acceptor = Acceptor::start(here, config.range.as_ref())?;
                return Ok(Self { destination: acceptor.address(), acceptor: Some(acceptor) });
            }
            (Transport::Udp, None) => Self { destination: SocketAddr::new(here, DISCARD), acceptor: None },
            (_, Some(destination)) => Self { destination, acceptor: None },
        };
        target.try_once(config)?;
        Ok(target)
    }

    pub(super) fn task(&self, config: &Config, sharing: Sharing, goal: usize) -> Task {
        Task {
            transport: config.transport,
            sharing,
            destination: self.destination,
            source: config.source,
            goal,
            accepted: self.acceptor.as_ref().map(|acceptor| Arc::clone(acceptor.accepted())),
        }
    }

    fn try_once(&self, config: &Config) -> Result<(), Error> {
        let Self { destination, .. } = *self;
        let source = config.source;
        if let Some(source) = source.filter(|source| source.is_ipv4() != destination.is_ipv4()) {
            return Err(Error::Input {
                what: format!("{source} cannot reach {destination}: one is IPv4, the other IPv6"),
                remedy: "name a source of the destination's kind".to_owned(),
            });
        }
        if let Some(source) = source {
            let refused =
                |error| Error::Address { operation: "bind to", address: source.to_string(), source: error };
            UdpSocket::bind((source, 0)).map_err(refused)?;
        }
        fill::try_once(config.transport, destination, source).map_err(|errno| Error::Address {
            operation: "connect to",
            address: destination.to_string(),
            source: errno.into(),
        })
    }

    pub(super) fn is_free_again(&self, transport: Transport, before: usize) -> Result<bool, Error> {
        let clock = Clock::start();
        while occupied::count(transport, self.destination)? > before {
            let now = clock.now();
            if now > PATIENCE {
                return Ok(false);
            }
            clock.wait_until(now + BREATH);
        }
        Ok(true)
    }
}

/// RFC 863. Nothing is sent there.
const DISCARD: u16 = 9;

/// A reset normally frees the ports immediately.
const PATIENCE: Duration = Duration::from_secs(5);

const BREATH: Duration = Duration::from_millis(10);
