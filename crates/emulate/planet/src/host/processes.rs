//! The processes of a host, identified by their network namespace.

use std::{
    collections::BTreeSet,
    fs::{self, DirEntry},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
};

use nix::{
    errno::Errno,
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// Signals the processes whose network namespace has the inode `network`, except the planet, and
/// returns their number. Repeats until a pass finds no new process, because processes may start
/// others.
pub(super) fn signal_all(network: u64, signal: Signal) -> io::Result<usize> {
    let mut signalled = BTreeSet::new();
    loop {
        let new: Vec<_> = of_network(network)?.into_iter().filter(|pid| !signalled.contains(pid)).collect();
        if new.is_empty() {
            return Ok(signalled.len());
        }
        for pid in new {
            match kill(Pid::from_raw(pid), signal) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
            signalled.insert(pid);
        }
    }
}

fn of_network(inode: u64) -> io::Result<Vec<i32>> {
    // The old /proc, where a new one cannot be mounted, lists the outer namespace's number before
    // ours.
    let level = numbers(&fs::read_to_string("/proc/self/status")?).len().saturating_sub(1);
    // An unreadable process has ended, or is a zombie without a network namespace.
    let number = |process: &Path| {
        let network = fs::metadata(process.join("ns/net")).ok()?;
        let status = (network.ino() == inode).then(|| fs::read_to_string(process.join("status")).ok())??;
        numbers(&status).get(level).copied().filter(|&pid| pid > PLANET)
    };
    let is_process = |entry: &DirEntry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes = fs::read_dir("/proc")?.flatten().filter(is_process);
    Ok(processes.filter_map(|entry| number(&entry.path())).collect())
}

/// From the outermost visible process namespace to the innermost (proc_pid_status(5)).
fn numbers(status: &str) -> Vec<i32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    line.unwrap_or_default().split_whitespace().map_while(|number| number.parse().ok()).collect()
}

const PLANET: i32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_number_in_each_namespace() {
        assert_eq!(numbers("Name:\tsh\nNSpid:\t4711\t12\nNSpgid:\t4711\t12\n"), [4711, 12]);
        assert_eq!(numbers("Name:\tsh\n"), [0; 0]);
    }
}
