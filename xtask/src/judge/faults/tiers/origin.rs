//! The origin of all zones: each object has a version that the test increments, and requests are counted.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use anyhow::Context;

use crate::judge::faults::{
    clock::pause,
    cluster::{ORIGIN, Place},
    rng::Chance,
};

#[derive(Debug, Clone, Default)]
pub(in crate::judge::faults) struct Origin(Arc<Mutex<HashMap<String, Object>>>);

#[derive(Debug, Clone, Copy, Default)]
struct Object {
    version: u64,
    requests: u64,
}

impl Origin {
    pub(in crate::judge::faults) fn start(place: &Place) -> anyhow::Result<Self> {
        let origin = Self::default();
        let listener = place.at_origin(|| TcpListener::bind((ORIGIN.1, 80)))?;
        let listener = listener.context("the origin cannot listen")?;
        let serving = origin.clone();
        // A socket stays in the network namespace in which it was created.
        thread::spawn(move || {
            for (connection, number) in listener.incoming().flatten().zip(1..) {
                let origin = serving.clone();
                thread::spawn(move || drop(origin.serve(&connection, Chance::of(0, number))));
            }
        });
        Ok(origin)
    }

    pub(super) fn raise(&self, path: &str) -> u64 {
        let mut objects = self.lock();
        let object = objects.entry(path.to_owned()).or_default();
        object.version += 1;
        object.version
    }

    pub(super) fn requests(&self, path: &str) -> u64 {
        self.lock().get(path).map_or(0, |object| object.requests)
    }

    /// Removes these objects.
    pub(super) fn take(&self, prefix: &str) -> u64 {
        let mut requests = 0;
        self.lock().retain(|path, object| {
            let is_other = !path.starts_with(prefix);
            requests += if is_other { 0 } else { object.requests };
            is_other
        });
        requests
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Object>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, connection: &TcpStream, mut chance: Chance) -> std::io::Result<()> {
        let (mut reader, mut writer) = (BufReader::new(connection), connection);
        loop {
            let (mut path, mut known, mut line) = (None, String::new(), String::new());
            while line != "\r\n" {
                line.clear();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                path = path.or_else(|| Some(line.split(' ').nth(1)?.to_owned()));
                if let Some((_, tag)) =
                    line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("if-none-match"))
                {
                    tag.trim().clone_into(&mut known);
                }
            }
            let path = path.unwrap_or_default();
            let version = {
                let mut objects = self.lock();
                let object = objects.entry(path.clone()).or_default();
                object.requests += 1;
                object.version
            };
            // The response contains the version at the time of the request, even if the object changes during
            // the delay.
            pause(Duration::from_millis(chance.below(SLOWEST_MS)));
            let (tag, body) = (format!("\"{version}\""), body(&path, version));
            let tags = path.rsplit('/').next().unwrap_or_default();
            let head = format!("ETag: {tag}\r\nCache-Tag: t{tags}\r\nCache-Control: max-age=3600\r\n");
            let response = if known == tag {
                format!("HTTP/1.1 304 Not Modified\r\n{head}\r\n")
            } else {
                format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len())
            };
            writer.write_all(response.as_bytes())?;
        }
    }
}

pub(super) fn body(path: &str, version: u64) -> String {
    format!("{path} {version} {}", "x".repeat(500))
}

const SLOWEST_MS: u64 = 40;
