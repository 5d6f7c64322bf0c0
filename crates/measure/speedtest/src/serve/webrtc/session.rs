//! A WebRTC connection of a page that carries the datagrams of its test. Time is supplied by the
//! caller.

use std::{
    net::{IpAddr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use str0m::{
    Candidate, Event, Input, Output, Rtc, RtcConfig, RtcError,
    change::SdpAnswer,
    crypto::{CryptoProvider, dtls::DtlsCert},
    net::{Protocol, Receive},
};

use super::offer::Offer;
use crate::{
    client_prefix::household,
    wire::{Datagram, Token, Way},
};

#[derive(Clone)]
pub(super) struct Identity {
    pub(super) certificate: DtlsCert,
    pub(super) crypto: Arc<CryptoProvider>,
}

pub(super) struct Session {
    rtc: Rtc,
    test: Token,
    /// Packets from other addresses are ignored.
    from: IpAddr,
    here: SocketAddr,
    begun: Instant,
    heard: Instant,
}

pub(super) type Sending = (SocketAddr, Vec<u8>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Or earlier, if a packet arrives.
    At(Instant),
    Over,
}

impl Session {
    pub(super) fn begin(
        offer: Offer,
        identity: &Identity,
        (test, from): (Token, IpAddr),
        reachable: &[SocketAddr],
        now: Instant,
    ) -> Result<(Self, SdpAnswer), RtcError> {
        let config = RtcConfig::new()
            .set_crypto_provider(Arc::clone(&identity.crypto))
            .set_dtls_cert(identity.certificate.clone())
            .set_ice_lite(true)
            .clear_codecs()
            .set_sctp_max_buffered_amount(MOST_BUFFERED)
            .set_sctp_max_message_size(MOST_MESSAGE);
        let mut rtc = config.build(now);
        for address in reachable {
            rtc.add_local_candidate(Candidate::host(*address, "udp")?);
        }
        let answer = rtc.sdp_api().accept_offer(offer.0)?;
        let here = reachable.first().copied().unwrap_or_else(|| (from, 0).into());
        Ok((Self { rtc, test, from, here, begun: now, heard: now }, answer))
    }

    pub(super) fn is_of(&self, home: IpAddr) -> bool {
        household(self.from) == home
    }

    pub(super) fn take(&mut self, now: Instant, source: SocketAddr, bytes: &[u8]) -> bool {
        if self.from != source.ip() {
            return false;
        }
        let Ok(contents) = bytes.try_into() else { return false };
        let receive = Receive { proto: Protocol::Udp, source, destination: self.here, contents };
        let input = Input::Receive(now, receive);
        let is_ours = self.rtc.accepts(&input);
        if is_ours {
            self.heard = now;
            self.input(input);
        }
        is_ours
    }

    /// `may` decides whether another datagram of a test may be echoed.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        mut may: impl FnMut(Token, IpAddr) -> bool,
        sending: &mut Vec<Sending>,
    ) -> Next {
        if self.is_over(now) {
            return Next::Over;
        }
        // A panic of the library caused by a client's packets ends only this connection.
        let advanced = catch_unwind(AssertUnwindSafe(|| self.poll(now, &mut may, sending)));
        match advanced {
            Ok(Ok(at)) if self.rtc.is_alive() => Next::At(at.min(self.ends())),
            _ => Next::Over,
        }
    }

    fn poll(
        &mut self,
        now: Instant,
        may: &mut impl FnMut(Token, IpAddr) -> bool,
        sending: &mut Vec<Sending>,
    ) -> Result<Instant, RtcError> {
        loop {
            match self.rtc.poll_output()? {
                Output::Timeout(at) if at > now => return Ok(at),
                Output::Timeout(_) => self.rtc.handle_input(Input::Timeout(now))?,
                Output::Transmit(transmit) => {
                    sending.push((transmit.destination, transmit.contents.to_vec()));
                }
                Output::Event(Event::ChannelData(came)) => {
                    let asked = Datagram::decode(&came.data);
                    let asked = asked.filter(|asked| asked.way == Way::There && asked.test == self.test);
                    if let Some(asked) = asked.filter(|asked| may(asked.test, self.from)) {
                        let back = Datagram { way: Way::Back, ..asked };
                        if let Some(mut channel) = self.rtc.channel(came.id) {
                            // If the send buffer is full, the datagram is lost, as in a router.
                            let _ = channel.write(true, &back.encode())?;
                        }
                    }
                }
                Output::Event(_) => (),
            }
        }
    }

    fn input(&mut self, input: Input<'_>) {
        let taken = catch_unwind(AssertUnwindSafe(|| self.rtc.handle_input(input)));
        if !matches!(taken, Ok(Ok(()))) {
            self.rtc.disconnect();
        }
    }

    fn ends(&self) -> Instant {
        (self.begun + LIFE).min(self.heard + SILENCE)
    }

    fn is_over(&self, now: Instant) -> bool {
        now >= self.ends() || !self.rtc.is_alive()
    }
}

/// The maximum number of datagrams of a test, at their rate, plus time for a slow line.
const LIFE: Duration = Duration::from_secs(120);
/// Browsers send connectivity checks every few seconds.
const SILENCE: Duration = Duration::from_secs(15);
/// About a hundred echoed datagrams.
const MOST_BUFFERED: usize = 64 << 10;
/// Datagrams have 172 bytes.
const MOST_MESSAGE: u32 = 1024;
