//! The `[traces]` section of the network's file: collector and sampling.

use config_file::{Diagnostic, Document};
use http_stack::{Origin, OriginError, Uri};
use serde::Deserialize;
use toml::Spanned;
use units::Probability;

/// Collector of traces, and sampling.
#[derive(Debug, Clone, PartialEq)]
pub struct Collector {
    /// Collector for OTLP over HTTP in JSON.
    pub origin: Origin,
    /// Path and query of the endpoint.
    pub path: Uri,
    /// Share of requests that are traced.
    pub share: Probability,
    /// Whether the sampling decision and trace id in requests are honoured.
    pub obeys_clients: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TracesSpec {
    endpoint: Spanned<String>,
    #[serde(default)]
    share: Probability,
    #[serde(default)]
    requests_decide: bool,
}

pub(super) fn read(document: &Document, written: &Spanned<TracesSpec>) -> Result<Collector, Diagnostic> {
    let TracesSpec { endpoint, share, requests_decide } = written.get_ref();
    let text = endpoint.get_ref();
    let uri = text.parse::<Uri>().map_err(|_| OriginError::of_text(text));
    let origin = uri.and_then(|uri| Ok((Origin::of(&uri)?, uri)));
    let (origin, uri) = origin.map_err(|error| {
        let message = format!(
            "\"{text}\" is not the URL of a collector: {error}; expected http://127.0.0.1:4318/v1/traces"
        );
        document.mistake(endpoint.span(), message)
    })?;
    if *share == Probability::ZERO && !requests_decide {
        let message = "no request is traced: share = \"1%\" samples requests, requests_decide = true follows their traceparent";
        return Err(document.mistake(written.span(), message));
    }
    let path = uri.into_parts().path_and_query.filter(|path| *path != "/");
    let path = path.map_or_else(|| Uri::from_static("/v1/traces"), Uri::from);
    Ok(Collector { origin, path, share: *share, obeys_clients: *requests_decide })
}
