//! The size of a packet on the link.

use std::ops::Range;

use crate::amount::Amount;

/// The size of a packet: one segment, or a super-packet of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    headers: u32,
    payload: u32,
    segment_payload: u32,
}

impl Packet {
    /// A packet of one segment.
    pub fn single(bytes: u32) -> Self {
        Self { headers: bytes, payload: 0, segment_payload: 0 }
    }

    /// A super-packet: `payload` bytes cut into segments, each after `headers` bytes.
    pub fn segmented(headers: u32, payload: u32, segment_payload: u32) -> Self {
        let segment_payload = if segment_payload == 0 { payload } else { segment_payload.min(payload) };
        Self { headers, payload, segment_payload }
    }

    /// Number of packets on a real link, at least 1.
    pub fn segments(&self) -> u32 {
        if self.payload == 0 { 1 } else { self.payload.div_ceil(self.segment_payload) }
    }

    /// The payload bytes that `segments` carry.
    pub fn payload_range(&self, segments: &Range<u32>) -> Range<u32> {
        let at = |segment: u32| (segment * self.segment_payload).min(self.payload);
        at(segments.start)..at(segments.end)
    }

    /// Bytes of the first `segments` segments on the link, with `overhead` bytes of framing each.
    pub fn link_bytes(&self, segments: u32, overhead: u32) -> u64 {
        let payload = u64::from(segments) * u64::from(self.segment_payload);
        u64::from(segments) * (u64::from(self.headers) + u64::from(overhead))
            + payload.min(u64::from(self.payload))
    }

    pub(crate) fn framed(self, overhead: u32) -> Self {
        Self { headers: self.headers.saturating_add(overhead), ..self }
    }

    pub(crate) fn amount(&self, segments: &Range<u32>) -> Amount {
        Amount {
            segments: u64::from(segments.end - segments.start),
            bytes: self.link_bytes(segments.end, 0) - self.link_bytes(segments.start, 0),
        }
    }

    pub(crate) fn segment_bytes(&self) -> u64 {
        u64::from(self.headers) + u64::from(self.segment_payload)
    }

    pub(crate) fn segments_within(&self, room: Amount) -> u32 {
        let all = self.segments();
        let by_count = u32::try_from(room.segments).unwrap_or(u32::MAX).min(all);
        if self.link_bytes(all, 0) <= room.bytes {
            return by_count;
        }
        let fit = u32::try_from(room.bytes / self.segment_bytes().max(1)).unwrap_or(u32::MAX);
        fit.min(by_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_super_packet_is_accounted_by_segment() {
        // 3 segments: 1448 + 1448 + 104 bytes of payload, 52 bytes of IP and TCP header each.
        let packet = Packet::segmented(52, 3000, 1448);
        assert_eq!(packet.segments(), 3);
        assert_eq!(packet.link_bytes(3, 0), 3 * 52 + 3000);
        assert_eq!(packet.link_bytes(3, 38), 3 * 90 + 3000);
        assert_eq!(packet.link_bytes(1, 0), 1500);
        assert_eq!(packet.payload_range(&(1..3)), 1448..3000);
    }

    #[test]
    fn what_fits_is_whole_segments() {
        let packet = Packet::segmented(52, 3000, 1448);
        for (room, fit) in
            [(0, 0), (1499, 0), (1500, 1), (2999, 1), (3000, 2), (3155, 2), (3156, 3), (9999, 3)]
        {
            let room = Amount { segments: u64::MAX, bytes: room };
            assert_eq!(packet.segments_within(room), fit, "{room:?}");
        }
    }

    #[test]
    fn one_segment_in_all_its_spellings() {
        for packet in [Packet::single(84), Packet::segmented(84, 0, 0), Packet::segmented(28, 56, 0)] {
            assert_eq!(packet.segments(), 1);
            assert_eq!(packet.link_bytes(1, 0), 84);
        }
    }
}
