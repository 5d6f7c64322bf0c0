//! Admin token: the scheme is case-insensitive, and a 401 has a challenge.

use http_stack::{Body, Method, Request, token::TokenHash};

use super::{Fixture, with};
use crate::admin::server;

#[tokio::test]
async fn auth_scheme_is_case_insensitive_and_named_in_401() {
    let zone = format!("[admin]\ntokens = [\"{}\"]\n", TokenHash::of(b"secret"));
    let fixture = Fixture::new(&zone, async |_, _| with("max-age=60", "it"));
    for (authorization, status) in [
        (Some("Bearer secret"), 200),
        (Some("bearer secret"), 200),
        (Some("BEARER  secret"), 200),
        (Some("Bearer SECRET"), 401),
        (Some("Bearersecret"), 401),
        (Some("Bearer"), 401),
        (Some("Basic secret"), 401),
        (None, 401),
    ] {
        for (method, path, body) in [
            (Method::POST, "/client/v4/zones/z/purge_cache", "{\"purge_everything\":true}"),
            (Method::PATCH, "/client/v4/zones/z/argo/tiered_caching", "{\"value\":\"off\"}"),
        ] {
            let mut request = Request::new(Body::whole(body));
            (*request.method_mut(), *request.uri_mut()) = (method.clone(), path.parse().unwrap());
            if let Some(authorization) = authorization {
                request.headers_mut().insert("authorization", authorization.parse().unwrap());
            }
            let response = server::serve(&fixture.node.node, request).await;
            assert_eq!(response.status(), status, "{authorization:?} {method} {path}");
            let challenge = response.headers().get("www-authenticate");
            assert_eq!(challenge.is_some_and(|scheme| scheme == "Bearer"), status == 401);
        }
    }
}
