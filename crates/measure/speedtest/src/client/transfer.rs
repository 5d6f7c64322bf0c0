//! A transfer: one request, or several concurrent requests that share its bytes.

use std::{pin::pin, sync::Arc, time::Duration};

use http_stack::{Body, Method, client::Trace};
use tokio::task::JoinSet;

use super::{
    request::{self, Refusal},
    session::TestSession,
};
use crate::{
    bandwidth::Transfer,
    chunk_timing,
    plan::Direction,
    random_body,
    wire::{self, Received, Token},
};

pub(crate) struct Moved {
    pub(crate) transfer: Transfer,
    pub(crate) streaming: Duration,
    pub(crate) requests: Vec<Request>,
}

pub(crate) struct Request {
    pub(crate) bytes: u64,
    pub(crate) trace: Trace,
    pub(crate) ended: u64,
    first_bytes: u64,
    /// Arrival of the first and the last piece, on the receiver's clock.
    first: u64,
    last: u64,
}

pub(crate) async fn download(
    line: &Arc<TestSession>,
    bytes: u64,
    streams: u32,
    test: Option<Token>,
) -> Result<Moved, Refusal> {
    all(line, Direction::Download, bytes, streams, test).await
}

pub(crate) async fn upload(line: &Arc<TestSession>, bytes: u64, streams: u32) -> Result<Moved, Refusal> {
    all(line, Direction::Upload, bytes, streams, Some(line.test)).await
}

async fn all(
    line: &Arc<TestSession>,
    direction: Direction,
    bytes: u64,
    streams: u32,
    test: Option<Token>,
) -> Result<Moved, Refusal> {
    let began = line.clock().now();
    let mut at_work = JoinSet::new();
    for share in shares(bytes, streams) {
        let line = Arc::clone(line);
        at_work.spawn(async move {
            match direction {
                Direction::Download => down(&line, share, test).await,
                Direction::Upload => up(&line, share, test).await,
            }
        });
    }
    let patience = match direction {
        Direction::Download => line.patience,
        // Data in the kernel's send buffer must still be transmitted, without visible progress.
        Direction::Upload => 3 * line.patience,
    };
    let mut stalled = pin!(stalled(line, patience));
    let mut requests = Vec::new();
    loop {
        tokio::select! {
            finished = at_work.join_next() => match finished {
                Some(Ok(request)) => requests.push(request?),
                Some(Err(_)) => return Err(Refusal::Senseless("what this client could not handle")),
                None => break,
            },
            () = stalled.as_mut() => return Err(Refusal::Stalled(patience)),
        }
    }
    Ok(Moved::of(bytes, began, line.clock().now(), requests))
}

async fn down(line: &TestSession, bytes: u64, test: Option<Token>) -> Result<Request, Refusal> {
    let mut path = format!("{}?bytes={bytes}", wire::DOWN);
    if let Some(test) = test {
        path = format!("{path}&test={test}");
    }
    let (response, trace) =
        request::send(&line.client, &line.origin, Method::GET, &path, Body::empty()).await?;
    line.used(&trace);
    let mut body = response.into_body();
    let taken = |bytes| line.progress.add(Direction::Download, bytes);
    let first_bytes = chunk_timing::first(&mut body, taken).await?;
    let first = line.clock().now();
    let came = first_bytes + if first_bytes > 0 { chunk_timing::rest(&mut body, taken).await? } else { 0 };
    if came != bytes {
        return Err(Refusal::Senseless("another size than requested"));
    }
    let ended = line.clock().now();
    let last = trace.last_byte().unwrap_or(ended).max(first);
    Ok(Request { bytes, trace, ended, first_bytes, first, last })
}

async fn up(line: &TestSession, bytes: u64, test: Option<Token>) -> Result<Request, Refusal> {
    let path = test.map_or_else(|| wire::UP.to_owned(), |test| format!("{}?test={test}", wire::UP));
    let progress = line.progress.clone();
    let body = random_body::body(bytes, move |handed_over| progress.add(Direction::Upload, handed_over));
    let (received, trace): (Received, _) =
        request::ask(&line.client, &line.origin, Method::POST, &path, body).await?;
    line.used(&trace);
    let Received { bytes: came, first_bytes, first_ns, last_ns } = received;
    if came != bytes || first_bytes > came || last_ns < first_ns {
        return Err(Refusal::Senseless("figures of an upload that cannot be"));
    }
    Ok(Request { bytes, trace, ended: line.clock().now(), first_bytes, first: first_ns, last: last_ns })
}

async fn stalled(line: &TestSession, patience: Duration) {
    let moved = || Direction::BOTH.map(|direction| line.progress.moved(direction));
    loop {
        let before = moved();
        tokio::time::sleep(patience).await;
        if moved() == before {
            return;
        }
    }
}

fn shares(bytes: u64, streams: u32) -> impl Iterator<Item = u64> {
    let streams = u64::from(streams).clamp(1, bytes.max(1));
    (0..streams).map(move |number| bytes / streams + u64::from(number < bytes % streams))
}

impl Moved {
    fn of(bytes: u64, began: u64, ended: u64, requests: Vec<Request>) -> Self {
        let earliest = requests.iter().min_by_key(|request| request.first);
        let (first, at_first) = earliest.map_or((0, 0), |request| (request.first, request.first_bytes));
        let last = requests.iter().map(|request| request.last).max().unwrap_or(first);
        let span = |from: u64, to: u64| Duration::from_nanos(to.saturating_sub(from));
        let streaming = requests.iter().map(|request| span(request.first, request.last)).sum();
        let transfer = Transfer {
            bytes,
            behind_first: bytes.saturating_sub(at_first),
            over: span(first, last),
            took: span(began, ended),
        };
        Self { transfer, streaming, requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_share_all_of_the_bytes() {
        assert_eq!(shares(10, 3).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(shares(2, 5).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(shares(7, 0).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn several_streams_are_one_transfer_from_the_earliest_piece_to_the_latest() {
        let request = |first, last, first_bytes| Request {
            bytes: 500,
            trace: Trace::default(),
            ended: last,
            first_bytes,
            first,
            last,
        };
        let moved = Moved::of(1000, 0, 90, vec![request(20, 60, 7), request(10, 80, 100)]);
        let expected = Transfer {
            bytes: 1000,
            behind_first: 900,
            over: Duration::from_nanos(70),
            took: Duration::from_nanos(90),
        };
        assert_eq!((moved.transfer, moved.streaming), (expected, Duration::from_nanos(110)));
    }
}
