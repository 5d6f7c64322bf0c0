//! A single request of a test, with its errors.

use std::time::Duration;

use http_stack::{
    Body, Client, Failure, HeaderMap, Method, Origin, Request, Response, StatusCode, Uri, client::Trace,
};

use crate::{latency::way_there_and_back, wire};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    Failed(Failure),
    Stalled(Duration),
    Status(StatusCode, String),
    Senseless(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct Look {
    /// From the first byte of the request to the head of the response.
    pub(crate) took: Duration,
    pub(crate) servers_own: Option<Duration>,
    pub(crate) trace: Trace,
}

impl Look {
    pub(crate) fn ms(&self) -> f64 {
        way_there_and_back(self.took, self.servers_own)
    }
}

pub(crate) async fn send(
    client: &Client,
    origin: &Origin,
    method: Method,
    path: &str,
    body: Body,
) -> Result<(Response<Body>, Trace), Refusal> {
    let mut trace = Trace::start(client.clock().now());
    let mut request = Request::new(body);
    *request.method_mut() = method;
    // A valid URI: the path contains only constants, digits and hexadecimal digits.
    *request.uri_mut() = path.parse::<Uri>().unwrap_or_default();
    let response = client.send(origin, request, &mut trace).await?;
    if response.status() == StatusCode::OK {
        return Ok((response, trace));
    }
    let (head, body) = response.into_parts();
    let words = body.collect(MOST_WORDS).await.unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    Err(Refusal::Status(head.status, units::show::plain(words.lines().next().unwrap_or_default())))
}

pub(crate) async fn look(client: &Client, origin: &Origin) -> Result<Look, Refusal> {
    let path = format!("{}?bytes=0", wire::DOWN);
    let (response, trace) = send(client, origin, Method::GET, &path, Body::empty()).await?;
    let servers_own = own_time(response.headers());
    response.into_body().collect(0).await?;
    let (Some(sent), Some(answered)) = (trace.first_write(), trace.final_headers) else {
        return Err(Refusal::Senseless("a response without a head"));
    };
    Ok(Look { took: Duration::from_nanos(answered.saturating_sub(sent)), servers_own, trace })
}

pub(crate) async fn ask<T: serde::de::DeserializeOwned>(
    client: &Client,
    origin: &Origin,
    method: Method,
    path: &str,
    body: Body,
) -> Result<(T, Trace), Refusal> {
    let (response, trace) = send(client, origin, method, path, body).await?;
    let answer = response.into_body().collect(MOST_JSON).await?;
    let answer = serde_json::from_slice(&answer);
    Ok((answer.map_err(|_| Refusal::Senseless("something else than a speed server's JSON"))?, trace))
}

fn own_time(headers: &HeaderMap) -> Option<Duration> {
    wire::own_time(headers.get("server-timing")?.to_str().ok()?)
}

impl Refusal {
    /// The end of a sentence.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Failed(failure) => failure.to_string(),
            Self::Stalled(patience) => {
                format!("nothing moved for {}; --timeout waits longer", units::duration::show(*patience))
            }
            Self::Status(status, words) if words.is_empty() => format!("the server responded {status}"),
            Self::Status(status, words) => format!("the server responded {status}: {words}"),
            Self::Senseless(what) => format!("the server responded with {what}"),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

const MOST_WORDS: usize = 1000;
const MOST_JSON: usize = 10_000;
