//! Removal of trailer fields that a recipient could merge into the header (RFC 9110 section 6.5.1),
//! and of internal fields.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_cache::{hop_by_hop::is_end_to_end, internal_headers};
use http_stack::{
    Body, Bytes, Failure, HeaderMap, HeaderName,
    body::{Frame, Frames, SizeHint},
};

pub(crate) fn for_response(body: Body) -> Body {
    filter_trailers(body, internal_headers::clear)
}

pub(crate) fn for_request(body: Body) -> Body {
    if body.is_end_stream() { body } else { filter_trailers(body, remove_request_fields) }
}

fn filter_trailers(body: Body, clear: fn(&mut HeaderMap)) -> Body {
    if body.again().is_some() { body } else { Body::stream(FilteredTrailers { body, filter: clear }) }
}

fn remove_request_fields(fields: &mut HeaderMap) {
    internal_headers::clear(fields);
    let unfit: Vec<HeaderName> = fields.keys().filter(|name| is_end_to_end(name)).cloned().collect();
    for name in &unfit {
        fields.remove(name);
    }
}

struct FilteredTrailers {
    body: Body,
    filter: fn(&mut HeaderMap),
}

impl Frames for FilteredTrailers {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let mut frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &mut frame
            && let Some(fields) = frame.trailers_mut()
        {
            (self.filter)(fields);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_trailers_reveal_nothing_about_the_client() {
        let names = [
            "cookie",
            "forwarded",
            "x-forwarded-for",
            "x-real-ip",
            "via",
            "if-match",
            "content-type",
            "lh-hop-count",
            "x-sum",
            "server-timing",
        ];
        let mut fields: HeaderMap =
            names.iter().map(|name| (HeaderName::from_static(name), "x".parse().unwrap())).collect();
        remove_request_fields(&mut fields);
        let mut left: Vec<_> = fields.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["server-timing", "x-sum"]);
    }
}
