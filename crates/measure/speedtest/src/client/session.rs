//! The connections to a server, and latency probes.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http_stack::{
    Body, Client, Failure, Method, Origin, Scheme, StatusCode,
    client::{Config as ClientConfig, Connections, Protocol, Trace, Windows},
    clock::Clock,
};
use units::Bytes;

use super::{
    config::Config,
    progress::Progress,
    request::{self, Look, Refusal},
    upload_tcp_info::Sender,
};
use crate::{
    Error,
    bottleneck::Limits,
    latency::On,
    plan::{Direction, Step},
    wire::{self, Greeting, Token, Told},
};

pub(crate) struct TestSession {
    pub(crate) origin: Origin,
    pub(crate) test: Token,
    pub(crate) remote: Option<SocketAddr>,
    /// "http/1.1", "h2" or "h3".
    pub(crate) protocol: &'static str,
    pub(crate) client: Client,
    pub(crate) progress: Progress,
    pub(crate) patience: Duration,
    stranger: Client,
    loss_port: Option<u16>,
    pub(crate) largest: u64,
    ends: Mutex<Vec<(SocketAddr, SocketAddr)>>,
}

impl TestSession {
    pub(crate) async fn begin(config: &Config, progress: &Progress) -> Result<Self, Error> {
        let origin = config.origin.clone();
        let url = origin.to_string();
        if config.protocol == Protocol::Http3 && origin.scheme == Scheme::Http {
            return Err(Error::NoClearHttp3 { url });
        }
        let http = ClientConfig {
            protocol: config.protocol,
            trust: config.trust.clone(),
            family: config.family,
            windows: Windows { stream: WINDOW, connection: WINDOW },
            ..ClientConfig::default()
        };
        let first = Client::new(&http)?;
        first.prepare()?;
        let asked = request::ask::<Greeting>(&first, &origin, Method::POST, wire::BEGIN, Body::empty());
        let asked = tokio::time::timeout(config.patience, asked).await;
        let asked = asked.unwrap_or(Err(Refusal::Failed(Failure::Timeout)));
        let (greeting, trace) = asked.map_err(|refusal| not_begun(&url, refusal))?;
        if greeting.schema != wire::GREETING {
            let what = "another version's greeting".to_owned();
            return Err(Error::NotSpeedServer { url, what });
        }
        check_sizes(config, &url, greeting.largest)?;
        let protocol = trace.protocol.unwrap_or("http/1.1");
        // Further connections use the same address and HTTP version, independent of Alt-Svc.
        let pinned = ClientConfig {
            protocol: match protocol {
                "h3" => Protocol::Http3,
                "h2" => Protocol::Http2,
                _ => Protocol::Http1,
            },
            connect_to: trace.remote,
            ..http
        };
        let client = Client::new(&pinned)?;
        client.prepare()?;
        let stranger = Client::new(&ClientConfig { connections: Connections::New, ..pinned })?;
        stranger.prepare()?;
        Ok(Self {
            origin,
            test: greeting.test,
            remote: trace.remote,
            protocol,
            client,
            progress: progress.clone(),
            patience: config.patience,
            stranger,
            loss_port: greeting.loss_port,
            largest: greeting.largest,
            ends: Mutex::default(),
        })
    }

    pub(crate) fn clock(&self) -> Clock {
        self.client.clock()
    }

    pub(crate) fn now(&self) -> Duration {
        Duration::from_nanos(self.clock().now())
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.protocol != "http/1.1"
    }

    pub(crate) async fn look(&self, on: On) -> Result<Look, Refusal> {
        let client = match on {
            On::Same => &self.client,
            On::Separate => &self.stranger,
        };
        let look = tokio::time::timeout(self.patience, request::look(client, &self.origin)).await;
        let look = look.unwrap_or(Err(Refusal::Stalled(self.patience)))?;
        if on == On::Same {
            self.used(&look.trace);
        }
        Ok(look)
    }

    pub(crate) fn used(&self, trace: &Trace) {
        if let (Some(local), Some(remote)) = (trace.local, trace.remote) {
            self.ends.lock().unwrap_or_else(PoisonError::into_inner).push((local, remote));
        }
    }

    pub(crate) fn loss_server(&self) -> Option<SocketAddr> {
        let address: IpAddr = self.remote?.ip();
        Some(SocketAddr::new(address, self.loss_port?))
    }

    pub(crate) async fn limits(&self, sender: &Sender, transferring: [Duration; 2]) -> [Option<Limits>; 2] {
        if self.protocol == "h3" {
            return [None; 2];
        }
        let path = format!("{}?test={}", wire::LIMITS, self.test);
        let asked = request::ask::<Told>(&self.client, &self.origin, Method::GET, &path, Body::empty());
        let told = tokio::time::timeout(LIMITS_PATIENCE, asked).await;
        let down = told.ok().and_then(Result::ok).and_then(|(told, _)| told.times);
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let up = sender.times(&ends);
        let of = |times, direction| Limits::of(times, transferring[direction as usize]);
        [
            down.and_then(|times| of(times, Direction::Download)),
            up.and_then(|times| of(times, Direction::Upload)),
        ]
    }

    pub(crate) fn broken_off(&self, step: &str, refusal: Refusal) -> Error {
        match refusal {
            Refusal::Status(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, why) => {
                Error::Busy { url: self.origin.to_string(), why }
            }
            refusal => Error::BrokenOff { step: step.to_owned(), why: refusal.why() },
        }
    }
}

fn not_begun(url: &str, refusal: Refusal) -> Error {
    let url = url.to_owned();
    match refusal {
        Refusal::Failed(Failure::Garbled) => {
            Error::NotSpeedServer { url, what: "data that is not HTTP".to_owned() }
        }
        Refusal::Failed(failure) => Error::Unreachable { url, failure },
        Refusal::Stalled(_) => Error::Unreachable { url, failure: Failure::Timeout },
        Refusal::Status(StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS, why) => {
            Error::Busy { url, why }
        }
        Refusal::Status(status, _) => Error::NotSpeedServer { url, what: format!("status {status}") },
        Refusal::Senseless(what) => Error::NotSpeedServer { url, what: what.to_owned() },
    }
}

fn check_sizes(config: &Config, url: &str, largest: u64) -> Result<(), Error> {
    let sizes = config.plan.steps.iter().filter_map(|step| match *step {
        Step::WarmUp { bytes } | Step::Transfer { bytes, .. } => Some(bytes),
        Step::Latency { .. } | Step::Loss { .. } => None,
    });
    match sizes.max() {
        Some(wanted) if wanted > largest => {
            Err(Error::TooLarge { url: url.to_owned(), largest: Bytes(largest), wanted: Bytes(wanted) })
        }
        _ => Ok(()),
    }
}

/// Bandwidth-delay product of 5 Gbit/s at 100 ms.
const WINDOW: u32 = 64 << 20;

const LIMITS_PATIENCE: Duration = Duration::from_secs(3);
