//! Stores a result at the server, if the user requests it and the server supports it.

use http_stack::{Body, Failure, Method};

use super::{
    request::{self, Refusal},
    session::TestSession,
};
use crate::{
    Error,
    result::Outcome,
    wire::{self, Left, Offer},
};

pub(crate) async fn is_offered(line: &TestSession) -> Result<(), Error> {
    let asked = request::ask::<Offer>(&line.client, &line.origin, Method::GET, wire::KEEP, Body::empty());
    match tokio::time::timeout(line.patience, asked).await {
        Ok(Ok((Offer { keep_for_s: Some(_), .. }, _))) => Ok(()),
        // Older servers do not have this path.
        _ => Err(Error::KeepsNothing { url: line.origin.to_string() }),
    }
}

pub(crate) async fn leave(line: &TestSession, outcome: &Outcome) -> Result<String, String> {
    let text = serde_json::to_vec(outcome).map_err(|error| error.to_string())?;
    let path = format!("{}?test={}", wire::KEEP, line.test);
    let asked = request::ask::<Left>(&line.client, &line.origin, Method::POST, &path, Body::whole(text));
    let asked = tokio::time::timeout(line.patience, asked).await;
    let asked = asked.unwrap_or(Err(Refusal::Failed(Failure::Timeout)));
    asked.map(|(left, _)| units::show::plain(&left.link)).map_err(|refusal| refusal.why())
}
