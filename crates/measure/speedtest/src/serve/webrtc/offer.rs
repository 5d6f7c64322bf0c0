//! Parses the SDP offer (RFC 8866) of a page, as JSON.

use str0m::change::SdpOffer;

/// Maximum size. A browser's offer has about 500 bytes.
pub const MOST: usize = 16 * 1024;

/// An offer of a single data channel.
#[derive(Debug)]
pub struct Offer(pub(super) SdpOffer);

/// The reason why an offer is refused.
#[derive(Debug, thiserror::Error)]
pub enum NoOffer {
    /// The offer is too large.
    #[error("an offer has at most {MOST} bytes")]
    TooLong,
    /// Invalid JSON, or no SDP offer.
    #[error("this is no offer of a connection: {0}")]
    Form(#[from] serde_json::Error),
    /// The offer contains other media than one data channel.
    #[error("an offer is of one data channel and of no sound or picture")]
    Media,
}

impl Offer {
    /// Parses an offer: `{"type": "offer", "sdp": "..."}`.
    ///
    /// # Errors
    ///
    /// It is too large, invalid, or contains anything but one data channel.
    pub fn read(json: &[u8]) -> Result<Self, NoOffer> {
        if json.len() > MOST {
            return Err(NoOffer::TooLong);
        }
        // Checked before the library parses it, to limit the attack surface.
        let Text { sdp, .. } = serde_json::from_slice(json)?;
        let mut media = sdp.lines().filter(|line| line.starts_with("m="));
        let is_channel = media.next().is_some_and(|line| line.starts_with("m=application "));
        if !is_channel || media.next().is_some() {
            return Err(NoOffer::Media);
        }
        Ok(Self(serde_json::from_slice(json)?))
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(rename = "type")]
    _kind: String,
    sdp: String,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) const CHROMIUM: &str = include_str!("offer.json");

    fn refused(json: &str) -> String {
        Offer::read(json.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn an_offer_is_of_a_data_channel_only() {
        assert!(Offer::read(CHROMIUM.as_bytes()).is_ok());
        let sound = CHROMIUM
            .replace("m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=audio 9 UDP/TLS/RTP/SAVPF 111");
        assert!(refused(&sound).contains("no sound or picture"));
        let both = CHROMIUM.replace("m=application", "m=audio 9 UDP/TLS/RTP/SAVPF 111\\r\\nm=application");
        assert!(refused(&both).contains("no sound or picture"));
        assert!(refused(&CHROMIUM.replace("offer", "answer")).contains("no offer"));
        assert!(refused("{}").contains("missing field"));
        assert!(refused(&CHROMIUM.replace("v=0", "v=x")).contains("no offer"));
        assert!(refused(&" ".repeat(MOST + 1)).contains("at most"));
    }
}
