//! Protocol upgrades on a client connection, for example WebSocket (RFC 9110 section 7.8). The request is
//! forwarded to the origin; if it accepts, bytes are tunnelled in both directions.

use std::io;

use cache::{CacheStatus, Forward, update::clear_connection_fields};
use http::{
    Body, HeaderValue, Response, header,
    tunnel::{Downstream, Upstream},
};
use tokio::io::copy_bidirectional;

use crate::{answer::tell, core::Core, counts::Word, origins::onward, tunnel::UPGRADE, visit::Visit};

impl Core {
    pub(crate) async fn switch(&self, visit: &Visit, body: Body, protocol: &HeaderValue) -> Response<Body> {
        let mut headers = onward(visit, &self.centre);
        headers.insert(header::UPGRADE, protocol.clone());
        headers.insert(header::CONNECTION, UPGRADE);
        let answered = {
            let (client, others) = (&self.clients.switching, self.others());
            self.ask_origins(client, visit, headers, body, self.now(), others.as_ref()).await
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(refusal) => return self.refuse(refusal),
        };
        let status = CacheStatus {
            cache: self.centre.clone(),
            forward: Some(Forward::Bypass),
            forward_status: Some(response.status().as_u16()),
            ..CacheStatus::default()
        };
        let Some(origin) = response.extensions_mut().remove::<Upstream>() else {
            return self.finish(crate::fetch::passed(visit, response), visit, &status, Word::Bypass);
        };
        self.counted().add(Word::Bypass);
        let protocol = response.headers().get(header::UPGRADE).cloned();
        clear_connection_fields(response.headers_mut());
        response.headers_mut().insert(header::CONNECTION, UPGRADE);
        response.headers_mut().extend(protocol.map(|protocol| (header::UPGRADE, protocol)));
        tell(response.headers_mut(), &status);
        response.extensions_mut().insert(Downstream::then(async move |mut visitor| {
            let Some(mut origin) = origin.take() else { return };
            // Both connections close when the tunnel ends. After an error both are reset, so that neither end
            // mistakes a truncated stream for a complete one.
            match copy_bidirectional(&mut visitor, &mut origin).await {
                // Many peers close a TLS connection without close_notify; the tunnelled protocol has a
                // separate end marker.
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
