//! Concatenates bodies.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_stack::{
    Body, Bytes, Failure,
    body::{Frame, Frames, SizeHint},
};

/// The result fails where one of the bodies fails. Trailers are omitted.
pub(crate) fn concat(bodies: impl IntoIterator<Item = Body>) -> Body {
    Body::stream(Concat(bodies.into_iter().collect()))
}

struct Concat(VecDeque<Body>);

impl Frames for Concat {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        while let Some(body) = self.0.front_mut() {
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(frame)) if frame.is_data() => return Poll::Ready(Some(Ok(frame))),
                Some(Ok(_trailers)) => {}
                Some(Err(failure)) => {
                    self.0.clear();
                    return Poll::Ready(Some(Err(failure)));
                }
                None => drop(self.0.pop_front()),
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.0.iter().all(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let exact: Option<u64> = self.0.iter().map(|body| body.size_hint().exact()).sum();
        exact.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn concat_yields_all_bodies_and_aborts_with_one() {
        let whole = concat(["ab", "", "c"].map(Body::whole));
        assert_eq!(whole.size_hint().exact(), Some(3));
        assert_eq!(whole.collect(9).await.unwrap(), "abc");
        assert!(concat([]).is_end_stream());
        let (sender, broken) = Body::channel(1);
        drop(sender);
        let mut body = concat([Body::whole("ab"), broken, Body::whole("c")]);
        assert_eq!(body.data().await.unwrap().unwrap(), "ab");
        assert_eq!((body.data().await, body.data().await), (Err(Failure::Source), Ok(None)));
    }
}
