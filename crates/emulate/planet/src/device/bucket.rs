//! The options of the kernel's token bucket filter (tc-tbf(8)), which the route netlink library
//! lacks.

use std::time::Duration;

use units::Bitrate;

pub(super) fn options(rate: Bitrate) -> [(u16, Vec<u8>); 3] {
    let burst = burst(rate);
    let limit = u32::try_from(rate.bytes_in(LONGEST_WAIT)).unwrap_or(u32::MAX).saturating_add(burst);
    let bytes_per_second = rate.bits_per_second() / 8;
    [
        (TCA_TBF_PARMS, parameters(limit)),
        (TCA_TBF_RATE64, bytes_per_second.to_ne_bytes().to_vec()),
        (TCA_TBF_BURST, burst.to_ne_bytes().to_vec()),
    ]
}

/// A super-packet, or the data sent until the kernel's timer wakes the filter again.
fn burst(rate: Bitrate) -> u32 {
    u32::try_from(rate.bytes_in(WAKING)).unwrap_or(u32::MAX).max(SUPER_PACKET)
}

/// `struct tc_tbf_qopt`. Rate and burst are separate attributes, because these fields are limited
/// to 34 Gbit/s and in clock ticks.
fn parameters(limit: u32) -> Vec<u8> {
    let mut bytes = vec![0; 36];
    bytes[1] = TC_LINKLAYER_ETHERNET;
    bytes[24..28].copy_from_slice(&limit.to_ne_bytes());
    bytes
}

/// The queue limit of the network card, for other protocols: TCP backs off long before.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
const WAKING: Duration = Duration::from_millis(2);
const SUPER_PACKET: u32 = 65_536;

// linux/pkt_sched.h
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
/// The kernel needs no lookup table from us.
const TC_LINKLAYER_ETHERNET: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bucket_holds_a_super_packet_or_two_milliseconds() {
        // 2 ms of 10 Mbit/s are 2500 bytes, of 1 Gbit/s 250 000.
        assert_eq!(burst("10Mbit".parse().unwrap()), 65_536);
        assert_eq!(burst("1Gbit".parse().unwrap()), 250_000);
    }

    #[test]
    fn what_waits_is_fifty_milliseconds_and_the_burst() {
        let [(_, parameters), (_, rate), (_, burst)] = options("1Gbit".parse().unwrap());
        // 50 ms of 1 Gbit/s are 6 250 000 bytes.
        assert_eq!(parameters[24..28], 6_500_000_u32.to_ne_bytes());
        assert_eq!(
            (rate, burst),
            (125_000_000_u64.to_ne_bytes().to_vec(), 250_000_u32.to_ne_bytes().to_vec())
        );
    }
}
