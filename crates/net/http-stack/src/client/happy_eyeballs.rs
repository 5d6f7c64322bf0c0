//! Happy Eyeballs (RFC 8305): connects to the first of several addresses that responds, for any
//! protocol.

use std::{collections::VecDeque, net::SocketAddr, pin::pin, time::Duration};

use tokio::{task::JoinSet, time::Instant};

use super::resolve::{Addresses, Later};
use crate::{Failure, Family};

pub(crate) struct Winner<T> {
    pub(crate) connection: T,
    pub(crate) remote: SocketAddr,
    pub(crate) fallback: bool,
}

/// Tries the next address when the previous one has failed or has been silent for a while; the first
/// connection wins. If all fail, returns the first failure, because its address was preferred.
pub(crate) async fn first_to_answer<T, A>(
    addresses: Addresses,
    reach: impl Fn(SocketAddr) -> A,
) -> Result<Winner<T>, Failure>
where
    T: Send + 'static,
    A: Future<Output = Result<T, Failure>> + Send + 'static,
{
    let attempt = |remote: SocketAddr, fallback| {
        let reached = reach(remote);
        async move { Ok::<_, Failure>(Winner { connection: reached.await?, remote, fallback }) }
    };
    let Addresses { known, mut later } = addresses;
    if let ([only], None) = (&known[..], &later) {
        return attempt(*only, false).await;
    }
    let (mut tried, mut waiting) = (Vec::new(), VecDeque::from(known));
    let mut attempts = JoinSet::new();
    let mut first_failure = None;
    let mut patience = pin!(tokio::time::sleep(STAGGER));
    let mut is_next_due = true;
    loop {
        if is_next_due && let Some(address) = waiting.pop_front() {
            attempts.spawn(attempt(address, !tried.is_empty()));
            tried.push(address);
            patience.as_mut().reset(Instant::now() + STAGGER);
            is_next_due = false;
        }
        tokio::select! {
            Some(attempt) = attempts.join_next() => match attempt {
                Ok(Ok(winner)) => return Ok(winner),
                Ok(Err(failure)) => {
                    first_failure.get_or_insert(failure);
                    is_next_due = true;
                }
                Err(_) => {}
            },
            all = arrival(&mut later), if later.is_some() => {
                later = None;
                waiting = all.into_iter().filter(|address| !tried.contains(address)).collect();
            }
            () = &mut patience, if !is_next_due && !waiting.is_empty() => is_next_due = true,
            else => return Err(first_failure.unwrap_or(Failure::NoAddress(Family::Any))),
        }
    }
}

async fn arrival(later: &mut Option<Later>) -> Vec<SocketAddr> {
    match later {
        Some(later) => later.arrive().await,
        None => std::future::pending().await,
    }
}

/// The "Connection Attempt Delay" that RFC 8305 section 5 recommends.
const STAGGER: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests;
