//! An order of a certificate for one host, from the account to the chain.

use std::time::Duration;

use http_stack::server::{CertificateRequest, challenge_certificate};
use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Error, Identifier, NewAccount, NewOrder, Order, OrderStatus,
    RetryPolicy,
};

use super::{
    client::AcmeClient,
    http01::is_token,
    storage::{Published, Storage},
};
use crate::config::{Acme, Challenge};

/// Gets a certificate and stores it. The error is a sentence for the operator.
pub(super) async fn obtain(
    acme: &Acme,
    storage: &Storage,
    client: &AcmeClient,
    host: &str,
) -> Result<(), String> {
    let account = account(acme, storage, client).await?;
    let identifiers = [Identifier::Dns(host.to_owned())];
    let order = account.new_order(&NewOrder::new(&identifiers)).await;
    let mut order = order.map_err(|error| {
        if is_unknown_account(&error) {
            storage.discard_account();
        }
        sentence(&error)
    })?;
    // The responses are removed when the order has ended.
    let _published = publish(acme, storage, host, &mut order).await?;
    match order.poll_ready(&POLLING).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) | Err(Error::Api(_)) => return Err(refusal(&mut order).await),
        Err(error) => return Err(sentence(&error)),
    }
    let request = CertificateRequest::make(&[host.to_owned()]).map_err(|error| error.to_string())?;
    order.finalize_csr(&request.request_der).await.map_err(|error| sentence(&error))?;
    let chain = order.poll_certificate(&POLLING).await.map_err(|error| sentence(&error))?;
    storage.store_certificate(host, &chain, &request.key_pem)
}

/// Another data centre may create the account meanwhile: then there are two, which does no harm.
async fn account(acme: &Acme, storage: &Storage, client: &AcmeClient) -> Result<Account, String> {
    let builder = Account::builder_with_http(Box::new(client.clone()));
    if let Some(text) = storage.account() {
        let credentials = serde_json::from_str(&text).map_err(|error| {
            format!("account.json is damaged, and removing it creates a new account: {error}")
        })?;
        return builder.from_credentials(credentials).await.map_err(|error| sentence(&error));
    }
    let contact = acme.email.as_ref().map(|email| format!("mailto:{email}"));
    let contact: Vec<_> = contact.as_deref().into_iter().collect();
    let new = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let created = builder.create(&new, acme.directory.to_string(), None).await;
    let (account, credentials) = created.map_err(|error| sentence(&error))?;
    let text = serde_json::to_string(&credentials).map_err(|error| error.to_string())?;
    storage.store_account(&text)?;
    Ok(account)
}

async fn publish(
    acme: &Acme,
    storage: &Storage,
    host: &str,
    order: &mut Order,
) -> Result<Vec<Published>, String> {
    let mut published = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(|error| sentence(&error))?;
        // A recent validation is still accepted.
        if authorization.status == AuthorizationStatus::Valid {
            continue;
        }
        let (kind, name) = match acme.challenge {
            Challenge::Http01 => (ChallengeType::Http01, "http-01"),
            Challenge::TlsAlpn01 => (ChallengeType::TlsAlpn01, "tls-alpn-01"),
        };
        let challenge = authorization.challenge(kind);
        let mut challenge =
            challenge.ok_or_else(|| format!("the ACME server offers no {name} for {host}"))?;
        // The token becomes the name of a file.
        if !is_token(&challenge.token) {
            return Err("the ACME server sent an invalid token".to_owned());
        }
        let proof = challenge.key_authorization();
        published.push(match acme.challenge {
            Challenge::Http01 => storage.publish(&challenge.token, proof.as_str()),
            Challenge::TlsAlpn01 => {
                let digest =
                    <[u8; 32]>::try_from(proof.digest().as_ref()).map_err(|error| error.to_string())?;
                let pem = challenge_certificate(host, &digest).map_err(|error| error.to_string())?;
                storage.publish(&format!("{host}.pem"), &pem)
            }
        }?);
        challenge.set_ready().await.map_err(|error| sentence(&error))?;
    }
    Ok(published)
}

/// Why the server did not validate the host.
async fn refusal(order: &mut Order) -> String {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        if let Ok(state) = authorization.refresh().await {
            let error = state.challenges.iter().find_map(|challenge| challenge.error.as_ref());
            if let Some(problem) = error {
                return problem.detail.clone().unwrap_or_else(|| problem.to_string());
            }
        }
    }
    "the ACME server did not validate the host and gives no reason".to_owned()
}

fn is_unknown_account(error: &Error) -> bool {
    let kind = if let Error::Api(problem) = error { problem.r#type.as_deref() } else { None };
    kind.is_some_and(|kind| kind.ends_with(":accountDoesNotExist"))
}

fn sentence(error: &Error) -> String {
    match error {
        Error::Api(problem) => problem.detail.clone().unwrap_or_else(|| problem.to_string()),
        error => error.to_string(),
    }
}

const POLLING: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(250))
    .backoff(1.5)
    .timeout(Duration::from_secs(90));
