//! The network namespace's counters (`/proc/net/netstat`, `/proc/net/snmp`) and TCP's memory
//! (`/proc/net/sockstat`).
//!
//! A counter that the kernel lacks is absent, not 0.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek},
};

use crate::{
    error::{Doing, Error},
    sys::page_bytes,
};

/// Counters of one or several tables, by the kernel's names.
pub type Counters = BTreeMap<String, u64>;

/// The open files of the counters, for repeated reading.
#[derive(Debug)]
pub struct Source {
    files: [(&'static str, File); 3],
    text: String,
}

/// The values of one read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// `TcpExt` and `Tcp`, by name. The names do not overlap.
    pub tcp: Counters,
    /// `MPTcpExt`.
    pub mptcp: Counters,
    /// Memory of all TCP sockets of the machine, bytes. The kernel counts pages, for all namespaces together.
    pub memory_bytes: Option<u64>,
}

impl Source {
    /// Opens the counters of the calling thread's network namespace. The thread may enter another namespace
    /// later.
    pub fn open() -> Result<Self, Error> {
        let open = |path| File::open(path).doing(|| format!("open {path}")).map(|file| (path, file));
        Ok(Self { files: [open(NETSTAT)?, open(SNMP)?, open(SOCKSTAT)?], text: String::new() })
    }

    /// Reads the counters.
    pub fn read(&mut self) -> Result<Reading, Error> {
        let mut reading = Reading::default();
        self.renew(&mut reading)?;
        Ok(reading)
    }

    /// Updates an earlier reading, as [`Reading::renew`] does.
    pub fn renew(&mut self, reading: &mut Reading) -> Result<Counters, Error> {
        let mut grown = Counters::new();
        for (path, file) in &mut self.files {
            self.text.clear();
            let read = |file: &mut File, text: &mut String| -> io::Result<usize> {
                file.rewind()?;
                file.read_to_string(text)
            };
            read(file, &mut self.text).doing(|| format!("read {path}"))?;
            grown.extend(reading.renew(&self.text));
        }
        Ok(grown)
    }
}

impl Reading {
    /// Updates the reading with the contents of one of the three files.
    pub fn renew(&mut self, text: &str) -> Counters {
        let mut grown = Counters::new();
        for (name, now) in ["TcpExt", "Tcp"].into_iter().flat_map(|table| counters_of(text, table)) {
            let before = put(&mut self.tcp, name, now);
            if let Some(more) = before.and_then(|before| now.checked_sub(before)).filter(|more| *more > 0) {
                grown.insert(name.to_owned(), more);
            }
        }
        for (name, now) in counters_of(text, "MPTcpExt") {
            put(&mut self.mptcp, name, now);
        }
        self.memory_bytes = memory_bytes(text).or(self.memory_bytes);
        grown
    }

    /// Differences to an earlier reading. Counters that are missing in one of the readings are absent.
    pub fn since(&self, earlier: &Self) -> Counters {
        let grown =
            |(name, now): (&String, &u64)| Some((name.clone(), now.saturating_sub(*earlier.tcp.get(name)?)));
        self.tcp.iter().filter_map(grown).collect()
    }
}

/// Returns its previous value, if known.
fn put(counters: &mut Counters, name: &str, now: u64) -> Option<u64> {
    match counters.get_mut(name) {
        Some(before) => Some(std::mem::replace(before, now)),
        None => counters.insert(name.to_owned(), now),
    }
}

/// Values other than natural numbers, such as `MaxConn`, are skipped.
fn counters_of<'t>(text: &'t str, table: &str) -> impl Iterator<Item = (&'t str, u64)> {
    let of_table = |line: &'t str| line.strip_prefix(table)?.strip_prefix(':');
    let mut lines = text.lines().filter_map(of_table);
    let [names, numbers] = [(); 2].map(|()| lines.next().unwrap_or_default().split_ascii_whitespace());
    std::iter::zip(names, numbers).filter_map(|(name, number)| Some((name, number.parse().ok()?)))
}

fn memory_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP: inuse"))?;
    let pages: u64 = line.split_whitespace().skip_while(|word| *word != "mem").nth(1)?.parse().ok()?;
    pages.checked_mul(page_bytes())
}

