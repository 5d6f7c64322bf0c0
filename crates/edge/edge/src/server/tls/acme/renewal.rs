//! The task that orders missing certificates and renews old ones.

use std::{sync::Arc, time::Duration};

use http_stack::server::ServerCertificate;
use tokio::time::{sleep, timeout};

use super::{
    client::AcmeClient,
    order::obtain,
    schedule,
    storage::{Failures, Storage},
};
use crate::{config::Acme, server::node::Node, util::clock};

/// Never ends. A reload of the network's file repeats failed orders, unless the server sent a Retry-After.
pub(crate) async fn renew(node: Arc<Node>, tell: impl Fn(String)) {
    let (mut is_reloaded, mut unusable) = (false, None);
    loop {
        let mut pause = LONGEST_PAUSE;
        if let Some(acme) = &node.network().acme {
            match Storage::open(acme) {
                Ok(storage) => {
                    unusable = None;
                    pause =
                        Renewal { node: &node, acme, storage: &storage, tell: &tell }.run(is_reloaded).await;
                }
                Err(why) => {
                    note_all(&node, &why);
                    if unusable.as_ref() != Some(&why) {
                        tell(format!("certificates of the ACME server cannot be ordered: {why}"));
                    }
                    unusable = Some(why);
                }
            }
        }
        is_reloaded = tokio::select! {
            () = sleep(pause) => false,
            () = node.certificates.reloaded.notified() => true,
        };
    }
}

fn note_all(node: &Node, why: &str) {
    let next_s = clock::unix_s() + LONGEST_PAUSE.as_secs();
    for (host, _) in node.certificates.of_acme() {
        node.certificates.note_order(&host, next_s, Some(why));
    }
}

struct Renewal<'r, T> {
    node: &'r Node,
    acme: &'r Acme,
    storage: &'r Storage,
    tell: &'r T,
}

impl<T: Fn(String)> Renewal<'_, T> {
    /// Returns the time until the next order.
    async fn run(&self, is_reloaded: bool) -> Duration {
        let mut next_s = u64::MAX;
        for (host, current) in self.node.certificates.of_acme() {
            let failures = self.storage.failures(&host).filter(|one| !is_reloaded || one.is_limited);
            let failures = failures.unwrap_or_default();
            let mut at_s = self.due_s(&host, current.as_ref()).max(failures.retry_s);
            if at_s <= clock::unix_s() {
                at_s = match self.order(&host).await {
                    Ok(at_s) => at_s,
                    Err((why, retry_after)) => {
                        self.fail(&host, (why, retry_after), failures.count, current.as_ref())
                    }
                };
            }
            let failed = self.storage.failures(&host);
            self.node.certificates.note_order(&host, at_s, failed.as_ref().map(|one| one.why.as_str()));
            next_s = next_s.min(at_s);
        }
        Duration::from_secs(next_s.saturating_sub(clock::unix_s())).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }

    fn due_s(&self, host: &str, current: Option<&ServerCertificate>) -> u64 {
        current.map_or(0, |one| {
            let spread = schedule::spread(&self.node.data_centre, host, one.not_after_s());
            schedule::renewal_s(one.not_before_s(), one.not_after_s(), spread)
        })
    }

    /// Returns when the certificate is due again, or the reason for a failure and the server's Retry-After.
    async fn order(&self, host: &str) -> Result<u64, (String, Option<Duration>)> {
        let alone = |why: String| (why, None::<Duration>);
        let now_s = clock::unix_s();
        let Some(_lock) = self.storage.lock(host).map_err(alone)? else {
            return Ok(now_s + LOCKED_PAUSE_S);
        };
        // Another data centre may have renewed it before this data centre had the lock.
        if let Some(at_s) = self.installed(host).filter(|at_s| *at_s > now_s) {
            return Ok(at_s);
        }
        let client = AcmeClient::new(self.acme).map_err(|error| alone(error.to_string()))?;
        let order = timeout(ORDER_TIMEOUT, obtain(self.acme, self.storage, &client, host)).await;
        let why = match order {
            Ok(Ok(())) => {
                self.storage.clear_failures(host);
                (self.tell)(format!("certificate for {host}: the ACME server issued it"));
                return Ok(self.installed(host).unwrap_or(now_s + LOCKED_PAUSE_S));
            }
            Ok(Err(why)) => why,
            Err(_) => "the ACME server did not finish the order in time".to_owned(),
        };
        Err((why, client.take_retry_after()))
    }

    /// Reads the files again, and returns when the certificate of this host is due.
    fn installed(&self, host: &str) -> Option<u64> {
        self.node.certificates.poll().into_iter().for_each(self.tell);
        let all = self.node.certificates.of_acme();
        let current = all.into_iter().find(|(name, _)| name == host)?.1?;
        Some(self.due_s(host, Some(&current)))
    }

    /// Returns when the order is repeated.
    fn fail(
        &self,
        host: &str,
        (why, retry_after): (String, Option<Duration>),
        before: u32,
        current: Option<&ServerCertificate>,
    ) -> u64 {
        let (count, now_s) = (before.saturating_add(1), clock::unix_s());
        let spread = schedule::spread(&self.node.data_centre, host, count.into());
        let pause_s = schedule::pause_s(count, retry_after, spread);
        let old = match current {
            None => "there is no certificate for it yet".to_owned(),
            Some(one) if one.not_after_s() < now_s => "the old one has expired".to_owned(),
            Some(one) => {
                let hours = (one.not_after_s() - now_s) / 3_600;
                format!(
                    "the old one stays in use and expires in {} days and {} hours",
                    hours / 24,
                    hours % 24
                )
            }
        };
        (self.tell)(format!(
            "certificate for {host}: the order failed and is repeated in {} min; {old}: {why}",
            pause_s.div_ceil(60)
        ));
        let retry_s = now_s + pause_s;
        self.storage
            .note_failures(host, &Failures { count, retry_s, is_limited: retry_after.is_some(), why });
        retry_s
    }
}

/// Validations take seconds, and at most some minutes.
const ORDER_TIMEOUT: Duration = Duration::from_secs(300);
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Another data centre orders the certificate.
const LOCKED_PAUSE_S: u64 = 5;
