//! The machine that a sweep runs on, as far as a grid depends on it.

use std::fs;

use tcp::kernel::Version;

/// What the machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The kernel that runs, also in every host of a planet.
    pub kernel: Version,
    /// Congestion controls that a host can choose from.
    pub congestion: Vec<String>,
}

impl Machine {
    /// This one.
    pub fn read() -> Result<Self, tcp::Error> {
        let kernel = Version::running()?;
        let text = fs::read_to_string(AVAILABLE)
            .map_err(|source| tcp::Error::System { operation: format!("read {AVAILABLE}"), source })?;
        Ok(Self { kernel, congestion: text.split_whitespace().map(str::to_owned).collect() })
    }
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
