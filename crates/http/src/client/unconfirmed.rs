//! A QUIC connection whose handshake is not over, and the one request that goes ahead of it (0-RTT, RFC 9001 section 4.6).

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response};
use quinn::ZeroRttAccepted;

use super::{
    early::Early,
    http3::{Driver, Http3},
    on_shared,
    quic::Opened,
    refusal::again,
    shared::Shared,
    trace::Trace,
};
use crate::{Body, Failure, Stage, clock::Clock};

/// The connection.
pub(crate) struct Unconfirmed {
    http3: Http3,
    driver: Driver,
    opened: Opened,
    accepted: ZeroRttAccepted,
    way: Way,
}

/// Where it leads, and what its time is counted on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) remote: SocketAddr,
    pub(crate) clock: Clock,
}

impl Unconfirmed {
    /// Speaks HTTP/3 at once, as far as the server allowed in the session before.
    pub(crate) async fn begin(opened: Opened, accepted: ZeroRttAccepted, way: Way) -> Result<Self, Failure> {
        let (connection, recorder) = (opened.connection.clone(), Arc::clone(&opened.recorder));
        let (http3, driver) = Http3::begin(connection, recorder, way.remote, way.clock).await?;
        Ok(Self { http3, driver, opened, accepted, way })
    }

    /// Makes the request, and once more after the handshake if the server does not take it ahead of that.
    pub(crate) async fn exchange(
        self,
        origin: &crate::Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let Self { http3, driver, opened, accepted, way } = self;
        let spare = again(&request);
        let shared = Shared::Http3(http3.clone());
        let mut exchange = Box::pin(on_shared(&shared, origin, request, trace));
        let is_accepted = tokio::select! {
            biased;
            is_accepted = accepted => is_accepted,
            failure = opened.refused() => return Err(failure),
            outcome = exchange.as_mut() => return outcome.map_err(Failure::from),
        };
        if is_accepted {
            driver.start();
            let response = exchange.await.map_err(Failure::from)?;
            (trace.early, trace.resumed) = (Some(Early::Accepted), Some(true));
            linger(opened.connection, http3);
            return Ok(response);
        }
        drop(exchange);
        let Opened { connection, recorder, handshake, .. } = opened;
        if let Some(why) = connection.close_reason() {
            return Err(handshake.refusal().unwrap_or_else(|| Failure::from_quic(&why)));
        }
        trace.send_again();
        let now = way.clock.now();
        trace.quic = recorder.wire().began().map(|began| now.saturating_sub(began));
        trace.resumed = handshake.is_resumed();
        // The streams of before are void, that of settings among them, but not the connection. The driver goes first: it would end the
        // connection with its last stream.
        drop(driver);
        recorder.wire().start_over();
        let anew = Http3::start(connection, recorder, way.remote, way.clock).await?;
        let request = spare.ok_or(Failure::Closed(Stage::Head))?;
        on_shared(&Shared::Http3(anew), origin, request, trace).await.map_err(Failure::from)
    }
}

/// Keeps the connection until the server has sent what the next session is resumed with, which follows the end of the handshake a round
/// trip behind the answer.
fn linger(connection: quinn::Connection, http3: Http3) {
    tokio::spawn(async move {
        tokio::time::sleep((ROUND_TRIPS * connection.rtt()).clamp(LEAST, MOST)).await;
        drop(http3);
    });
}

/// One to the server and back, and as much again for the server's delay.
const ROUND_TRIPS: u32 = 2;
const LEAST: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(1);
