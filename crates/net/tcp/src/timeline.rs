//! Periodic samples of one connection, and of its network namespace's counters.
//!
//! A sample requests one socket from the kernel, which takes about 10 us. The counters are in three small
//! files that take ten times as long to read, so samples in quick succession omit them. Counters cover the
//! whole namespace, including other programs.

use std::{ops::ControlFlow, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    clock::Clock,
    counters::{Counters, Reading, Source},
    diag::{Diag, Key, Memory, Model, State},
    error::Error,
    info::Info,
};

/// One sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Time since the start of the timeline, ms.
    pub t_ms: f64,
    /// The connection's state.
    pub state: State,
    /// Bytes received and not read by the application.
    pub receive_queue_bytes: u32,
    /// Bytes written by the application and not acknowledged.
    pub send_queue_bytes: u32,
    /// The `tcp_info`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_info: Option<Info>,
    /// Its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skmem: Option<Memory>,
    /// The state of its congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// Counters that have increased since they were last read, with the differences. Absent if that was less
    /// than 15 ms before, like the next field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// Memory of all TCP sockets of the machine, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_memory_bytes: Option<u64>,
}

/// Samples one connection repeatedly.
#[derive(Debug)]
pub struct Timeline {
    diag: Diag,
    source: Source,
    key: Key,
    clock: Clock,
    first: Reading,
    before: Reading,
    due: Duration,
}

impl Timeline {
    /// A timeline of a connection in the calling thread's network namespace, starting now.
    pub fn of(key: Key) -> Result<Self, Error> {
        let (diag, mut source) = (Diag::open()?, Source::open()?);
        let first = source.read()?;
        Ok(Self {
            diag,
            source,
            key,
            clock: Clock::start(),
            before: first.clone(),
            first,
            due: Duration::ZERO,
        })
    }

    /// The clock of its samples.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The counters since the start, including zeros.
    pub fn counters(&mut self) -> Result<Counters, Error> {
        Ok(self.source.read()?.since(&self.first))
    }

    /// Takes a sample; `None` if the connection no longer exists.
    pub fn look(&mut self) -> Result<Option<Sample>, Error> {
        let now = self.clock.now();
        let Some(socket) = self.diag.again(&self.key)? else { return Ok(None) };
        let counters = if now >= self.due { Some(self.count(now)?) } else { None };
        Ok(Some(Sample {
            t_ms: millis(now),
            state: socket.state,
            receive_queue_bytes: socket.receive_queue,
            send_queue_bytes: socket.send_queue,
            tcp_info: socket.info,
            skmem: socket.memory,
            model: socket.model,
            tcp_memory_bytes: counters.as_ref().and(self.before.memory_bytes),
            counters,
        }))
    }

    fn count(&mut self, now: Duration) -> Result<Counters, Error> {
        self.due = now + COUNTERS_EVERY;
        self.source.renew(&mut self.before)
    }

    /// Calls `each` with a sample every `interval`, until it breaks or the connection ends.
    pub fn watch(
        &mut self,
        interval: Duration,
        mut each: impl FnMut(Sample) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut due = self.clock.now();
        while let Some(sample) = self.look()? {
            if each(sample).is_break() {
                break;
            }
            let missed = self.clock.now().saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
            due += interval * u32::try_from(missed + 1).unwrap_or(u32::MAX);
            self.clock.wait_until(due);
        }
        Ok(())
    }
}

/// Every second sample at an interval of 10 ms, so that the load remains below 2 % of a core.
const COUNTERS_EVERY: Duration = Duration::from_millis(15);

#[expect(clippy::cast_precision_loss, reason = "2^53 us are 285 years")]
fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    fn pair(address: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(address).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn key_of(stream: &TcpStream) -> Option<Key> {
        let [local, remote] = [stream.local_addr().unwrap(), stream.peer_addr().unwrap()];
        Diag::open().unwrap().between(local, remote).unwrap().map(|socket| socket.key)
    }

    #[test]
    fn what_has_moved_is_seen() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (mut near, mut far) = pair(address);
            let mut timeline = Timeline::of(key_of(&near).unwrap()).unwrap();
            near.write_all(&[1; 5000]).unwrap();
            far.read_exact(&mut [0; 5000]).unwrap();
            far.write_all(&[2; 700]).unwrap();
            let mut samples = Vec::new();
            let enough = |sample: Sample| {
                let done = sample.receive_queue_bytes == 700;
                samples.push(sample);
                if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            timeline.watch(Duration::from_millis(1), enough).unwrap();
            let last = samples.last().unwrap();
            let info = last.tcp_info.as_ref().unwrap();
            // The SYN consumes a sequence number.
            assert_eq!((info.bytes_acked, info.bytes_received, last.state), (5001, 700, State::Established));
            assert!(last.skmem.is_some_and(|memory| memory.rmem_alloc >= 700));
            assert!(samples[0].counters.as_ref().unwrap().contains_key("InSegs"));
            assert!(samples.len() < 2 || samples[1].t_ms >= 15.0 || samples[1].counters.is_none());
        }
    }

    #[test]
    fn a_connection_that_has_gone_ends_it() {
        let (near, far) = pair("127.0.0.1:0");
        let mut timeline = Timeline::of(key_of(&near).unwrap()).unwrap();
        // The end that closes second has no TIME_WAIT.
        drop(far);
        assert!(timeline.look().unwrap().is_some());
        let remote = near.peer_addr().unwrap();
        drop(near);
        let mut state = None;
        timeline
            .watch(Duration::from_millis(1), |sample| {
                state = Some(sample.state);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_ne!(state, Some(State::Established), "{remote}");
        assert_eq!(timeline.look().unwrap(), None);
    }
}
