//! Resolves host names to addresses in the order of connection attempts.
//!
//! A and AAAA queries are sent concurrently (RFC 8305 section 3). IPv6 addresses are used
//! immediately; IPv4 addresses that arrive first wait [`RESOLUTION_DELAY`] for them.

mod stale;

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use self::stale::{CLIENT_RESPONSE, Stale, is_passing};
use super::{
    config::{Config, Known, Lookups},
    dns::{DnsClient, Kind},
    phase::Phase,
    trace::Trace,
};
use crate::{Failure, Family, Origin, clock::Clock, limits};

pub(crate) struct Resolver {
    given: Vec<Known>,
    lookups: Lookups,
    family: Family,
    clock: Clock,
    names: Arc<DnsClient>,
    stale: Arc<Stale>,
    remembered: Mutex<HashMap<String, watch::Receiver<Answers>>>,
}

#[derive(Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) known: Vec<SocketAddr>,
    pub(crate) later: Option<Later>,
}

#[derive(Debug)]
pub(crate) struct Later {
    answers: watch::Receiver<Answers>,
    port: u16,
}

#[derive(Debug, Clone, Default)]
struct Answers {
    v6: Option<Result<Vec<IpAddr>, Failure>>,
    v4: Option<Result<Vec<IpAddr>, Failure>>,
}

impl Resolver {
    pub(crate) fn new(config: &Config, clock: Clock) -> Self {
        let Config { lookups, family, .. } = *config;
        let names = Arc::new(DnsClient::of(&config.dns));
        Self {
            given: config.known.clone(),
            lookups,
            family,
            clock,
            names,
            stale: Arc::default(),
            remembered: Mutex::default(),
        }
    }

    /// With both families, alternating between IPv6 and IPv4. Phase `dns` is absent if no query was
    /// needed.
    pub(crate) async fn resolve(&self, origin: &Origin, trace: &mut Trace) -> Result<Addresses, Failure> {
        let port = origin.port;
        if let Ok(literal) = origin.host.parse::<IpAddr>() {
            return of_family(&[literal], self.family, port);
        }
        let given = self.given.iter().filter(|given| given.host == origin.host && given.port == port);
        let given: Vec<_> = given.map(|given| given.address).collect();
        if !given.is_empty() {
            return of_family(&given, self.family, port);
        }
        let started = self.clock.now();
        if let Some(stale) = self.stale.without_asking(&origin.host, started) {
            trace.is_name_cached = true;
            let known = stale.into_iter().map(|address| SocketAddr::new(address, port)).collect();
            return Ok(Addresses { known, later: None });
        }
        let mut answers = self.answers(&origin.host);
        if answers.borrow().is_complete() {
            trace.is_name_cached = true;
        } else {
            trace.opening = Phase::Dns;
            match self.stale.instead(&origin.host, started) {
                Some(_) => drop(tokio::time::timeout(CLIENT_RESPONSE, until_usable(&mut answers)).await),
                None => until_usable(&mut answers).await,
            }
            trace.dns = Some(self.clock.now().saturating_sub(started));
        }
        let later = (!answers.borrow().is_complete()).then(|| Later { answers: answers.clone(), port });
        let found = answers.borrow().addresses(self.family);
        let found = match found {
            Err(failure) if later.is_some() || is_passing(&failure) => {
                self.stale.instead(&origin.host, started).ok_or(failure)?
            }
            found => found?,
        };
        let known = found.into_iter().map(|address| SocketAddr::new(address, port)).collect();
        Ok(Addresses { known, later })
    }

    fn answers(&self, host: &str) -> watch::Receiver<Answers> {
        if self.lookups == Lookups::EachConnection {
            return self.ask(host);
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answers) = remembered.get(host).filter(|answers| !answers.borrow().has_failed()) {
            return answers.clone();
        }
        let answers = self.ask(host);
        if remembered.len() < limits::ORIGINS || remembered.contains_key(host) {
            remembered.insert(host.to_owned(), answers.clone());
        }
        answers
    }

