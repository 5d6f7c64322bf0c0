//! A QUIC connection with a pending handshake, and the request sent as early data (0-RTT, RFC 9001
//! section 4.6).

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response};
use quinn::ZeroRttAccepted;

use super::{
    early_data::Early,
    http3::{Driver, Http3},
    multiplexed::Multiplexed,
    on_shared,
    quic::Opened,
    send_error::again,
    trace::Trace,
};
use crate::{Body, Failure, Stage, clock::Clock};

pub(crate) struct ZeroRtt {
    http3: Http3,
    driver: Driver,
    opened: Opened,
    accepted: ZeroRttAccepted,
    way: ZeroRttState,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ZeroRttState {
    pub(crate) remote: SocketAddr,
    pub(crate) clock: Clock,
}

impl ZeroRtt {
    /// Starts HTTP/3 before the handshake, with the transport parameters of the earlier session.
    pub(crate) async fn begin(
        opened: Opened,
        accepted: ZeroRttAccepted,
        way: ZeroRttState,
    ) -> Result<Self, Failure> {
        let (connection, recorder) = (opened.connection.clone(), Arc::clone(&opened.recorder));
        let (http3, driver) = Http3::begin(connection, recorder, way.remote, way.clock).await?;
        Ok(Self { http3, driver, opened, accepted, way })
    }

    /// Sends the request again after the handshake if the server rejects the early data.
    pub(crate) async fn exchange(
        self,
        origin: &crate::Origin,
        request: Request<Body>,
        trace: &mut Trace,
    ) -> Result<Response<Body>, Failure> {
        let Self { http3, driver, opened, accepted, way } = self;
        let spare = again(&request);
        let shared = Multiplexed::Http3(http3.clone());
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
        // After a rejection all streams are invalid, including the control stream, but the connection is
        // not. The driver is dropped first: it would close the connection with its last stream.
        drop(driver);
        recorder.wire().start_over();
        let anew = Http3::start(connection, recorder, way.remote, way.clock).await?;
        let request = spare.ok_or(Failure::Closed(Stage::Head))?;
        on_shared(&Multiplexed::Http3(anew), origin, request, trace).await.map_err(Failure::from)
    }
}

/// Keeps the connection until the session ticket has arrived, which follows the handshake one round trip
/// after the response.
fn linger(connection: quinn::Connection, http3: Http3) {
    tokio::spawn(async move {
        tokio::time::sleep((ROUND_TRIPS * connection.rtt()).clamp(LEAST, MOST)).await;
        drop(http3);
    });
}

/// One round trip, and another one as a margin for the server's delay.
const ROUND_TRIPS: u32 = 2;
const LEAST: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(1);