const NETSTAT: &str = "/proc/thread-self/net/netstat";
const SNMP: &str = "/proc/thread-self/net/snmp";
const SOCKSTAT: &str = "/proc/thread-self/net/sockstat";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counters_go_by_name() {
        let mut reading = Reading::default();
        reading.renew(
            "TcpExt: PruneCalled TCPRcvCoalesce\nTcpExt: 7 8\nMPTcpExt: MPJoinSynTx Odd\nMPTcpExt: 3 x\n",
        );
        reading.renew("Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 5\n");
        reading.renew("sockets: used 9\nTCP: inuse 5 orphan 0 tw 0 alloc 6 mem 3\nUDP: inuse 2 mem 8\n");
        let named = |pairs: &[(&str, u64)]| -> Counters {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
        };
        let tcp = named(&[("PruneCalled", 7), ("TCPRcvCoalesce", 8), ("RtoMin", 200), ("RetransSegs", 5)]);
        assert_eq!((reading.tcp.clone(), reading.mptcp.clone()), (tcp, named(&[("MPJoinSynTx", 3)])));
        assert_eq!(reading.memory_bytes, Some(3 * page_bytes()));
        let mut earlier = Reading::default();
        earlier.renew("TcpExt: PruneCalled\nTcpExt: 3\n");
        assert_eq!(
            reading.since(&earlier),
            named(&[("PruneCalled", 4)]),
            "one kernel's counter only is absent"
        );
        assert_eq!(
            earlier.renew("TcpExt: TCPRcvCoalesce PruneCalled\nTcpExt: 8 7\n"),
            named(&[("PruneCalled", 4)])
        );
        assert_eq!(earlier.tcp, named(&[("PruneCalled", 7), ("TCPRcvCoalesce", 8)]));
    }

    /// The files of each kernel after five connections had been opened and closed; on 6.18 three.
    const CAPTURED: [(&str, u64, &str); 5] = [
        ("5.10", 5, include_str!("counters/captured/5.10.txt")),
        ("6.1", 5, include_str!("counters/captured/6.1.txt")),
        ("6.12", 5, include_str!("counters/captured/6.12.txt")),
        ("6.18", 3, include_str!("counters/captured/6.18.txt")),
        ("7.3", 5, include_str!("counters/captured/7.3.txt")),
    ];

    #[test]
    fn every_kernel_s_counters_are_read() {
        for (kernel, opened, text) in CAPTURED {
            let mut reading = Reading::default();
            reading.renew(text);
            let counter = |name| reading.tcp.get(name).copied();
            assert_eq!(
                (counter("ActiveOpens"), counter("PassiveOpens")),
                (Some(opened), Some(opened)),
                "{kernel}"
            );
            for name in
                "PruneCalled RcvPruned OfoPruned TCPRcvCollapsed TCPRcvQDrop TCPOFODrop TCPFromZeroWindowAdv \
                 TCPToZeroWindowAdv TCPWantZeroWindowAdv TCPRcvCoalesce"
                    .split(' ')
            {
                assert!(counter(name).is_some(), "{kernel} {name}");
            }
            assert_eq!(
                (counter("MaxConn"), counter("InReceives"), counter("NoPorts")),
                (None, None, None),
                "{kernel}"
            );
            // Linux 5.6 introduced MPTCP and its counters; Debian's 5.10 was built without.
            assert_eq!(reading.mptcp.is_empty(), kernel == "5.10");
            assert!(reading.memory_bytes.is_some(), "{kernel}");
        }
    }

    #[test]
    fn this_machine_has_them() {
        let reading = Source::open().unwrap().read().unwrap();
        assert!(reading.tcp.contains_key("PruneCalled") && reading.tcp.contains_key("RetransSegs"));
        assert!(reading.memory_bytes.is_some());
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in ".{0,200}") {
            let mut reading = Reading::default();
            reading.renew(&text);
        }

        #[test]
        fn a_changed_file_can_be_read(at: prop::sample::Index, by in ".{0,3}") {
            let mut text: Vec<_> = CAPTURED[0].2.chars().collect();
            let at = at.index(text.len());
            text.splice(at..=at, by.chars());
            let mut reading = Reading::default();
            reading.renew(&text.into_iter().collect::<String>());
        }
    }
}
