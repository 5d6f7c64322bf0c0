//! Happy Eyeballs (RFC 8305): of several addresses the one that answers first, whatever is spoken there.

use std::{net::SocketAddr, time::Duration};

use tokio::task::JoinSet;

use crate::Failure;

/// The connection that was there first, and where it leads.
pub(crate) struct Winner<T> {
    pub(crate) connection: T,
    pub(crate) remote: SocketAddr,
    /// Whether the address that was tried first is another one.
    pub(crate) fallback: bool,
}

/// The next address is tried when the one before has failed or has been silent for a while; the first connection wins. If all
/// fail, the first failure is the answer, as its address was the preferred one.
pub(crate) async fn first_to_answer<T, A>(
    addresses: &[SocketAddr],
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
    if let [only] = addresses {
        return attempt(*only, false).await;
    }
    let mut waiting = addresses.iter().copied().enumerate();
    let mut attempts = JoinSet::new();
    let mut first_failure = None;
    loop {
        if let Some((number, address)) = waiting.next() {
            attempts.spawn(attempt(address, number > 0));
        }
        tokio::select! {
            attempt = attempts.join_next() => match attempt {
                Some(Ok(Ok(winner))) => return Ok(winner),
                Some(Ok(Err(failure))) => {
                    first_failure.get_or_insert(failure);
                }
                // Attempts are neither cancelled nor do they panic.
                Some(Err(_)) => {}
                None => return Err(first_failure.unwrap_or(Failure::Dns)),
            },
            () = tokio::time::sleep(STAGGER), if waiting.len() > 0 => {}
        }
    }
}

/// The "Connection Attempt Delay" that RFC 8305 section 5 recommends.
const STAGGER: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests;
