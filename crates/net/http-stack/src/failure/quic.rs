//! Failures of HTTP/3 requests: the errors of h3 and quinn as phrases.

use h3::{
    error::{Code, ConnectionError, LocalError, StreamError},
    quic::ConnectionErrorIncoming,
};
use rustls::AlertDescription;

use super::{Failure, Stage, alert_phrase};
use crate::http3::Refused;

pub(super) const SILENT: &str = "idle timeout";
pub(super) const RESET: &str = "stateless reset";

impl Failure {
    pub(crate) fn from_h3(error: &StreamError, stage: Stage) -> Self {
        match error {
            StreamError::StreamError { code, .. } | StreamError::RemoteTerminate { code, .. } => {
                Self::Http3(code.value())
            }
            StreamError::ConnectionError { 0: error, .. } => Self::from_h3_connection(error, stage),
            StreamError::HeaderTooBig { .. } => Self::TooLarge,
            StreamError::Undefined { 0: cause, .. } => match cause.downcast_ref() {
                Some(Refused::TooLong) => Self::TooLarge,
                Some(refused) => Self::Http3(refused.code().value()),
                None => Self::Quic("broken"),
            },
            StreamError::RemoteClosing { .. } => Self::Closed(stage),
            _ => Self::Quic("broken"),
        }
    }

    pub(crate) fn from_h3_connection(error: &ConnectionError, stage: Stage) -> Self {
        if error.is_h3_no_error() {
            return Self::Closed(stage);
        }
        match error {
            ConnectionError::Local { error: LocalError::Application { code, .. }, .. } => {
                Self::Http3(code.value())
            }
            ConnectionError::Local { .. } => Self::Closed(stage),
            ConnectionError::Timeout { .. } => Self::Quic(SILENT),
            ConnectionError::Remote {
                0: ConnectionErrorIncoming::ApplicationClose { error_code }, ..
            } => Self::Http3(*error_code),
            ConnectionError::Remote { 0: ConnectionErrorIncoming::Timeout, .. } => Self::Quic(SILENT),
            ConnectionError::Remote { 0: ConnectionErrorIncoming::Undefined(cause), .. } => {
                cause.downcast_ref().map_or(Self::Quic("broken"), Self::from_quic)
            }
            _ => Self::Quic("broken"),
        }
    }

    pub(crate) fn from_quic(error: &quinn::ConnectionError) -> Self {
        use quinn::ConnectionError as Quic;
        match error {
            Quic::VersionMismatch => Self::Quic("no common QUIC version"),
            Quic::TransportError(error) => Self::from_transport(error.code.into()),
            Quic::ConnectionClosed(close) => Self::from_transport(close.error_code.into()),
            Quic::ApplicationClosed(close) => Self::Http3(close.error_code.into_inner()),
            Quic::Reset => Self::Quic(RESET),
            Quic::TimedOut => Self::Quic(SILENT),
            Quic::LocallyClosed => Self::Closed(Stage::Head),
            Quic::CidsExhausted => Self::Quic("out of connection IDs"),
        }
    }

    /// Converts the codes of RFC 9000 section 20.1; those from 0x100 are TLS alerts.
    fn from_transport(code: u64) -> Self {
        match code {
            0x0 => Self::Closed(Stage::Head),
            0x1 => Self::Quic("INTERNAL_ERROR"),
            0x2 => Self::Quic("CONNECTION_REFUSED"),
            0x3 => Self::Quic("FLOW_CONTROL_ERROR"),
            0x4 => Self::Quic("STREAM_LIMIT_ERROR"),
            0x5 => Self::Quic("STREAM_STATE_ERROR"),
            0x6 => Self::Quic("FINAL_SIZE_ERROR"),
            0x7 => Self::Quic("FRAME_ENCODING_ERROR"),
            0x8 => Self::Quic("TRANSPORT_PARAMETER_ERROR"),
            0xa => Self::Quic("PROTOCOL_VIOLATION"),
            0xb => Self::Quic("INVALID_TOKEN"),
            0xd => Self::Quic("CRYPTO_BUFFER_EXCEEDED"),
            0x100..=0x1ff => {
                let alert = u8::try_from(code & 0xff).unwrap_or_default();
                Self::Tls(alert_phrase(AlertDescription::from(alert)))
            }
            _ => Self::Quic("an error code of its own"),
        }
    }
}

/// The names of RFC 9114 section 8.1 and RFC 9204 section 6.
pub(super) fn http3_phrase(code: u64) -> &'static str {
    match Code::from(code) {
        Code::H3_NO_ERROR => "H3_NO_ERROR",
        Code::H3_GENERAL_PROTOCOL_ERROR => "H3_GENERAL_PROTOCOL_ERROR",
        Code::H3_INTERNAL_ERROR => "H3_INTERNAL_ERROR",
        Code::H3_STREAM_CREATION_ERROR => "H3_STREAM_CREATION_ERROR",
        Code::H3_CLOSED_CRITICAL_STREAM => "H3_CLOSED_CRITICAL_STREAM",
        Code::H3_FRAME_UNEXPECTED => "H3_FRAME_UNEXPECTED",
        Code::H3_FRAME_ERROR => "H3_FRAME_ERROR",
        Code::H3_EXCESSIVE_LOAD => "H3_EXCESSIVE_LOAD",
        Code::H3_ID_ERROR => "H3_ID_ERROR",
        Code::H3_SETTINGS_ERROR => "H3_SETTINGS_ERROR",
        Code::H3_MISSING_SETTINGS => "H3_MISSING_SETTINGS",
        Code::H3_REQUEST_REJECTED => "H3_REQUEST_REJECTED",
        Code::H3_REQUEST_CANCELLED => "H3_REQUEST_CANCELLED",
        Code::H3_REQUEST_INCOMPLETE => "H3_REQUEST_INCOMPLETE",
        Code::H3_MESSAGE_ERROR => "H3_MESSAGE_ERROR",
        Code::H3_CONNECT_ERROR => "H3_CONNECT_ERROR",
        Code::H3_VERSION_FALLBACK => "H3_VERSION_FALLBACK",
        Code::QPACK_DECOMPRESSION_FAILED => "QPACK_DECOMPRESSION_FAILED",
        Code::QPACK_ENCODER_STREAM_ERROR => "QPACK_ENCODER_STREAM_ERROR",
        Code::QPACK_DECODER_STREAM_ERROR => "QPACK_DECODER_STREAM_ERROR",
        _ => "an error code of its own",
    }
}
