//! The sender: greets, sends the payload, and waits for the receipt within a grace period.

use std::{
    io,
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use tcp::Clock;

use super::{
    Error, Sending, Stopping, Summary,
    connect::connect,
    telemetry::Telemetry,
    wire::{Greeting, LONGEST_REPLY, Line, Receipt, Reply, SCHEMA, nanos, say},
};
use crate::{
    bulk::Bulk,
    socket::{self, is_pause},
    wait,
};

/// Sends to `server` ("HOST:PORT") and blocks, polling `stop` for an early end. A transfer without
/// a receipt is a [`Summary`] with the reason.
///
/// # Errors
/// If there is no connection to a server that is ready.
pub fn send(
    server: &str,
    sending: &Sending,
    watch: impl FnMut(u64),
    stop: impl Fn() -> Stopping,
) -> Result<Summary, Error> {
    if !(Sending::LEAST_INTERVAL..=Sending::LONGEST_INTERVAL).contains(&sending.interval) {
        return Err(Error::Interval);
    }
    if let Some(duration) = sending.lasts().filter(|duration| *duration <= sending.omit) {
        let [duration, omit] = [duration, sending.omit].map(units::duration::show);
        return Err(Error::Omit { duration, omit });
    }
    let (stream, address) = connect(server, sending, &stop)?;
    socket::block_briefly(&stream)
        .map_err(|source| Error::System { what: "prepare a connection", source })?;
    greet(&stream, address, sending, &stop)?;
    let clock = Clock::start();
    let sender = Sender {
        telemetry: Telemetry::new(&stream, sending.protocol),
        stream,
        sending,
        stop,
        watch,
        clock,
        bulk: Bulk::new(sending.bytes.map(|bytes| bytes.0)),
        end: 0,
        looked: Duration::ZERO,
        weighed: Duration::ZERO,
        progress: clock.now(),
    };
    Ok(sender.run(address))
}

fn greet(
    stream: &TcpStream,
    address: SocketAddr,
    sending: &Sending,
    stop: &impl Fn() -> Stopping,
) -> Result<(), Error> {
    let refused = |why: String| Error::Refused { address, why };
    let greeting = Greeting {
        schema: SCHEMA.to_owned(),
        interval_ns: nanos(sending.interval),
        omit_ns: nanos(sending.omit),
    };
    say(stream, &greeting, || stop() != Stopping::No).map_err(|error| refused(error.to_string()))?;
    let (clock, mut line) = (Clock::start(), Line::new(LONGEST_REPLY));
    while clock.now() < READY {
        match line.read(stream) {
            Ok(Some(Reply::Ready)) => return Ok(()),
            Ok(Some(Reply::Refused(why))) => return Err(refused(why)),
            Err(error) if is_pause(&error) => {}
            Ok(None) => {}
            Ok(Some(Reply::Received(_))) | Err(_) => {
                return Err(refused("it does not speak as `longhaul transfer serve` does".to_owned()));
            }
        }
        if stop() != Stopping::No {
            return Err(Error::Stopped);
        }
    }
    Err(refused(format!("it was not ready within {}", units::duration::show(READY))))
}

struct Sender<'s, W, S> {
    stream: TcpStream,
    sending: &'s Sending,
    stop: S,
    watch: W,
    telemetry: Telemetry,
    clock: Clock,
    bulk: Bulk,
    /// 1 after the end of the payload: the FIN uses one sequence number.
    end: u64,
    looked: Duration,
    weighed: Duration,
    progress: Duration,
}

impl<W: FnMut(u64), S: Fn() -> Stopping> Sender<'_, W, S> {
    fn run(mut self, server: SocketAddr) -> Summary {
        let receipt = self.pump().and_then(|()| self.receipt());
        let receipt = receipt.map(|receipt| (receipt, nanos(self.clock.now())));
        Summary::of(server, self.sending, self.bulk.sent(), self.telemetry, receipt)
    }

    fn pump(&mut self) -> Result<(), String> {
        let duration = self.sending.lasts();
        let end = duration.map(|duration| self.clock.now().saturating_add(duration));
        let is_in_time = |now: Duration| end.is_none_or(|end| now < end);
        while !self.bulk.is_over() && is_in_time(self.clock.now()) && (self.stop)() == Stopping::No {
            if self.bulk.write(&self.stream).map_err(|error| error.to_string())? > 0 {
                self.weigh();
            }
            self.look();
            if duration.is_none() {
                self.check_hope(self.progress)?;
            }
        }
        Ok(())
    }

    fn receipt(&mut self) -> Result<Receipt, String> {
        self.stream.shutdown(Shutdown::Write).map_err(|error| error.to_string())?;
        self.end = 1;
        let (ended, mut line) = (self.clock.now(), Line::new(LONGEST_REPLY));
        loop {
            match line.read(&self.stream) {
                Ok(Some(Reply::Received(receipt))) if receipt.bytes <= self.bulk.sent() => {
                    self.telemetry.look(&self.stream, self.bulk.sent() + self.end);
                    return Ok(receipt);
                }
                Ok(None) => {}
                Err(error) if is_pause(&error) => {}
                Ok(Some(_)) => return Err("the server's receipt makes no sense".to_owned()),
                Err(error) => {
                    return Err(match error.kind() {
                        io::ErrorKind::UnexpectedEof => "the server ended the connection".to_owned(),
                        io::ErrorKind::InvalidData => "the server's receipt makes no sense".to_owned(),
                        _ => error.to_string(),
                    });
                }
            }
            self.look();
            self.check_hope(ended.max(self.progress))?;
        }
    }

    /// The first sample is immediate, because a transfer may be short.
    fn weigh(&mut self) {
        let now = self.clock.now();
        if self.telemetry.memory.is_none() || now - self.weighed >= WEIGHING {
            self.weighed = now;
            self.telemetry.weigh(&self.stream);
        }
    }

    fn look(&mut self) {
        let now = self.clock.now();
        if now - self.looked < wait::CALL {
            return;
        }
        self.looked = now;
        let before = self.telemetry.acknowledged;
        self.telemetry.look(&self.stream, self.bulk.sent() + self.end);
        if self.telemetry.acknowledged > before {
            self.progress = now;
        }
        (self.watch)(self.bulk.sent());
    }

    /// Fails without progress since `since` for longer than the grace period, or if the caller
    /// insists on the end.
    fn check_hope(&self, since: Duration) -> Result<(), String> {
        if (self.stop)() == Stopping::Insisted {
            return Err("stopped before the server's receipt arrived".to_owned());
        }
        if self.clock.now().saturating_sub(since) > self.sending.grace {
            let grace = units::duration::show(self.sending.grace);
            return Err(format!("nothing was acknowledged and no receipt arrived for {grace}"));
        }
        Ok(())
    }
}

const WEIGHING: Duration = Duration::from_millis(10);

/// A few lost packets on the longest path.
const READY: Duration = Duration::from_secs(20);
