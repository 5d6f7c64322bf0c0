//! Protocol upgrades on a client connection, for example WebSocket (RFC 9110 section 7.8). If the
//! origin accepts, bytes are tunnelled in both directions.

use std::{io, sync::Arc};

use http_cache::{CacheStatus, Forward, hop_by_hop::remove_hop_by_hop};
use http_stack::{
    Body, HeaderValue, Response, header,
    tunnel::{Downstream, Upstream},
};
use tokio::io::copy_bidirectional;

use crate::{
    peers::tunnel::UPGRADE,
    request::context::RequestContext,
    response::build::add_cache_status,
    server::worker_state::WorkerState,
    telemetry::counters::CacheResult,
    upstream::{balance::in_flight_permit::InFlightPermit, origins::upstream_headers},
};

impl WorkerState {
    pub(crate) async fn upgrade(
        &self,
        context: &RequestContext,
        body: Body,
        protocol: &HeaderValue,
    ) -> Response<Body> {
        let mut headers = upstream_headers(context, &self.data_centre);
        headers.insert(header::UPGRADE, protocol.clone());
        headers.insert(header::CONNECTION, UPGRADE);
        let result = {
            let (client, peers) = (&self.connectors.upgrades, self.peers());
            self.fetch_from_origins(client, context, headers, body, self.now(), peers.as_ref()).await
        };
        let mut response = match result {
            Ok(response) => response,
            Err(rejection) => return self.reject(rejection),
        };
        let status = CacheStatus {
            cache: self.data_centre.clone(),
            forward: Some(Forward::Bypass),
            forward_status: Some(response.status().as_u16()),
            ..CacheStatus::default()
        };
        let Some(origin) = response.extensions_mut().remove::<Upstream>() else {
            return self.finish(
                crate::cache::miss::forwarded_response(context, response),
                context,
                &status,
                CacheResult::Bypass,
            );
        };
        let lease = response.extensions_mut().remove::<Arc<InFlightPermit>>();
        self.record_result(CacheResult::Bypass, &mut response);
        let protocol = response.headers().get(header::UPGRADE).cloned();
        remove_hop_by_hop(response.headers_mut());
        response.headers_mut().insert(header::CONNECTION, UPGRADE);
        response.headers_mut().extend(protocol.map(|protocol| (header::UPGRADE, protocol)));
        add_cache_status(response.headers_mut(), &status);
        response.extensions_mut().insert(Downstream::then(async move |mut visitor| {
            let _lease = lease;
            let Some(mut origin) = origin.take() else { return };
            // After an error both connections are reset, so that neither end mistakes a truncated
            // stream for a complete one.
            match copy_bidirectional(&mut visitor, &mut origin).await {
                // Many peers close a TLS connection without close_notify; the tunnelled protocol
                // has a separate end marker.
                Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    visitor.reset();
                    origin.reset();
                }
                Ok(_) | Err(_) => {}
            }
        }));
        response
    }
}
