//! What a reader must know to repeat a run.

use std::fs;

use crate::{
    outcome::Side,
    plan::{Plan, Probe, Transfer},
};

/// What was run, and on which machine, in the order to show it.
pub(super) fn conditions(plan: &Plan, sides: &[Side]) -> Vec<(String, String)> {
    let mut conditions = vec![
        ("scenario".to_owned(), plan.name.clone()),
        ("seed".to_owned(), plan.world.settings.seed.to_string()),
    ];
    for Side { label, series } in sides {
        let probes: Vec<&Probe> = plan.probes.iter().filter(|probe| probe.side == *label).collect();
        let hosts: Vec<&str> = probes.iter().map(|probe| probe.host.as_str()).collect();
        conditions.push((label.clone(), format!("{} from {}", probes[0].url, some(&hosts))));
        let header = series.header.iter().flat_map(|header| &header.conditions);
        let how: Vec<String> = header
            .filter(|(name, _)| *name != "url")
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        conditions.push((format!("{label}, how"), how.join(", ")));
    }
    for transfer in &plan.transfers {
        let protocol = if transfer.is_mptcp { "MPTCP" } else { "TCP" };
        let how = format!("{} to {} over {protocol}{}", transfer.from, transfer.to, details(transfer));
        conditions.push((format!("{}, transfer", transfer.side), how));
    }
    for command in &plan.commands {
        let how =
            format!("{} from {}{}", command.command.join(" "), command.host, turn(command.after.as_deref()));
        conditions.push((format!("{}, command", command.side), how));
    }
    conditions.extend(pings(plan));
    conditions.extend(machine());
    conditions
}

/// " for 30s, window 4MiB, after old".
fn details(transfer: &Transfer) -> String {
    let length = match transfer.bytes {
        Some(bytes) => format!(", {bytes}"),
        None => format!(" for {}", units::duration::show(transfer.duration)),
    };
    let options = [
        ("omit", transfer.omit.map(units::duration::show)),
        ("congestion", transfer.congestion.clone()),
        ("notsent_lowat", transfer.notsent_lowat.map(|size| size.to_string())),
        ("rcvbuf", transfer.receiver.rcvbuf.map(|size| size.to_string())),
        ("window", transfer.receiver.window.map(|size| size.to_string())),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some(format!(", {name} {}", value?)));
    length + &options.collect::<String>() + &turn(transfer.after.as_deref())
}

fn turn(after: Option<&str>) -> String {
    after.map_or_else(String::new, |side| format!(", after {side}"))
}

/// A line for each side that pings.
fn pings(plan: &Plan) -> Vec<(String, String)> {
    let mut sides: Vec<&str> = plan.pings.iter().map(|ping| ping.side.as_str()).collect();
    sides.dedup();
    let line = |side: &str| {
        let pings: Vec<_> = plan.pings.iter().filter(|ping| ping.side == side).collect();
        let hosts: Vec<&str> = pings.iter().map(|ping| ping.host.as_str()).collect();
        let (count, interval) = (pings[0].count, units::duration::show(pings[0].interval));
        (format!("{side}, pings"), format!("{count} to each, every {interval}, from {}", some(&hosts)))
    };
    sides.into_iter().map(line).collect()
}

/// Names, the first few of many.
fn some(names: &[&str]) -> String {
    let shown = names[..names.len().min(FEW)].join(", ");
    if names.len() > FEW { format!("{shown} and {} more", names.len() - FEW) } else { shown }
}

/// The machine that it ran on.
fn machine() -> Vec<(String, String)> {
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    [
        ("kernel", read("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"))),
        ("cores", Some(cores.to_string())),
        ("congestion control, machine's default", read("/proc/sys/net/ipv4/tcp_congestion_control")),
        ("longhaul", Some(env!("CARGO_PKG_VERSION").to_owned())),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

/// Hosts that are named.
const FEW: usize = 12;
