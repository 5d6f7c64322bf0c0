//! Stores results, returns them by identifier, and shows them to the operator.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use http_stack::{
    Body, StatusCode, header,
    request::Parts,
    token::{TokenHash, bearer},
};
use kv_redb::Error;
use tokio::task::spawn_blocking;
use tracing::warn;

use super::answer::{Answer, Refusal, json, stored};
use crate::{
    result::Outcome,
    stored_results::{Moment, Network, Overview, Quota, Row, Store, Wanted},
    wire::{Left, Offer, Token, parameter},
};

pub(crate) struct Keeping {
    store: Arc<Store>,
    keep_for_s: u64,
    /// `None`: no access.
    operator: Option<TokenHash>,
    quota: Mutex<Quota>,
}

impl Keeping {
    pub(crate) fn new(store: Store, keep_for_s: u64, operator: Option<TokenHash>) -> Self {
        Self { store: Arc::new(store), keep_for_s, operator, quota: Mutex::default() }
    }

    pub(crate) fn offer(&self, address: IpAddr) -> Offer {
        let network = Network::of(address).to_string();
        Offer { keep_for_s: Some(self.keep_for_s), network: Some(network) }
    }

    pub(crate) fn has_operator(&self) -> bool {
        self.operator.is_some()
    }

    pub(crate) async fn keep(
        &self,
        outcome: Outcome,
        id: Token,
        address: IpAddr,
        now: Moment,
        base: &str,
    ) -> Answer {
        let row = Row::of(id, now.wall_s, Network::of(address), &outcome);
        let text = serde_json::to_vec(&outcome).unwrap_or_default();
        if !self.may_keep(now, address, text.len() as u64) {
            let why = "enough results were kept for this hour; try again in the next\n";
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, why).with(header::RETRY_AFTER, "3600"));
        }
        let store = Arc::clone(&self.store);
        self.on_disk(move || store.keep(now, &row, &text)).await?;
        Ok(json(&Left { link: format!("{base}/#k={id}") }))
    }

    fn may_keep(&self, now: Moment, address: IpAddr, bytes: u64) -> bool {
        let mut quota = self.quota.lock().unwrap_or_else(PoisonError::into_inner);
        quota.take(now.steady, address, bytes)
    }

    pub(crate) async fn outcome(&self, head: &Parts, now: Moment) -> Answer {
        let id = parameter(head.uri.query().unwrap_or_default(), "id").and_then(Token::parse);
        let id = id.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "id is missing\n"))?;
        let store = Arc::clone(&self.store);
        let found = self.on_disk(move || store.outcome(now, id)).await?;
        let gone = || Refusal::new(StatusCode::NOT_FOUND, "unknown or expired result\n");
        found.map(stored).ok_or_else(gone)
    }

    pub(crate) async fn overview(&self, head: &Parts, now: Moment) -> Answer {
        let token = head.headers.get(header::AUTHORIZATION).and_then(|field| bearer(field.as_bytes()));
        if token.map(TokenHash::of) != self.operator || token.is_none() {
            let why = "this takes the operator's token: Authorization: Bearer TOKEN\n";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, why).with(header::WWW_AUTHENTICATE, "Bearer"));
        }
        let wanted = wanted(head.uri.query().unwrap_or_default())
            .map_err(|why| Refusal::new(StatusCode::BAD_REQUEST, why))?;
        let (store, keep_for_s) = (Arc::clone(&self.store), self.keep_for_s);
        let overview = move || {
            let mut rows = Vec::new();
            store.rows(now, |row| rows.push(row))?;
            Ok(Overview::of(rows, wanted, now.wall_s, keep_for_s))
        };
        Ok(json(&self.on_disk(overview).await?))
    }

    pub(crate) async fn sweep(&self, now: Moment) {
        let store = Arc::clone(&self.store);
        // A failure is logged, and the next sweep retries.
        let _ = self.on_disk(move || store.sweep(now)).await;
    }

    pub(crate) async fn close(&self, now: Moment) {
        let store = Arc::clone(&self.store);
        let _ = spawn_blocking(move || store.close(now)).await;
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Refusal> {
        let done = spawn_blocking(work).await;
        let broken = |_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the results cannot be reached\n");
        done.map_err(broken)?.map_err(|error| {
            warn!(%error, "results cannot be read or written");
            match error {
                Error::Full { .. } => {
                    Refusal::new(StatusCode::INSUFFICIENT_STORAGE, "the server has no room for results\n")
                }
                _ => Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the results cannot be reached\n"),
            }
        })
    }
}

pub(crate) fn wanted(query: &str) -> Result<Wanted, &'static str> {
    let days = parameter(query, "days").map(str::parse::<u32>).transpose();
    let days = days.map_err(|_| "days is a whole number, such as ?days=7\n")?;
    // A colon may be unescaped; an escaped colon or slash is accepted too.
    let network = parameter(query, "network").map(|text| text.replace("%2F", "/").replace("%3A", ":"));
    let network = network.map(|text| text.parse()).transpose();
    let network = network.map_err(|_| "network is one as they are shown, such as ?network=192.0.2.0/24\n")?;
    Ok(Wanted { days, network })
}

pub(crate) async fn reported(body: Body) -> Result<Outcome, Refusal> {
    let refused = |why: String| Refusal::new(StatusCode::BAD_REQUEST, format!("{why}\n"));
    let text = body.collect(crate::result::LARGEST).await;
    let text = text.map_err(|failure| refused(failure.to_string()))?;
    Outcome::reported(&text).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_asks_for_days_and_a_network() {
        let network = "2001:db8::/48".parse().ok();
        assert_eq!(wanted("days=7&network=2001%3Adb8%3A%3A%2F48"), Ok(Wanted { days: Some(7), network }));
        assert_eq!(wanted("network=2001:db8::/48"), Ok(Wanted { days: None, network }));
        assert_eq!(wanted(""), Ok(Wanted::default()));
        assert!(wanted("days=-1").unwrap_err().contains("whole number"));
        assert!(wanted("network=192.0.2.1").unwrap_err().contains("192.0.2.0/24"));
    }
}
