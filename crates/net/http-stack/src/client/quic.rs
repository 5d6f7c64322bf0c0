//! QUIC connections of the client: one UDP socket per connection, with stamped datagrams.

mod socket;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use quinn::{
    ClientConfig, ConnectError, Endpoint, EndpointConfig, TokioRuntime, TransportConfig, VarInt,
    ZeroRttAccepted, crypto::rustls::QuicClientConfig,
};

use self::socket::Socket;
use super::{config::Windows, early_data::EarlyData, io::Recorder, tls::Tls, trust::Handshake};
use crate::{Failure, clock::Clock};

pub(crate) struct Quic {
    transport: Arc<TransportConfig>,
    clock: Clock,
}

pub(crate) struct Opened {
    pub(crate) connection: quinn::Connection,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) handshake: Handshake,
    /// Resolves once the handshake is complete, to whether the server accepted early data. `None` if the
    /// handshake is complete.
    pub(crate) accepted: Option<ZeroRttAccepted>,
    socket: Arc<Socket>,
}

impl Opened {
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.socket.local()
    }

    pub(crate) async fn refused(&self) -> Failure {
        self.socket.refused().await
    }
}

impl Quic {
    pub(crate) fn new(windows: Windows, clock: Clock) -> Self {
        let mut transport = TransportConfig::default();
        transport
            .stream_receive_window(VarInt::from_u32(windows.stream))
            .receive_window(VarInt::from_u32(windows.connection))
            // Servers do not push; they open three unidirectional streams for HTTP/3 and QPACK.
            .max_concurrent_bidi_streams(VarInt::from_u32(0))
            .max_concurrent_uni_streams(VarInt::from_u32(SERVER_STREAMS))
            .keep_alive_interval(Some(KEEP_ALIVE));
        Self { transport: Arc::new(transport), clock }
    }

    /// If both the session and the caller allow early data, returns without waiting for the
    /// handshake.
    pub(crate) async fn open(
        &self,
        tls: &Tls,
        host: &str,
        remote: SocketAddr,
        early: EarlyData,
    ) -> Result<Opened, Failure> {
        let (mut config, witness) = tls.for_quic(host)?;
        config.enable_early_data = early == EarlyData::Allowed;
        let handshake = witness.begin();
        let crypto = QuicClientConfig::try_from(config).map_err(|_| Failure::Tls("handshake failed"))?;
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::clone(&self.transport));
        let recorder = Arc::new(Recorder::new(Arc::default(), self.clock));
        let failed = |error: io::Error| Failure::from_io(&error);
        let socket = Arc::new(Socket::to(remote, Arc::clone(&recorder)).map_err(failed)?);
        let shared: Arc<dyn quinn::AsyncUdpSocket> = Arc::clone(&socket) as _;
        let runtime = Arc::new(TokioRuntime);
        let endpoint = Endpoint::new_with_abstract_socket(EndpointConfig::default(), None, shared, runtime)
            .map_err(failed)?;
        let connecting = endpoint.connect_with(config, remote, host).map_err(|error| match error {
            ConnectError::InvalidServerName(_) => Failure::Tls("the host is not a name"),
            _ => Failure::Unreachable,
        })?;
        let connecting = match early {
            EarlyData::Forbidden => connecting,
            EarlyData::Allowed => match connecting.into_0rtt() {
                Ok((connection, accepted)) => {
                    let accepted = Some(accepted);
                    return Ok(Opened { connection, recorder, handshake, accepted, socket });
                }
                Err(connecting) => connecting,
            },
        };
        let connection = tokio::select! {
            connected = connecting => {
                connected.map_err(|error| handshake.refusal().unwrap_or_else(|| Failure::from_quic(&error)))?
            }
            failure = socket.refused() => return Err(failure),
        };
        Ok(Opened { connection, recorder, handshake, accepted: None, socket })
    }
}

const SERVER_STREAMS: u32 = 16;

/// Many servers close idle connections after 30 seconds, and a connection is silent while its
/// server prepares a long response.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
