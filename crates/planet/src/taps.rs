//! Shows somebody the packets of some hosts and links, as a stream over a connection.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    os::unix::net::UnixStream,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use world::{Layout, PortId};

use crate::{
    capture::{Capture, Sighting},
    control::{Reply, Tap, write_line},
    router::way::Wire,
    switch::Watcher,
};

/// What is looked at, and where it is written.
pub(crate) struct Taps {
    ports: HashMap<PortId, u32>,
    wires: HashMap<Wire, u32>,
    /// `None` when it has ended.
    capture: Mutex<Option<Capture>>,
}

impl Taps {
    /// Begins to look; what is wrong if there are no such hosts or links.
    pub(crate) fn new(layout: &Layout, tap: &Tap, client: &UnixStream) -> Result<Self, String> {
        let mut found = Vec::new();
        for name in &tap.hosts {
            let host = layout.host(name).ok_or_else(|| format!("there is no host \"{name}\""))?;
            let ports = layout.hosts[host].ports.clone();
            found.extend(
                ports.map(|port| (format!("{name} net{}", layout.ports[port].number), Place::Port(port))),
            );
        }
        for [a, b] in &tap.links {
            let city =
                |name: &String| layout.city(name).ok_or_else(|| format!("there is no city \"{name}\""));
            let (from, to) = (city(a)?, city(b)?);
            found.push((format!("{a} to {b}"), Place::Wire(Wire::Between(from, to))));
            found.push((format!("{b} to {a}"), Place::Wire(Wire::Between(to, from))));
        }
        let mut stream = client.try_clone().map_err(|error| error.to_string())?;
        // The answer comes before the stream.
        write_line(&mut stream, &Reply::Done).map_err(|error| error.to_string())?;
        let snap = tap.snap.and_then(NonZeroU32::new);
        let mut capture =
            Capture::stream(stream, Path::new("capture"), snap).map_err(|error| error.to_string())?;
        let (mut ports, mut wires) = (HashMap::new(), HashMap::new());
        for (name, place) in found {
            let interface = capture.interface(&name);
            match place {
                Place::Port(port) => ports.insert(port, interface),
                Place::Wire(wire) => wires.insert(wire, interface),
            };
        }
        Ok(Self { ports, wires, capture: Mutex::new(Some(capture)) })
    }

    /// Waits until the client says that it has seen enough, by closing its side, and writes what is left.
    pub(crate) fn last(&self, mut client: UnixStream) {
        // Whatever it says, and however it ends, ends the capture.
        let _ = std::io::copy(&mut client, &mut std::io::sink());
        if let Some(capture) = self.lock().take() {
            // If it cannot be written any more, the client knows.
            let _ = capture.finish();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Place {
    Port(PortId),
    Wire(Wire),
}

impl Watcher for Taps {
    fn is_watching(&self) -> bool {
        self.lock().as_ref().is_some_and(|capture| !capture.has_stopped())
    }

    fn port(&self, port: PortId) -> Option<u32> {
        self.ports.get(&port).copied()
    }

    fn wire(&self, wire: Wire) -> Option<u32> {
        self.wires.get(&wire).copied()
    }

    fn see(&self, seen: &Sighting<'_>) {
        if let Some(capture) = self.lock().as_mut() {
            capture.packet(seen);
        }
    }
}
