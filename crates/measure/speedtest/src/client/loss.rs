//! The loss test: numbered datagrams that the server echoes.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    net::UdpSocket,
    time::{MissedTickBehavior, interval, timeout},
};

use crate::wire::{Datagram, Token, Way};

pub(crate) async fn measure(
    server: SocketAddr,
    test: Token,
    messages: u32,
    mut seen: impl FnMut(u32),
) -> io::Result<u32> {
    let any: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0; 16], 0).into() };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(server).await?;
    let mut came_back = CameBack::new(test, messages);
    let mut pace = interval(EVERY);
    // No bursts after a delay of this machine: they would change the measurement.
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut room = [0; Datagram::BYTES + 1];
    let mut next = 0;
    while next < messages {
        tokio::select! {
            _ = pace.tick() => {
                let datagram = Datagram { way: Way::There, test, number: next };
                match socket.send(&datagram.encode()).await {
                    // ICMP port unreachable. The datagram counts as lost.
                    Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => return Err(error),
                    _ => next += 1,
                }
            }
            received = socket.recv(&mut room) => came_back.take(received.ok(), &room, &mut seen),
        }
    }
    while came_back.number < messages {
        match timeout(LATEST, socket.recv(&mut room)).await {
            Ok(received) => came_back.take(received.ok(), &room, &mut seen),
            Err(_) => break,
        }
    }
    Ok(came_back.number)
}

struct CameBack {
    test: Token,
    is_back: Vec<bool>,
    number: u32,
}

impl CameBack {
    fn new(test: Token, messages: u32) -> Self {
        Self { test, is_back: vec![false; messages as usize], number: 0 }
    }

    fn take(&mut self, received: Option<usize>, room: &[u8], seen: &mut impl FnMut(u32)) {
        let Some(length) = received else { return };
        let datagram = Datagram::decode(&room[..length]);
        let ours = datagram.filter(|datagram| datagram.way == Way::Back && datagram.test == self.test);
        let Some(is_back) = ours.and_then(|datagram| self.is_back.get_mut(datagram.number as usize)) else {
            return;
        };
        if !std::mem::replace(is_back, true) {
            self.number += 1;
            seen(self.number);
        }
    }
}

/// 0.32 Mbit/s each way including headers: less than any line used for calls.
const EVERY: Duration = Duration::from_millis(5);

/// Later datagrams are useless for a call, and count as lost.
const LATEST: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_datagram_counts_once_and_strangers_do_not() {
        let test = Token([1; 16]);
        let mut came_back = CameBack::new(test, 3);
        let mut told = Vec::new();
        for (test, way, number) in [
            (test, Way::Back, 2),
            (test, Way::Back, 2),
            (test, Way::There, 1),
            (Token([2; 16]), Way::Back, 1),
            (test, Way::Back, 3),
            (test, Way::Back, 0),
        ] {
            let bytes = Datagram { way, test, number }.encode();
            came_back.take(Some(bytes.len()), &bytes, &mut |number| told.push(number));
        }
        came_back.take(None, &[], &mut |_| ());
        assert_eq!((came_back.number, told), (2, vec![1, 2]));
    }
}
