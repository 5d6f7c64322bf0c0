//! Checks the capabilities of this machine, with remedies for missing ones.

mod features;
mod trial;

use std::{fs::OpenOptions, path::Path};

use nix::unistd::Uid;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    doctor::features::Features,
    error::{TUN_REMEDY, USER_NAMESPACE_REMEDY},
    host_files::FOLDERS,
    sys::tun,
};

pub use self::trial::{Errors, Trial};

/// The capabilities of this machine.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Findings {
    /// Whether planets can run here.
    pub can_emulate: bool,
    /// All checks.
    pub checks: Vec<Check>,
    /// The result of a trial on a small planet. Absent with --quick, and where planets cannot run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
}

/// The result of one check.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Check {
    /// The subject of the check.
    pub name: &'static str,
    /// The verdict.
    pub state: State,
    /// The finding, as a phrase.
    pub found: String,
    /// The remedy, if something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No problem.
    Ok,
    /// Something is limited or missing, but a planet can run.
    Limited,
    /// Planets cannot run.
    Missing,
}

/// Checks the requirements of a planet. Changes nothing. The calling process must have a single
/// thread.
pub fn examine() -> Vec<Check> {
    let features = Features::find();
    let mut checks =
        vec![privileges(features), device(), ipv6(), memory_limits(), descriptors(), folders(), processors()];
    checks.extend(features.map(Features::checks).unwrap_or_default());
    checks.extend([congestion(), tracing()]);
    checks
}

fn privileges(features: Option<Features>) -> Check {
    let name = "namespaces";
    if features.is_some() {
        let how = if Uid::effective().is_root() { "as root" } else { "without root, in a user namespace" };
        return ok(name, &format!("they can be made {how}"));
    }
    if Uid::effective().is_root() {
        return missing(
            name,
            "root may not make namespaces here, as in a plain container",
            USER_NAMESPACE_REMEDY,
        );
    }
    let allowed =
        read("/proc/sys/user/max_user_namespaces").and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let clone = read("/proc/sys/kernel/unprivileged_userns_clone").is_none_or(|text| text != "0");
    let apparmor =
        read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").is_some_and(|text| text == "1");
    if allowed == 0 || !clone || apparmor {
        return missing(name, "user namespaces are not allowed", USER_NAMESPACE_REMEDY);
    }
    missing(
        name,
        "namespaces cannot be created, for a reason that the kernel does not report",
        USER_NAMESPACE_REMEDY,
    )
}

fn device() -> Check {
    let name = "TUN device";
    match OpenOptions::new().read(true).write(true).open(tun::PATH) {
        Ok(_) => ok(name, "/dev/net/tun can be opened"),
        Err(error) => missing(name, &format!("/dev/net/tun cannot be opened: {error}"), TUN_REMEDY),
    }
}

fn ipv6() -> Check {
    let name = "IPv6";
    if Path::new("/proc/sys/net/ipv6").exists() {
        return ok(name, "the kernel has it");
    }
    limited(name, "the kernel has no IPv6; hosts have IPv4 addresses only", "boot without ipv6.disable=1")
}

/// These limits apply to the whole machine; a host's `tcp_rmem` and `tcp_wmem` can be set.
fn memory_limits() -> Check {
    let name = "socket memory";
    let Some(pages) = read("/proc/sys/net/ipv4/tcp_mem")
        .and_then(|text| text.split_whitespace().nth(2)?.parse::<u64>().ok())
    else {
        return limited(name, "net.ipv4.tcp_mem cannot be read", "");
    };
    let limit = pages.saturating_mul(4096);
    let found = format!("all TCP sockets together may use {}", units::show::bytes(limit));
    // Two windows of 300 ms at 10 Gbit/s, one at each end.
    if limit >= 750_000_000 {
        return ok(name, &found);
    }
    limited(
        name,
        &found,
        "for multi-gigabit flows over oceans, as root: sysctl net.ipv4.tcp_mem=\"400000 500000 600000\"",
    )
}

fn descriptors() -> Check {
    let name = "file descriptors";
    let limit = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)
        .map_or(0, |(_, hard)| hard);
    // Each host needs two descriptors, and one for every device.
    let found = format!("up to {limit}, enough for {} hosts", limit.saturating_sub(100) / 3);
    if limit >= 1024 { ok(name, &found) } else { limited(name, &found, "ulimit -n 20000") }
}

fn folders() -> Check {
    let name = "hosts' folders";
    if Path::new(FOLDERS).is_dir() {
        return ok(name, &format!("each planet covers {FOLDERS} with its own"));
    }
    limited(
        name,
        &format!(
            "there is no folder {FOLDERS} to cover: no files of hosts, and no programs in the background"
        ),
        &format!("as root: mkdir {FOLDERS}"),
    )
}

fn processors() -> Check {
    let name = "processors";
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores >= 2 {
        return ok(name, &format!("{cores} cores"));
    }
    limited(
        name,
        "1 core: switch and programs share it, and runs may be INVALID",
        "use a machine with 2 cores or more",
    )
}

fn congestion() -> Check {
    let name = "congestion";
    let Some(known) = read("/proc/sys/net/ipv4/tcp_available_congestion_control") else {
        return limited(name, "net.ipv4.tcp_available_congestion_control cannot be read", "");
    };
    let found = format!("hosts can have {}", known.replace(' ', ", "));
    if known.split(' ').any(|control| control == "bbr") {
        return ok(name, &found);
    }
    limited(name, &format!("{found}, but not bbr"), "as root: modprobe tcp_bbr")
}

fn tracing() -> Check {
    let name = "TCP tracing";
    match tcp::trace::available() {
        Ok(()) => ok(name, "the kernel's time in full receive buffers can be measured"),
        Err(lack) => limited(name, &lack.why, &lack.remedy),
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn ok(name: &'static str, found: &str) -> Check {
    Check { name, state: State::Ok, found: found.to_owned(), remedy: None }
}

fn limited(name: &'static str, found: &str, remedy: &str) -> Check {
    let remedy = Some(remedy.to_owned()).filter(|remedy| !remedy.is_empty());
    Check { name, state: State::Limited, found: found.to_owned(), remedy }
}

fn missing(name: &'static str, found: &str, remedy: &str) -> Check {
    Check { name, state: State::Missing, found: found.to_owned(), remedy: Some(remedy.to_owned()) }
}
