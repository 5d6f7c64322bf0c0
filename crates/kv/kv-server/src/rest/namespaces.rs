//! Requests that list, create, rename and remove namespaces.

use std::sync::Arc;

use http_stack::{Body, Method, Response, request::Parts};
use serde::Deserialize;

use crate::{
    access::{Caller, Namespace, authorization},
    api_error::{ApiError, Kind},
    envelope, json,
    query::Parameters,
    request_body::collected,
    service::Service,
};

#[derive(Deserialize)]
struct Titled {
    title: String,
}

pub(super) async fn of_all(
    service: &Arc<Service>,
    caller: Caller<'_>,
    (parts, parameters): (&Parts, &Parameters),
    body: Body,
) -> Result<Response<Body>, ApiError> {
    match parts.method {
        Method::GET if caller.is_operator() => {
            let missing = service.look_for_namespaces().await.err().map(|mut problem| {
                problem.message.insert_str(0, "namespaces made over the API may be missing: ");
                problem
            });
            let access = service.access();
            // The network's file may have been reloaded without this token.
            list(access.caller(authorization(&parts.headers))?, parameters, missing.as_ref())
        }
        Method::GET => list(caller, parameters, None),
        Method::POST => {
            may_change(caller)?;
            let made = service.make_namespace(&title(body).await?).await?;
            Ok(one(&made))
        }
        _ => Err(ApiError::method("GET or POST of namespaces")),
    }
}

pub(super) async fn of_one(
    service: &Arc<Service>,
    caller: Caller<'_>,
    name: &str,
    (parts, body): (&Parts, Body),
) -> Result<Response<Body>, ApiError> {
    may_change(caller)?;
    match parts.method {
        Method::PUT => {
            let renamed = service.rename_namespace(name, &title(body).await?).await?;
            Ok(one(&renamed))
        }
        Method::DELETE => {
            service.remove_namespace(name).await?;
            Ok(envelope::success("{}", None))
        }
        _ => Err(ApiError::method("GET, PUT or DELETE of a namespace")),
    }
}

fn may_change(caller: Caller<'_>) -> Result<(), ApiError> {
    if caller.is_operator() {
        return Ok(());
    }
    let message =
        "only a token of [admin] creates, renames and removes namespaces; this token is for keys and values";
    Err(ApiError::of(Kind::OtherNamespace, message))
}

async fn title(body: Body) -> Result<String, ApiError> {
    let text = collected(body, LONGEST).await?;
    let titled: Titled = serde_json::from_slice(&text)
        .map_err(|why| ApiError::bad(format!("expected {{\"title\": \"NAME\"}}: {why}")))?;
    Ok(titled.title)
}

/// Also returns why the list may be incomplete.
fn list(
    caller: Caller<'_>,
    parameters: &Parameters,
    missing: Option<&ApiError>,
) -> Result<Response<Body>, ApiError> {
    let number = |name: &str, default: usize| match parameters.get(name) {
        None => Ok(default),
        Some(text) => {
            let number = text.parse().ok().filter(|&number| number > 0);
            number.ok_or_else(|| ApiError::bad(format!("{name}={text} is not a positive number")))
        }
    };
    let (page, per_page) = (number("page", 1)?, number("per_page", PER_PAGE)?.min(MOST_PER_PAGE));
    let mut all: Vec<_> = caller.namespaces().collect();
    match parameters.get("order") {
        Some("id") => all.sort_by(|a, b| a.id.cmp(&b.id)),
        _ => all.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    if parameters.get("direction") == Some("desc") {
        all.reverse();
    }
    let shown: Vec<_> = all.iter().skip((page - 1).saturating_mul(per_page)).take(per_page).collect();
    let (mut text, count) = (String::new(), shown.len());
    json::between(&mut text, json::LIST, shown, |text, namespace| text.push_str(&described(namespace)));
    let info = format!(
        "{{\"page\":{page},\"per_page\":{per_page},\"count\":{count},\"total_count\":{},\"total_pages\":{}}}",
        all.len(),
        all.len().div_ceil(per_page)
    );
    Ok(envelope::success_but(&text, Some(&info), missing))
}

pub(super) fn one(namespace: &Namespace) -> Response<Body> {
    envelope::success(&described(namespace), None)
}

fn described(namespace: &Namespace) -> String {
    let mut text = format!("{{\"id\":\"{}\",\"title\":", namespace.id);
    json::text(&mut text, &namespace.name);
    text.push_str(",\"supports_url_encoding\":true}");
    text
}

const PER_PAGE: usize = 20;
const MOST_PER_PAGE: usize = 1000;
const LONGEST: usize = 16 << 10;
