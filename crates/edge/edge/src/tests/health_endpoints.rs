//! `/healthz` and `/readyz` of the admin address.

use http_stack::{Body, Method, Request, StatusCode};

use super::{Fixture, with};
use crate::admin::server;

impl Fixture {
    async fn probe(&self, method: Method, path: &str) -> StatusCode {
        let mut request = Request::new(Body::empty());
        (*request.method_mut(), *request.uri_mut()) = (method, path.parse().unwrap());
        server::serve(&self.node.node, request).await.status()
    }
}

#[tokio::test]
async fn readiness_ends_when_a_handover_begins() {
    let fixture = Fixture::new("", async |_, _| with("max-age=60", "it"));
    for method in [Method::GET, Method::HEAD] {
        assert_eq!(fixture.probe(method.clone(), "/healthz").await, StatusCode::OK);
        assert_eq!(fixture.probe(method, "/readyz").await, StatusCode::OK);
    }
    fixture.node.hand_over();
    assert_eq!(fixture.probe(Method::GET, "/healthz").await, StatusCode::OK);
    assert_eq!(fixture.probe(Method::GET, "/readyz").await, StatusCode::SERVICE_UNAVAILABLE);
}
