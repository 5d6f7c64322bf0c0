//! Reads a body in two parts: the data available first, and the rest.

use std::{future::poll_fn, pin::Pin, task::Poll};

use http_stack::{Body, Failure, body::Frames};

/// Also reads all data that is available with the first piece. Returns its size, 0 without a body.
pub(crate) async fn first(body: &mut Body, mut taken: impl FnMut(u64)) -> Result<u64, Failure> {
    let Some(piece) = body.data().await? else { return Ok(0) };
    let mut bytes = piece.len() as u64;
    taken(bytes);
    poll_fn(|cx| {
        while bytes < MOST_AT_FIRST {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Pending | Poll::Ready(None) => break,
                Poll::Ready(Some(Ok(frame))) => {
                    let more = frame.data_ref().map_or(0, |data| data.len() as u64);
                    bytes += more;
                    taken(more);
                }
                Poll::Ready(Some(Err(failure))) => return Poll::Ready(Err(failure)),
            }
        }
        Poll::Ready(Ok(bytes))
    })
    .await
}

pub(crate) async fn rest(body: &mut Body, mut taken: impl FnMut(u64)) -> Result<u64, Failure> {
    let mut bytes = 0;
    while let Some(piece) = body.data().await? {
        bytes += piece.len() as u64;
        taken(piece.len() as u64);
    }
    Ok(bytes)
}

/// With a sender faster than its receiver, data is always available.
const MOST_AT_FIRST: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_there_is_first_and_the_rest_comes_later() {
        let (sender, mut body) = Body::channel(4);
        sender.send("ab").await.unwrap();
        sender.send("cd").await.unwrap();
        let mut seen = 0;
        assert_eq!(first(&mut body, |bytes| seen += bytes).await, Ok(4));
        sender.send("e").await.unwrap();
        sender.finish().await.unwrap();
        assert_eq!(rest(&mut body, |bytes| seen += bytes).await, Ok(1));
        assert_eq!(seen, 5);
        assert_eq!(first(&mut Body::empty(), |_| ()).await, Ok(0));
        let (sender, mut body) = Body::channel(4);
        sender.send("ab").await.unwrap();
        drop(sender);
        assert!(first(&mut body, |_| ()).await.is_err(), "it was broken off");
    }
}
