//! Values and help texts of the options of `longhaul probe`.

use std::{net::SocketAddr, sync::LazyLock};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use probe::{
    client::Protocol,
    load::{self, Arrival, Connections},
};

pub(super) fn arrival() -> impl TypedValueParser<Value = Arrival> {
    choice(Arrival::ALL, Arrival::name, |arrival| match arrival {
        Arrival::Constant => "Evenly",
        Arrival::Poisson => "At random, as independent users do",
    })
}

pub(super) fn connections() -> impl TypedValueParser<Value = Connections> {
    choice(Connections::ALL, Connections::name, |connections| match connections {
        Connections::New => "A connection for each request",
        Connections::Resume => "The same, resuming TLS's session",
        Connections::Early => {
            "The same, a request that does no harm twice going ahead of the handshake (0-RTT)"
        }
        Connections::Reuse => "Shared connections",
        Connections::Pages => {
            "Those of a page: several requests at once, up to 6 connections of HTTP/1.1 or one of HTTP/2 or HTTP/3"
        }
    })
}

pub(crate) fn protocol() -> impl TypedValueParser<Value = Protocol> {
    choice(Protocol::ALL, Protocol::name, |protocol| match protocol {
        Protocol::Negotiated => "What the server prefers",
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
        Protocol::Http3 => "HTTP/3, over QUIC; https only",
    })
}

pub(super) fn dns(text: &str) -> Result<SocketAddr, &'static str> {
    let whole = text.parse::<SocketAddr>().ok();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let at_53 = || Some(SocketAddr::new(bare.parse().ok()?, 53));
    whole
        .or_else(at_53)
        .ok_or("expected an address, such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353")
}

pub(super) fn zipf(text: &str) -> Result<f64, &'static str> {
    let exponent = text.parse().ok().filter(|exponent| (0.0..=10.0).contains(exponent));
    exponent.ok_or("expected an exponent from 0, all alike, to 10")
}

pub(super) fn timeout() -> &'static str {
    static TIMEOUT: LazyLock<String> =
        LazyLock::new(|| units::duration::show(load::Config::default().client.timeout));
    &TIMEOUT
}

fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words = all.map(|value| PossibleValue::new(name(value)).help(help(value)));
    PossibleValuesParser::new(words)
        .try_map(move |word| all.into_iter().find(|value| name(*value) == word).ok_or("no such choice"))
}
