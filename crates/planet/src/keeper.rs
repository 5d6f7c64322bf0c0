//! Answers what other processes ask of a planet.

use std::{
    io,
    sync::{Arc, mpsc},
};

use world::Layout;

use crate::{
    clock::MachineCpu,
    control::{HostStatus, Reply, Request, Status},
    fidelity::Surroundings,
    host::Host,
    switch::{Handle, Order},
};

/// Knows the planet's parts.
pub(crate) struct Keeper {
    /// The planet's name.
    pub name: String,
    pub layout: Layout,
    /// Those of the layout, in its order.
    pub hosts: Arc<Vec<Host>>,
    pub handle: Handle,
    /// The machine when the planet came up.
    pub machine: Option<MachineCpu>,
}

impl Keeper {
    /// Does what is asked, and says what came of it.
    pub(crate) fn reply(&self, request: Request) -> Reply {
        match request {
            Request::Status => match self.status() {
                Ok(status) => Reply::Status(Box::new(status)),
                Err(error) => Reply::Refused(error.to_string()),
            },
            Request::Locate { host } => match self.layout.host(&host) {
                Some(id) => Reply::Namespace(self.hosts[id].namespace_number()),
                None => Reply::NoHost(self.some_hosts()),
            },
            Request::Change { between, change } => {
                let [a, b] = between.each_ref().map(|name| self.layout.city(name));
                match (a, b) {
                    (Some(a), Some(b)) if a != b => match self.handle.give(Order::Change(a, b, change)) {
                        Ok(()) => Reply::Done,
                        Err(error) => Reply::Refused(error.to_string()),
                    },
                    _ => Reply::Refused(format!(
                        "there is no link between \"{}\" and \"{}\"",
                        between[0], between[1]
                    )),
                }
            }
            Request::Listening { host } => match self.layout.host(&host).map(|id| self.hosts[id].listening())
            {
                Some(Ok(ports)) => Reply::Ports(ports),
                Some(Err(error)) => Reply::Refused(format!("cannot look into {host}: {error}")),
                None => Reply::Refused(format!("there is no host \"{host}\"")),
            },
            // As the first process of its namespace it takes all others with it.
            Request::Down => std::process::exit(0),
            _ => Reply::Refused("this planet cannot do that".to_owned()),
        }
    }

    /// Names of hosts for somebody who misspelt one.
    fn some_hosts(&self) -> String {
        let names: Vec<_> = self.layout.hosts.iter().map(|host| host.name.as_str()).take(20).collect();
        names.join(", ") + if self.layout.hosts.len() > names.len() { ", ..." } else { "" }
    }

    fn status(&self) -> io::Result<Status> {
        let (sender, receiver) = mpsc::channel();
        self.handle.give(Order::Report(sender))?;
        let reading = receiver.recv().map_err(io::Error::other)?;
        // A device that a program in its host removed has no counters; the switch says that it is gone.
        let device_drops = self.hosts.iter().filter_map(|host| host.dropped().ok()).sum();
        let machine = self.machine.as_ref().zip(MachineCpu::read());
        let surroundings = Surroundings {
            switch_cpu_share: reading.cpu.as_secs_f64()
                / reading.running.as_secs_f64().max(f64::MIN_POSITIVE),
            machine_cpu_share: machine.and_then(|(before, now)| now.share_since(before)),
            receive: self.layout.receive,
            lateness_limit: self.layout.lateness,
        };
        let describe = |host: &world::Host| HostStatus {
            name: host.name.clone(),
            city: self.layout.cities[host.city].name.clone(),
            addresses: self.layout.ports[host.ports.clone()]
                .iter()
                .flat_map(|port| [port.v4.into(), port.v6.into()])
                .collect(),
        };
        Ok(Status {
            name: self.name.clone(),
            ready: true,
            running_s: reading.running.as_secs_f64(),
            hosts: self.layout.hosts.iter().map(describe).collect(),
            links: Vec::new(),
            faults: Vec::new(),
            fidelity: reading.tally.judge(device_drops, surroundings),
        })
    }
}
