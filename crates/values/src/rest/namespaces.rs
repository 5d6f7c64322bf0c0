//! Namespaces, as the network's file has them.

use http::{Body, Response, StatusCode};

use crate::{
    access::{Caller, Namespace},
    envelope, json,
    parameters::Parameters,
    problem::Problem,
};

/// Those that a token is for, a page of them.
pub(super) fn list(caller: Caller<'_>, parameters: &Parameters) -> Result<Response<Body>, Problem> {
    let number = |name: &str, default: usize| match parameters.get(name) {
        None => Ok(default),
        Some(text) => {
            let number = text.parse().ok().filter(|&number| number > 0);
            number.ok_or_else(|| Problem::bad(format!("{name}={text} is no number above 0")))
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
    Ok(envelope::success(&text, Some(&info)))
}

/// One of them.
pub(super) fn one(namespace: &Namespace) -> Response<Body> {
    envelope::success(&described(namespace), None)
}

/// Why none can be made, renamed or deleted here.
pub(super) fn in_the_file() -> Problem {
    let message = "namespaces are in the network's file: add, rename or remove a [[kv.namespace]] there, and send SIGHUP";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

fn described(namespace: &Namespace) -> String {
    let mut text = format!("{{\"id\":\"{}\",\"title\":", namespace.id);
    json::text(&mut text, &namespace.name);
    text.push_str(",\"supports_url_encoding\":true}");
    text
}

const PER_PAGE: usize = 20;
const MOST_PER_PAGE: usize = 1000;
