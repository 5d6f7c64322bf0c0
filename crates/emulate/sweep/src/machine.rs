//! Properties of the machine that limit a grid.

use std::fs;

use tcp::kernel::Version;

/// The running kernel and its congestion control algorithms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The running kernel, which all emulated hosts share.
    pub kernel: Version,
    /// Available congestion control algorithms.
    pub congestion: Vec<String>,
}

impl Machine {
    /// Reads the properties of this machine.
    pub fn read() -> Result<Self, tcp::Error> {
        let kernel = Version::running()?;
        let text = fs::read_to_string(AVAILABLE)
            .map_err(|source| tcp::Error::System { operation: format!("read {AVAILABLE}"), source })?;
        Ok(Self { kernel, congestion: text.split_whitespace().map(str::to_owned).collect() })
    }
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
