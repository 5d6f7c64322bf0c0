//! Leaves a result at the server, if its user wants that and the server keeps any.

use http::{Body, Failure, Method};

use super::{
    line::Line,
    request::{self, Refusal},
};
use crate::{
    Error,
    result::Outcome,
    wire::{self, Left, Offer},
};

/// Fails if the server keeps no results, before anything is measured.
pub(crate) async fn is_offered(line: &Line) -> Result<(), Error> {
    let asked = request::ask::<Offer>(&line.client, &line.origin, Method::GET, wire::KEEP, Body::empty());
    match tokio::time::timeout(line.patience, asked).await {
        Ok(Ok((Offer { keep_for_s: Some(_), .. }, _))) => Ok(()),
        // An older server does not know the question.
        _ => Err(Error::KeepsNothing { url: line.origin.to_string() }),
    }
}

/// Leaves it; the address of its page, or why there is none.
pub(crate) async fn leave(line: &Line, outcome: &Outcome) -> Result<String, String> {
    let text = serde_json::to_vec(outcome).map_err(|error| error.to_string())?;
    let path = format!("{}?test={}", wire::KEEP, line.test);
    let asked = request::ask::<Left>(&line.client, &line.origin, Method::POST, &path, Body::whole(text));
    let asked = tokio::time::timeout(line.patience, asked).await;
    let asked = asked.unwrap_or(Err(Refusal::Failed(Failure::Timeout)));
    asked.map(|(left, _)| units::show::plain(&left.link)).map_err(|refusal| refusal.why())
}
