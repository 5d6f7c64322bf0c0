//! The tracefs definitions for one function, and the parser of its histogram. Pure. Source:
//! Documentation/trace/histogram.rst.

use super::Bin;

#[derive(Debug, Clone, Copy)]
pub(super) struct Timing<'a> {
    pub(super) name: &'a str,
    pub(super) function: &'a str,
}

pub(super) type Trigger = (String, String);

impl Timing<'_> {
    /// Entry, return, and duration. The first one fails if the kernel lacks the function.
    pub(super) fn definitions(self) -> [String; 3] {
        let Self { name, function } = self;
        [
            format!("p:{name}/enter_{function} {function}"),
            format!("r:{name}/leave_{function} {function}"),
            format!("s:{name}_{function} u64 us"),
        ]
    }

    /// They must be removed in reverse order, because each refers to the one before.
    ///
    /// An entry is matched with a return in the same process and on the same processor, because all
    /// idle processors are one process. A call that moves to another processor, or is interrupted
    /// by another call, is not counted.
    pub(super) fn triggers(self) -> [Trigger; 3] {
        let Self { name, function } = self;
        let (enter, leave) = (format!("{name}/enter_{function}"), format!("{name}/leave_{function}"));
        let took = format!("{name}_{function}");
        [
            (enter, format!("hist:{CALL}:begin=common_timestamp.usecs:{SIZE}")),
            (format!("synthetic/{took}"), HISTOGRAM.to_owned()),
            (
                leave,
                format!(
                    "hist:{CALL}:took=common_timestamp.usecs-$begin:{SIZE}:\
                     onmatch({name}.enter_{function}).{took}($took)"
                ),
            ),
        ]
    }

    pub(super) fn histogram(self) -> String {
        format!("events/synthetic/{}_{}/hist", self.name, self.function)
    }
}

/// Lines such as "{ us: ~ 2^13 } hitcount:          1", in any order.
pub(super) fn bins(histogram: &str) -> Vec<Bin> {
    let bin = |line: &str| {
        let (power, rest) = line.trim().strip_prefix("{ us: ~ 2^")?.split_once('}')?;
        let power: u32 = power.trim().parse().ok()?;
        let calls = rest.trim().strip_prefix("hitcount:")?.trim().parse().ok()?;
        // The kernel rounds up: 5 us are in 2^3. Less than 1 us is in 2^0.
        let to_us = 1_u64.checked_shl(power)?;
        Some(Bin { from_us: to_us / 2, to_us, calls })
    };
    let mut bins: Vec<_> = histogram.lines().filter_map(bin).collect();
    bins.sort_by_key(|bin| bin.to_us);
    bins
}

/// "p:longhaul_7_0/enter_x x" or "s:synthetic/longhaul_7_0_tcp_x u64 us". `None` for events of
/// others.
pub(super) fn leftover(line: &str) -> Option<(String, String)> {
    let event = line.split_once(':')?.1.split_whitespace().next()?;
    let (group, event_name) = event.split_once('/')?;
    let owner = owner(if group == "synthetic" { event_name } else { group })?;
    Some((owner, format!("-:{event}")))
}

/// "longhaul", a process and a number. `None` for names of others.
pub(super) fn owner(name: &str) -> Option<String> {
    let mut parts = name.splitn(4, '_');
    let (prefix, process, number) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (prefix == PREFIX && is_number(process) && is_number(number))
        .then(|| format!("{prefix}_{process}_{number}"))
}

pub(super) const PREFIX: &str = "longhaul";
const CALL: &str = "keys=common_pid,common_cpu";
/// Further calls are not counted.
const SIZE: &str = "size=4096";
const HISTOGRAM: &str = "hist:keys=us.log2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_in_order_of_time() {
        // Output of Linux 6.1.
        let text = "# event histogram\n#\n# trigger info: hist:keys=us.log2:vals=hitcount:sort=hitcount:size=2048 [active]\n\
            #\n\n{ us: ~ 2^12 } hitcount:          1\n{ us: ~ 2^0  } hitcount:         49\n{ us: ~ 2^5  } hitcount:         15\n\
            \nTotals:\n    Hits: 65\n    Entries: 3\n    Dropped: 0\n";
        let bin = |from_us, to_us, calls| Bin { from_us, to_us, calls };
        assert_eq!(bins(text), [bin(0, 1, 49), bin(16, 32, 15), bin(2048, 4096, 1)]);
        assert_eq!(bins("{ us: ~ 2^64 } hitcount: 1\n{ us: ~ 2^x } hitcount: 1\n{ us: ~ 2^1 }\n"), []);
    }

    #[test]
    fn only_our_own_events_are_leftovers() {
        let timing = Timing { name: "longhaul_7_0", function: "tcp_collapse" };
        let ours = |line: &str| leftover(line).map(|(owner, _)| owner);
        for definition in timing.definitions() {
            let shown = definition.replacen("r:", "r10:", 1).replacen("s:", "s:synthetic/", 1);
            assert_eq!(ours(&shown).as_deref(), Some("longhaul_7_0"), "{shown}");
        }
        let removal = leftover("s:synthetic/longhaul_7_0_tcp_collapse\tu64 us").unwrap().1;
        assert_eq!(removal, "-:synthetic/longhaul_7_0_tcp_collapse");
        for other in [
            "p:kprobes/longhaul tcp_collapse",
            "p:longhaul_7/x y",
            "s:synthetic/longhaul_x_0_y u64 us",
            "",
            "p:",
        ] {
            assert_eq!(leftover(other), None, "{other}");
        }
        assert_eq!(owner("longhaul_7_0").as_deref(), Some("longhaul_7_0"));
        assert_eq!((owner("longhaul"), owner("longhaul_7"), owner("others_7_0")), (None, None, None));
    }
}
