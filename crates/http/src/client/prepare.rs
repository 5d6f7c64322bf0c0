//! A request as HTTP/2 and HTTP/3 have it: its URL whole, and no fields of a connection.

use hyper::{
    Request, Uri, Version,
    body::Body as _,
    header::{self, HeaderName},
};

use crate::{Body, Failure, Origin};

/// The head of a request to `origin`, and its body apart from it.
pub(crate) fn prepared(
    origin: &Origin,
    request: Request<Body>,
    version: Version,
) -> Result<(Request<()>, Body), Failure> {
    let (mut head, body) = request.into_parts();
    // A Host header that somebody asked for is `:authority` here (RFC 9113 section 8.3.1, RFC 9114 section 4.3.1).
    let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = match (host, head.uri.authority()) {
        (Some(host), _) => host.to_owned(),
        (None, Some(authority)) => authority.as_str().to_owned(),
        (None, None) => origin.authority(),
    };
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    // It was already parsed as a URL.
    head.uri = Uri::builder()
        .scheme(origin.scheme.name())
        .authority(authority)
        .path_and_query(path)
        .build()
        .map_err(|_| Failure::Garbled)?;
    head.version = version;
    for field in CONNECTION_FIELDS {
        head.headers.remove(field);
    }
    if let Some(length) = body.size_hint().exact().filter(|&length| length > 0) {
        head.headers.entry(header::CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    Ok((Request::from_parts(head, ()), body))
}

/// Fields of HTTP/1.1 connections, which HTTP/2 forbids (RFC 9113 section 8.2.2) and HTTP/3 too (RFC 9114 section 4.2), and
/// Host, which is `:authority` here.
const CONNECTION_FIELDS: [HeaderName; 5] =
    [header::CONNECTION, header::HOST, header::TE, header::TRANSFER_ENCODING, header::UPGRADE];
