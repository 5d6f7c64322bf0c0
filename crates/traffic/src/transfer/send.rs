//! The sender: greets, writes as fast as the kernel takes it, and waits for the receipt as long as there is hope.

use std::{
    io::{self, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use probe::Stop;
use tcp::Clock;

use super::wire::nanos;
use super::{
    Error, Sending, Summary,
    connect::connect,
    telemetry::Telemetry,
    wire::{CALL, Greeting, LONGEST_REPLY, Line, Receipt, Reply, SCHEMA, is_pause, say},
};
use crate::payload::Pattern;

/// Sends to `server` ("HOST:PORT") and says what it came to. Calls `watch` with the bytes sent so far, up to ten
/// times a second. Blocks.
///
/// Asked to stop, it sends nothing more and waits for the receipt; asked twice, it gives that up too. A transfer without
/// a receipt is a [`Summary`] that says why.
///
/// # Errors
/// When there is no connection to a server that is ready.
pub fn send(server: &str, sending: &Sending, watch: impl FnMut(u64), stop: &Stop) -> Result<Summary, Error> {
    if !(Sending::LEAST_INTERVAL..=Sending::LONGEST_INTERVAL).contains(&sending.interval) {
        return Err(Error::Interval);
    }
    if let Some(duration) = sending.lasts().filter(|duration| *duration <= sending.omit) {
        let [duration, omit] = [duration, sending.omit].map(units::duration::show);
        return Err(Error::Omit { duration, omit });
    }
    let (stream, address) = connect(server, sending, stop)?;
    greet(&stream, address, sending, stop)?;
    let clock = Clock::start();
    let sender = Sender {
        telemetry: Telemetry::new(&stream, sending.protocol),
        stream,
        sending,
        stop,
        watch,
        clock,
        sent: 0,
        end: 0,
        looked: 0,
        weighed: 0,
        progress: nanos(clock.now()),
    };
    Ok(sender.run(address))
}

/// Says what is wanted, and waits until the server is ready for it.
fn greet(stream: &TcpStream, address: SocketAddr, sending: &Sending, stop: &Stop) -> Result<(), Error> {
    let refused = |why: String| Error::Refused { address, why };
    let greeting = Greeting {
        schema: SCHEMA.to_owned(),
        interval_ns: nanos(sending.interval),
        omit_ns: nanos(sending.omit),
    };
    say(stream, &greeting, || stop.is_asked()).map_err(|error| refused(error.to_string()))?;
    let (clock, mut line) = (Clock::start(), Line::new(LONGEST_REPLY));
    while nanos(clock.now()) < nanos(READY) {
        match line.read(stream) {
            Ok(Some(Reply::Ready)) => return Ok(()),
            Ok(Some(Reply::Refused(why))) => return Err(refused(why)),
            Err(error) if is_pause(&error) => {}
            Ok(None) => {}
            Ok(Some(Reply::Received(_))) | Err(_) => {
                return Err(refused("it does not speak as `longhaul transfer serve` does".to_owned()));
            }
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
    }
    Err(refused(format!("it did not say within {} that it is ready", units::duration::show(READY))))
}

struct Sender<'s, W> {
    stream: TcpStream,
    sending: &'s Sending,
    stop: &'s Stop,
    watch: W,
    telemetry: Telemetry,
    clock: Clock,
    /// Bytes that the kernel took.
    sent: u64,
    /// 1 when the payload has ended: its end takes a place in TCP's sequence as a byte does.
    end: u64,
    /// When the kernel was asked last, how it goes and how much memory it holds.
    looked: u64,
    weighed: u64,
    /// When the other end had last acknowledged something new.
    progress: u64,
}

impl<W: FnMut(u64)> Sender<'_, W> {
    fn run(mut self, server: SocketAddr) -> Summary {
        let receipt =
            self.pump().and_then(|()| self.receipt()).map(|receipt| (receipt, nanos(self.clock.now())));
        Summary::of(server, self.sending, self.sent, self.telemetry, receipt)
    }

    /// Writes until time or bytes are up. If the connection ends before, why.
    fn pump(&mut self) -> Result<(), String> {
        let most = self.sending.bytes.map_or(u64::MAX, |bytes| bytes.0);
        let duration = self.sending.lasts();
        let end =
            duration.map_or(u64::MAX, |duration| nanos(self.clock.now()).saturating_add(nanos(duration)));
        let mut pattern = Pattern::new();
        while self.sent < most && nanos(self.clock.now()) < end && !self.stop.is_asked() {
            let piece = pattern.at(self.sent);
            let room = usize::try_from(most - self.sent).unwrap_or(usize::MAX);
            match self.stream.write(&piece[..piece.len().min(room)]) {
                Ok(written) => {
                    self.sent += written as u64;
                    self.weigh();
                }
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error.to_string()),
            }
            self.look();
            // With a time to end at, a dead path has until then to come back, and the grace from there.
            if duration.is_none() {
                self.check_hope(self.progress)?;
            }
        }
        Ok(())
    }

    /// Ends the payload and waits for the receipt; if there is none, why.
    fn receipt(&mut self) -> Result<Receipt, String> {
        self.stream.shutdown(Shutdown::Write).map_err(|error| error.to_string())?;
        self.end = 1;
        let (ended, mut line) = (nanos(self.clock.now()), Line::new(LONGEST_REPLY));
        loop {
            match line.read(&self.stream) {
                Ok(Some(Reply::Received(receipt))) if receipt.bytes <= self.sent => {
                    self.telemetry.look(&self.stream, self.sent + self.end);
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

    /// Asks the kernel how much memory it holds, now and then; the first time at once, for a transfer may be short.
    fn weigh(&mut self) {
        let now = nanos(self.clock.now());
        if self.telemetry.memory.is_none() || now - self.weighed >= nanos(WEIGHING) {
            self.weighed = now;
            self.telemetry.weigh(&self.stream);
        }
    }

    /// Asks the kernel how it goes, now and then.
    fn look(&mut self) {
        let now = nanos(self.clock.now());
        if now - self.looked < nanos(CALL) {
            return;
        }
        self.looked = now;
        let before = self.telemetry.acknowledged;
        self.telemetry.look(&self.stream, self.sent + self.end);
        if self.telemetry.acknowledged > before {
            self.progress = now;
        }
        (self.watch)(self.sent);
    }

    /// Fails when nothing has moved since then for longer than the grace, or when somebody insists on an end.
    fn check_hope(&self, since: u64) -> Result<(), String> {
        if self.stop.is_insisted() {
            return Err("stopped before the server's receipt had come".to_owned());
        }
        if nanos(self.clock.now()).saturating_sub(since) > nanos(self.sending.grace) {
            let grace = units::duration::show(self.sending.grace);
            return Err(format!("nothing was acknowledged and no receipt came for {grace}"));
        }
        Ok(())
    }
}

/// From one look at the memory to the next, at least.
const WEIGHING: Duration = Duration::from_millis(10);

/// How long a server may take to be ready: a few lost packets on the longest path.
const READY: Duration = Duration::from_secs(20);
