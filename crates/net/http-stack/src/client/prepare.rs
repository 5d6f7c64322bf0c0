//! Converts a request for HTTP/2 and HTTP/3: a complete URL, and no connection-specific fields.

use hyper::{
    Request, Uri, Version,
    body::Body as _,
    header::{self, HeaderName},
    http::uri::{self, Authority, PathAndQuery},
};

use crate::{Body, Failure, Origin, Scheme};

pub(crate) fn prepared(
    origin: &Origin,
    request: Request<Body>,
    version: Version,
) -> Result<(Request<()>, Body), Failure> {
    let (mut head, body) = request.into_parts();
    // A Host field becomes `:authority` (RFC 9113 section 8.3.1, RFC 9114 section 4.3.1).
    let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = match (host, head.uri.authority()) {
        (Some(host), Some(authority)) if authority.as_str() == host => Ok(authority.clone()),
        (Some(host), _) => Authority::try_from(host),
        (None, Some(authority)) => Ok(authority.clone()),
        (None, None) => Authority::try_from(origin.authority()),
    };
    let mut url = uri::Parts::default();
    url.scheme = Some(match origin.scheme {
        Scheme::Http => uri::Scheme::HTTP,
        Scheme::Https => uri::Scheme::HTTPS,
    });
    url.authority = Some(authority.map_err(|_| Failure::Garbled)?);
    let path = head.uri.path_and_query().cloned();
    url.path_and_query = Some(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    head.uri = Uri::from_parts(url).map_err(|_| Failure::Garbled)?;
    head.version = version;
    for field in CONNECTION_FIELDS {
        head.headers.remove(field);
    }
    if let Some(length) = body.size_hint().exact().filter(|&length| length > 0) {
        head.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    Ok((Request::from_parts(head, ()), body))
}

/// Forbidden in HTTP/2 (RFC 9113 section 8.2.2) and HTTP/3 (RFC 9114 section 4.2). Host becomes
/// `:authority`.
const CONNECTION_FIELDS: [HeaderName; 5] =
    [header::CONNECTION, header::HOST, header::TE, header::TRANSFER_ENCODING, header::UPGRADE];
