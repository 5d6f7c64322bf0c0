//! What a network's file says of traces: where they go, and of which requests.

use document::{Document, Mistake};
use http::{Origin, OriginError, Uri};
use serde::Deserialize;
use toml::Spanned;
use units::Probability;

/// Where traces go, and of which requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Collector {
    /// A collector that takes OTLP over HTTP, in JSON.
    pub origin: Origin,
    /// Where it takes traces, from the path on.
    pub path: Uri,
    /// Which share of requests has traces.
    pub share: Probability,
    /// Whether a request that says whether it has a trace, and which, is believed.
    pub obeys_clients: bool,
}

/// `[traces]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    endpoint: Spanned<String>,
    #[serde(default)]
    share: Probability,
    #[serde(default)]
    requests_decide: bool,
}

/// Checks it.
pub(super) fn read(document: &Document, written: &Spanned<Written>) -> Result<Collector, Mistake> {
    let Written { endpoint, share, requests_decide } = written.get_ref();
    let text = endpoint.get_ref();
    let uri = text.parse::<Uri>().map_err(|_| OriginError::of_text(text));
    let origin = uri.and_then(|uri| Ok((Origin::of(&uri)?, uri)));
    let (origin, uri) = origin.map_err(|error| {
        let message =
            format!("\"{text}\" is no collector: {error}; expected http://127.0.0.1:4318/v1/traces");
        document.mistake(endpoint.span(), message)
    })?;
    if *share == Probability::ZERO && !requests_decide {
        let message = "no request has traces: share = \"1%\" has some, requests_decide = true those that ask";
        return Err(document.mistake(written.span(), message));
    }
    let path = uri.into_parts().path_and_query.filter(|path| *path != "/");
    let path = path.map_or_else(|| Uri::from_static("/v1/traces"), Uri::from);
    Ok(Collector { origin, path, share: *share, obeys_clients: *requests_decide })
}
