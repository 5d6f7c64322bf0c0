//! What is written into tracefs for one function, and what its histogram says. Pure. Source: Documentation/trace/histogram.rst.

use super::Bin;

/// The events and triggers that time one function, under a name that no other trace has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing<'a> {
    /// The trace's name: the group of its probes, and what the names of its other events begin with.
    pub(super) name: &'a str,
    /// The function's.
    pub(super) function: &'a str,
}

/// A trigger: the event's folder within an instance, and the line.
pub(super) type Trigger = (String, String);

impl Timing<'_> {
    /// The lines that define its events: begin, end, and "it took so long". The first can only be of a function that the
    /// kernel has.
    pub(super) fn definitions(self) -> [String; 3] {
        let Self { name, function } = self;
        [
            format!("p:{name}/enter_{function} {function}"),
            format!("r:{name}/leave_{function} {function}"),
            format!("s:{name}_{function} u64 us"),
        ]
    }

    /// Its triggers in the order in which they can be set; they go in the other one, as each refers to the one before.
    ///
    /// A beginning is matched with an end in the same process and on the same processor: all idle processors are one
    /// process. A call that is moved to another processor, or interrupted by another call, is not counted.
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

    /// Where its histogram is, within an instance.
    pub(super) fn histogram(self) -> String {
        format!("events/synthetic/{}_{}/hist", self.name, self.function)
    }
}

/// The bins of a histogram: lines such as "{ us: ~ 2^13 } hitcount:          1", in no order of time.
pub(super) fn bins(histogram: &str) -> Vec<Bin> {
    let bin = |line: &str| {
        let (power, rest) = line.trim().strip_prefix("{ us: ~ 2^")?.split_once('}')?;
        let power: u32 = power.trim().parse().ok()?;
        let calls = rest.trim().strip_prefix("hitcount:")?.trim().parse().ok()?;
        // The kernel rounds up: what took 5 us is in 2^3. What took less than 1 is in 2^0.
        let to_us = 1_u64.checked_shl(power)?;
        Some(Bin { from_us: to_us / 2, to_us, calls })
    };
    let mut bins: Vec<_> = histogram.lines().filter_map(bin).collect();
    bins.sort_by_key(|bin| bin.to_us);
    bins
}

/// The trace whose event a line of `dynamic_events` defines, and how to remove it: "p:longhaul_7_0/enter_x x" or
/// "s:synthetic/longhaul_7_0_tcp_x u64 us". None of what is not ours.
pub(super) fn leftover(line: &str) -> Option<(String, String)> {
    let event = line.split_once(':')?.1.split_whitespace().next()?;
    let (group, event_name) = event.split_once('/')?;
    let owner = owner(if group == "synthetic" { event_name } else { group })?;
    Some((owner, format!("-:{event}")))
}

/// The trace whose name a name is or begins with: "longhaul", a process and a number. None of what is not ours.
pub(super) fn owner(name: &str) -> Option<String> {
    let mut parts = name.splitn(4, '_');
    let (prefix, process, number) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (prefix == PREFIX && is_number(process) && is_number(number))
        .then(|| format!("{prefix}_{process}_{number}"))
}

/// What the names of our traces begin with.
pub(super) const PREFIX: &str = "longhaul";
/// What tells one call from another.
const CALL: &str = "keys=common_pid,common_cpu";
/// For so many different ones; more are not counted.
const SIZE: &str = "size=4096";
const HISTOGRAM: &str = "hist:keys=us.log2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_in_order_of_time() {
        // As Linux 6.1 wrote it.
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
            // The kernel adds how many calls may be under way, and the group of what it makes itself.
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
