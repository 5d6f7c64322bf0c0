//! The source ports available to a client: a range of the network namespace, without its reserved ports.
//!
//! Source: Documentation/networking/ip-sysctl.rst, `ip_local_port_range` and `ip_local_reserved_ports`. Both
//! also apply to IPv6.

use std::{fmt, fs, ops::RangeInclusive, str::FromStr};

use crate::error::{Doing, Error};

/// The source ports available to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    low: u16,
    high: u16,
    /// Sorted, disjoint and non-adjacent, within the range.
    reserved: Vec<RangeInclusive<u16>>,
}

impl Range {
    /// From `low` to `high`, without reserved ports; `None` if the range is empty.
    pub fn new(low: u16, high: u16) -> Option<Self> {
        (low > 0 && low <= high).then(|| Self { low, high, reserved: Vec::new() })
    }

    /// The range of the calling thread's network namespace: `net.ipv4.ip_local_port_range` without
    /// `net.ipv4.ip_local_reserved_ports`.
    pub fn of_namespace() -> Result<Self, Error> {
        let read = |path| fs::read_to_string(path).doing(|| format!("read {path}"));
        let text = read(RANGE)?;
        let range = parse_bounds(text.split_whitespace()).ok_or_else(|| Error::Input {
            what: format!("{RANGE} contains \"{}\", which is not a range of ports", text.trim()),
            remedy: "set it to two ports: sysctl net.ipv4.ip_local_port_range='32768 60999'".to_owned(),
        })?;
        Ok(range.without(&parse_reserved(&read(RESERVED)?)))
    }

    /// The lowest port.
    pub fn low(&self) -> u16 {
        self.low
    }

    /// The highest port.
    pub fn high(&self) -> u16 {
        self.high
    }

    /// The number of ports, without the reserved ones.
    pub fn len(&self) -> usize {
        let reserved: usize = self.reserved.iter().map(|ports| ports.len()).sum();
        usize::from(self.high - self.low) + 1 - reserved
    }

    /// Whether all of its ports are reserved.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The highest at [`Range::len`] and beyond.
    pub(super) fn port(&self, index: u32) -> u16 {
        let mut port = u32::from(self.low) + index;
        for reserved in &self.reserved {
            if port < u32::from(*reserved.start()) {
                break;
            }
            port += u32::from(reserved.end() - reserved.start()) + 1;
        }
        u16::try_from(port).unwrap_or(self.high)
    }

    /// The ports of this range from `low` to `high`; an error if they are not all inside, because the kernel
    /// would use its own range instead.
    pub fn narrowed(&self, to: &Self) -> Result<Self, Error> {
        if to.low < self.low || to.high > self.high {
            return Err(Error::Input {
                what: format!("the ports {to} are not all in {self}, the range of this network namespace"),
                remedy: "name ports inside, or widen net.ipv4.ip_local_port_range".to_owned(),
            });
        }
        Ok(Self { reserved: Vec::new(), ..*to }.without(&self.reserved))
    }

    fn without(self, ports: &[RangeInclusive<u16>]) -> Self {
        let Self { low, high, .. } = self;
        let clip = |ports: &RangeInclusive<u16>| (*ports.start()).max(low)..=(*ports.end()).min(high);
        let mut inside: Vec<_> = ports.iter().map(clip).filter(|ports| !ports.is_empty()).collect();
        inside.sort_by_key(|ports| *ports.start());
        let mut reserved: Vec<RangeInclusive<u16>> = Vec::new();
        for ports in inside {
            match reserved.last_mut() {
                Some(last) if u32::from(*ports.start()) <= u32::from(*last.end()) + 1 => {
                    *last = *last.start()..=(*last.end()).max(*ports.end());
                }
                _ => reserved.push(ports),
            }
        }
        Self { low, high, reserved }
    }
}

impl FromStr for Range {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse_bounds(text.split('-')).ok_or_else(|| Error::Input {
            what: format!("\"{text}\" is not a range of ports"),
            remedy: "write it as LOW-HIGH, such as 40000-49999".to_owned(),
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.low, self.high)
    }
}

fn parse_bounds<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Range> {
    let (low, high) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    words.next().is_none().then(|| Range::new(low, high)).flatten()
}

/// "8080,9000-9010", or empty. Invalid parts are ignored.
fn parse_reserved(text: &str) -> Vec<RangeInclusive<u16>> {
    let ports = |part: &str| -> Option<RangeInclusive<u16>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').filter_map(ports).collect()
}

const RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const RESERVED: &str = "/proc/sys/net/ipv4/ip_local_reserved_ports";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reserved_ports_are_passed_over() {
        let range = Range::new(10, 19).unwrap().without(&parse_reserved("18-30,5,11,14-15,12,15\n"));
        let ports: Vec<_> = (0..4).map(|index| range.port(index)).collect();
        assert_eq!((range.len(), ports), (4, vec![10, 13, 16, 17]));
        assert!(Range::new(7, 8).unwrap().without(&[1..=65535]).is_empty());
    }

    #[test]
    fn as_a_person_writes_it() {
        assert_eq!("40000-49999".parse::<Range>().unwrap(), Range::new(40000, 49999).unwrap());
        for text in ["", "5", "9-8", "0-7", "1-2-3", "a-b", "1-65536"] {
            let error = text.parse::<Range>().unwrap_err();
            assert_eq!(error.to_string(), format!("\"{text}\" is not a range of ports"));
        }
    }

    #[test]
    fn narrower_ranges_are_inside() {
        let all = Range::new(100, 199).unwrap().without(&[150..=160]);
        assert_eq!(all.narrowed(&Range::new(155, 164).unwrap()).unwrap().len(), 4, "161 to 164");
        assert!(all.narrowed(&Range::new(99, 110).unwrap()).is_err());
        assert!(all.narrowed(&Range::new(190, 200).unwrap()).is_err());
    }

    #[test]
    fn this_machine_has_one() {
        assert!(!Range::of_namespace().unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[0-9, \t\n-]{0,40}") {
            parse_bounds(text.split_whitespace());
            parse_reserved(&text);
        }

        #[test]
        fn every_port_is_there_once(
            low in 1_u16..300, more in 0_u16..300, reserved in prop::collection::vec((0_u16..600, 0_u16..9), 0..9)
        ) {
            let reserved: Vec<_> = reserved.into_iter().map(|(first, more)| first..=first + more).collect();
            let range = Range::new(low, low + more).unwrap().without(&reserved);
            let expected: Vec<_> =
                (low..=low + more).filter(|port| !reserved.iter().any(|ports| ports.contains(port))).collect();
            prop_assert_eq!(range.len(), expected.len());
            let ports: Vec<_> = (0..range.len()).map(|index| range.port(index.try_into().unwrap())).collect();
            prop_assert_eq!(ports, expected);
        }
    }
}
