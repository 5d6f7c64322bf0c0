//! Statuses of planets for tests.

use std::collections::BTreeMap;

use claim::HeldUp;
use planet::{Amount, FaultStatus, Fidelity, HostStatus, LinkStatus, Status};
use world::file::Fault;

pub(super) fn status(hosts: Vec<HostStatus>, links: Vec<LinkStatus>) -> Status {
    let fidelity = Fidelity {
        valid: true,
        reasons: Vec::new(),
        doubts: Vec::new(),
        delivered: 0,
        lateness_us: BTreeMap::new(),
        lateness_histogram: Vec::new(),
        lateness_limit_us: None,
        late_share: None,
        latest_flows: Vec::new(),
        held_up: HeldUp::default(),
        own_drops: 0,
        bytes_in: 0,
        bytes_out: 0,
        bytes_dropped: 0,
        bytes_duplicated: 0,
        bytes_in_flight: 0,
        switch_cpu_share: 0.0,
        machine_cpu_share: None,
        receive: "slice".to_owned(),
    };
    let name = "p".to_owned();
    Status { name, ready: true, running_s: 723.0, hosts, links, faults: Vec::new(), fidelity }
}

pub(super) fn host(name: impl Into<String>, city: &str) -> HostStatus {
    HostStatus { name: name.into(), city: city.to_owned(), addresses: vec!["10.0.0.1".parse().unwrap()] }
}

pub(super) fn link(from: &str, to: &str, bytes: u64) -> LinkStatus {
    let carried = Amount { segments: bytes / 1500, bytes };
    LinkStatus {
        from: from.to_owned(),
        to: to.to_owned(),
        access: None,
        delay_us: 36_000.0,
        rate_bps: None,
        is_down: false,
        offered: carried,
        delivered: carried,
        duplicated: Amount::default(),
        lost: Amount::default(),
        overflowed: Amount::default(),
        managed: Amount::default(),
        marked: Amount::default(),
        corrupted: Amount::default(),
        waiting: Amount::default(),
    }
}

pub(super) fn fault(number: u64, fault: Fault) -> FaultStatus {
    FaultStatus { number, what: fault.to_string(), fault, is_active: true, at_s: 1.0, until_s: None }
}

pub(super) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
