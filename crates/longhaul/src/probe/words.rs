//! The words of `longhaul probe`'s choices and defaults, which are the probe's own, and what --help says of each choice.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use probe::{
    client::{Connections, Protocol},
    load::{self, Arrival},
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
        Connections::Reuse => "Shared connections",
    })
}

pub(super) fn protocol() -> impl TypedValueParser<Value = Protocol> {
    choice(Protocol::ALL, Protocol::name, |protocol| match protocol {
        Protocol::Negotiated => "What the server prefers",
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Http2 => "HTTP/2",
        Protocol::Http3 => "HTTP/3, over QUIC; https only",
    })
}

pub(super) fn timeout() -> &'static str {
    static TIMEOUT: LazyLock<String> =
        LazyLock::new(|| units::duration::show(load::Config::default().client.timeout));
    &TIMEOUT
}

/// One of `all`, by its name.
fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words = all.map(|value| PossibleValue::new(name(value)).help(help(value)));
    PossibleValuesParser::new(words)
        .try_map(move |word| all.into_iter().find(|value| name(*value) == word).ok_or("no such choice"))
}