    /// The task runs until both responses have arrived, even without waiting requests.
    fn ask(&self, host: &str) -> watch::Receiver<Answers> {
        let (say, answers) = watch::channel(Answers::none_but(self.family));
        let (names, host) = (Arc::clone(&self.names), host.to_owned());
        let (stale, family, clock) = (Arc::clone(&self.stale), self.family, self.clock);
        tokio::spawn(async move {
            let v6 = async {
                if say.borrow().v6.is_none() {
                    let found = names.ask(&host, Kind::Aaaa).await;
                    say.send_modify(|answers| answers.v6 = Some(found));
                }
            };
            let v4 = async {
                if say.borrow().v4.is_none() {
                    let found = names.ask(&host, Kind::A).await;
                    say.send_modify(|answers| answers.v4 = Some(found));
                }
            };
            tokio::join!(v6, v4);
            stale.learn(&host, &say.borrow().addresses(family), clock.now());
        });
        answers
    }
}

impl Answers {
    fn none_but(family: Family) -> Self {
        let not_asked = |is_asked: bool| (!is_asked).then(|| Ok(Vec::new()));
        Self { v6: not_asked(family != Family::V4), v4: not_asked(family != Family::V6) }
    }

    fn is_complete(&self) -> bool {
        self.v6.is_some() && self.v4.is_some()
    }

    fn has_v6(&self) -> bool {
        matches!(&self.v6, Some(Ok(found)) if !found.is_empty())
    }

    fn has_failed(&self) -> bool {
        self.is_complete() && self.found().is_empty()
    }

    fn found(&self) -> Vec<IpAddr> {
        let of = |answer: &Option<Result<Vec<IpAddr>, Failure>>| match answer {
            Some(Ok(addresses)) => addresses.clone(),
            Some(Err(_)) | None => Vec::new(),
        };
        interleaved(&[of(&self.v6), of(&self.v4)].concat())
    }

    fn addresses(&self, family: Family) -> Result<Vec<IpAddr>, Failure> {
        let found = self.found();
        let failure = [&self.v6, &self.v4].into_iter().find_map(|answer| answer.as_ref()?.as_ref().err());
        match failure {
            _ if !found.is_empty() => Ok(found),
            Some(failure) => Err(*failure),
            None => Err(Failure::NoAddress(family)),
        }
    }
}

async fn until_usable(answers: &mut watch::Receiver<Answers>) {
    // The query task publishes both responses before it ends, so these waits do not fail.
    let begin = |answers: &Answers| answers.is_complete() || !answers.found().is_empty();
    let is_enough = |answers: &Answers| answers.is_complete() || answers.has_v6();
    let _ = answers.wait_for(begin).await;
    let _ = tokio::time::timeout(RESOLUTION_DELAY, answers.wait_for(is_enough)).await;
}

impl Addresses {
    pub(crate) fn one(address: SocketAddr) -> Self {
        Self { known: vec![address], later: None }
    }

    pub(crate) fn at(mut self, port: u16) -> Self {
        self.known.iter_mut().for_each(|address| address.set_port(port));
        self.later = self.later.map(|later| Later { port, ..later });
        self
    }
}

impl Later {
    pub(crate) async fn arrive(&mut self) -> Vec<SocketAddr> {
        let _ = self.answers.wait_for(Answers::is_complete).await;
        self.answers.borrow().found().into_iter().map(|address| SocketAddr::new(address, self.port)).collect()
    }
}

/// Alternates between the families, IPv6 first, and keeps the resolver's order within each (RFC 8305
/// section 4).
fn interleaved(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let mut v6 = addresses.iter().filter(|address| address.is_ipv6());
    let mut v4 = addresses.iter().filter(|address| address.is_ipv4());
    let mut ordered = Vec::with_capacity(addresses.len());
    for _ in 0..addresses.len() {
        ordered.extend(v6.next());
        ordered.extend(v4.next());
    }
    ordered
}

fn of_family(addresses: &[IpAddr], family: Family, port: u16) -> Result<Addresses, Failure> {
    let wanted = interleaved(addresses).into_iter().filter(|&address| family.has(address));
    let known: Vec<_> = wanted.map(|address| SocketAddr::new(address, port)).collect();
    if known.is_empty() { Err(Failure::NoAddress(family)) } else { Ok(Addresses { known, later: None }) }
}

/// How long IPv4 addresses wait for IPv6 ones: the "Resolution Delay" of RFC 8305 section 8.
const RESOLUTION_DELAY: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
