//! The origin of all servers: nginx, which responds from memory and counts its requests.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use anyhow::Context;

use super::{
    client,
    guard::Guard,
    scenario::KILOBYTE,
    server::{fill, free_address, start, user},
};
use crate::bench::program::Running;

pub(super) struct Origin {
    pub(super) address: SocketAddr,
    status: SocketAddr,
    _running: Running,
}

impl Origin {
    pub(super) fn start(core: usize, folder: &Path, guard: &mut Guard) -> anyhow::Result<Self> {
        let folder = folder.join("origin");
        fs::create_dir(&folder)?;
        let (address, status) = (free_address()?, free_address()?);
        for size in [8, 64] {
            fs::write(folder.join(format!("{size}k.bin")), vec![LETTER; size * KILOBYTE])?;
        }
        let configuration = fill(
            include_str!("peers/origin.conf"),
            &[
                ("user", &user()),
                ("folder", &folder.display().to_string()),
                ("origin", &address.to_string()),
                ("status", &status.to_string()),
                ("kilobyte", &char::from(LETTER).to_string().repeat(KILOBYTE)),
            ],
        );
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration)?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(&folder).arg("-c").arg(&file);
        let running = start(&command, core, &folder, status, guard).context("the origin did not start")?;
        Ok(Self { address, status, _running: running })
    }

    /// The number of requests received, without requests for this counter: nginx counts those too, including
    /// the current one.
    pub(super) fn requests(&self, asked_before: u64) -> anyhow::Result<u64> {
        let headers = [("Host", "status")];
        let response = client::get(self.status, "/", &headers).context("the origin's count")?;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let count =
            requests(&text).with_context(|| format!("the origin's status contains no count: {text}"))?;
        Ok(count.saturating_sub(asked_before + 1))
    }
}

fn requests(text: &str) -> Option<u64> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("server accepts handled requests"));
    lines.nth(1)?.split_whitespace().nth(2)?.parse().ok()
}

pub(super) const LETTER: u8 = b'x';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read() {
        let text = "Active connections: 2 \nserver accepts handled requests\n 6 6 41 \nReading: 0 Writing: 1 Waiting: 1 \n";
        assert_eq!(requests(text), Some(41));
        assert_eq!(requests("server accepts handled requests\n"), None);
    }
}
