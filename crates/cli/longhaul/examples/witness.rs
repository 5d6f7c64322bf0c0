//! Measures the delays of a planet independently of Longhaul's code.
//!
//! `witness send ADDRESS:PORT COUNT INTERVAL_US` sends datagrams that carry their send time.
//! `witness receive PORT COUNT` prints "SENT ARRIVED" in ns for each; it ends after COUNT
//! datagrams, or three seconds without one. Both read the monotonic clock of the same machine.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own, which stamps and prints"
)]

use std::{
    env, error::Error, io::ErrorKind, net::UdpSocket, process::ExitCode, thread::sleep, time::Duration,
};

use nix::time::{ClockId, clock_gettime};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["receive", port, count] => receive(port, count),
        ["send", to, count, interval_us] => send(to, count, interval_us),
        _ => Err("expected receive PORT COUNT, or send ADDRESS:PORT COUNT INTERVAL_US".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn receive(port: &str, count: &str) -> Result<(), Box<dyn Error>> {
    let socket = UdpSocket::bind(("0.0.0.0", port.parse()?))?;
    socket.set_read_timeout(Some(Duration::from_secs(3)))?;
    let mut stamp = [0; 8];
    let mut lines = Vec::new();
    while lines.len() < count.parse()? {
        match socket.recv(&mut stamp) {
            Ok(_) => lines.push((u64::from_ne_bytes(stamp), now()?)),
            // EINTR: the process was stopped and continued.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // A test samples the threads of this process once more before it exits.
    sleep(Duration::from_millis(100));
    lines.iter().for_each(|(sent, arrived)| println!("{sent} {arrived}"));
    Ok(())
}

fn send(to: &str, count: &str, interval_us: &str) -> Result<(), Box<dyn Error>> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    let interval = Duration::from_micros(interval_us.parse()?);
    for _ in 0..count.parse()? {
        socket.send(&now()?.to_ne_bytes())?;
        sleep(interval);
    }
    Ok(())
}

fn now() -> Result<u64, Box<dyn Error>> {
    Ok(u64::try_from(Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC)?).as_nanos())?)
}
