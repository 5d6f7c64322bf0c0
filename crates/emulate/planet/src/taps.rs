//! Captures the packets of some hosts and links as a stream over a connection.

use std::{
    collections::HashMap,
    io::{self, Write},
    num::NonZeroU32,
    os::unix::net::UnixStream,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
};

use world::{Layout, PortId};

use crate::{
    capture::{Capture, Sighting},
    control::{Reply, Tap, write_line},
    error::{Doing, Error},
    router::edge::Edge,
    sys::tun,
};

pub(crate) struct Taps {
    places: HashMap<Place, u32>,
    capture: Mutex<Option<Capture>>,
    gate: mpsc::Sender<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Port(PortId),
    Edge(Edge),
}

impl Taps {
    /// Packets before [`Taps::show`] are queued.
    pub(crate) fn new(layout: &Layout, tap: &Tap, client: &UnixStream) -> Result<Self, String> {
        let seen = places(layout, tap)?;
        let begin = || -> Result<_, Error> {
            let stream = client.try_clone().doing(|| "answer".to_owned())?;
            let (gate, opens) = mpsc::channel();
            let output = Gated { opens: Some(opens), stream };
            let capture = Capture::stream(output, Path::new("capture"), tap.snap.and_then(NonZeroU32::new))?;
            Ok((capture, gate))
        };
        let (mut capture, gate) = begin().map_err(|error| error.to_string())?;
        let mut places = HashMap::new();
        for (place, name) in seen {
            // A capture point that is named twice is captured once.
            places.entry(place).or_insert_with(|| capture.interface(&name));
        }
        Ok(Self { places, capture: Mutex::new(Some(capture)), gate })
    }

    /// Confirms the capture, waits until the client closes its writing side, and writes the rest.
    /// Call it when all shards capture.
    pub(crate) fn show(&self, mut client: &UnixStream) {
        let _ = write_line(&mut client, &Reply::Done);
        let _ = self.gate.send(());
        let _ = io::copy(&mut client, &mut io::sink());
        // A client may read slowly, but the switch must not wait for the lock meanwhile.
        let capture = self.lock().take();
        let _ = capture.map(Capture::finish);
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.lock().as_ref().is_some_and(|capture| !capture.has_stopped())
    }

    pub(crate) fn port(&self, port: PortId) -> Option<u32> {
        self.places.get(&Place::Port(port)).copied()
    }

    pub(crate) fn edge(&self, edge: Edge) -> Option<u32> {
        self.places.get(&Place::Edge(edge)).copied()
    }

    pub(crate) fn see(&self, seen: &Sighting<'_>) {
        if let Some(capture) = self.lock().as_mut() {
            capture.packet(seen);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn places(layout: &Layout, tap: &Tap) -> Result<Vec<(Place, String)>, String> {
    let port = |port: PortId| {
        let name = &layout.hosts[layout.ports[port].host].name;
        (Place::Port(port), format!("{name} {}", tun::name(layout.ports[port].number)))
    };
    if tap.hosts.is_empty() && tap.links.is_empty() {
        return Ok((0..layout.ports.len()).map(port).collect());
    }
    let mut places = Vec::new();
    for name in &tap.hosts {
        let host = layout.host(name).ok_or_else(|| format!("there is no host \"{name}\""))?;
        places.extend(layout.hosts[host].ports.clone().map(port));
    }
    for [a, b] in &tap.links {
        let city = |name: &String| layout.city(name).ok_or_else(|| format!("there is no city \"{name}\""));
        let ends = [city(a)?, city(b)?];
        for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let name = format!("{} to {}", layout.cities[from].name, layout.cities[to].name);
            places.push((Place::Edge(Edge::Between(from, to)), name));
        }
    }
    Ok(places)
}

struct Gated {
    opens: Option<mpsc::Receiver<()>>,
    stream: UnixStream,
}

impl Write for Gated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(opens) = self.opens.take() {
            // A dropped sender also opens the gate.
            let _ = opens.recv();
        }
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
