//! A pcapng reader, independent of the writer of captures; it validates packets like a kernel.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Recording {
    places: Vec<String>,
    pub packets: Vec<Seen>,
    /// By place; empty if the capture did not end gracefully.
    pub missed: BTreeMap<String, u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub place: String,
    /// From the IP header on, cut at the snapshot length.
    pub bytes: Vec<u8>,
    pub length: usize,
    pub comment: Option<String>,
}

impl Recording {
    pub(crate) fn read(mut file: &[u8]) -> Self {
        assert_eq!(
            (u32_at(file, 0), u32_at(file, 8)),
            (0x0a0d_0d0a, 0x1a2b_3c4d),
            "a section, little endian"
        );
        let mut recording = Self::default();
        while !file.is_empty() {
            let length = u32_at(file, 4) as usize;
            assert_eq!(u32_at(file, length - 4) as usize, length, "the length is there twice");
            recording.block(u32_at(file, 0), &file[8..length - 4]);
            file = &file[length..];
        }
        recording
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        match kind {
            1 => {
                assert_eq!(body[..2], [0, 0], "LINKTYPE_NULL");
                self.places.push(option(&body[8..], 2).map(text).unwrap());
            }
            5 => {
                let missed =
                    option(&body[12..], 5).map(|count| u64::from_le_bytes(count.try_into().unwrap()));
                self.missed.insert(self.place(body), missed.unwrap());
            }
            6 => {
                let kept = u32_at(body, 12) as usize;
                let bytes = body[24..20 + kept].to_vec();
                assert_eq!(u32_at(body, 20), if bytes[0] >> 4 == 4 { 2 } else { 30 }, "the address family");
                let comment = option(&body[20 + kept.next_multiple_of(4)..], 1).map(text);
                let length = u32_at(body, 16) as usize - 4;
                self.packets.push(Seen { place: self.place(body), bytes, length, comment });
            }
            _ => {}
        }
    }

    fn place(&self, body: &[u8]) -> String {
        self.places[u32_at(body, 0) as usize].clone()
    }

    pub(crate) fn pings(&self, place: &str) -> Vec<(u8, &'static str)> {
        let mut pings: Vec<_> =
            self.packets.iter().filter(|seen| seen.place == place).map(Seen::ping).collect();
        pings.sort_unstable();
        pings
    }
}

impl Seen {
    fn ping(&self) -> (u8, &'static str) {
        let (version, icmp) = (self.bytes[0] >> 4, &self.bytes[self.transport()..]);
        let kind = match (version, icmp[0]) {
            (4, 8) | (6, 128) => "request",
            (4, 0) | (6, 129) => "reply",
            other => panic!("no ping: {other:?}"),
        };
        (version, kind)
    }

    fn transport(&self) -> usize {
        if self.bytes[0] >> 4 == 4 { 20 } else { 40 }
    }

    /// The hosts send no IP options or extension headers.
    pub(crate) fn is_sound(&self) -> bool {
        let (ip, transport) = self.bytes.split_at(self.transport());
        // All ones with the checksum (RFC 1071). TCP and ICMPv6 include a pseudo-header (RFC 9293
        // section 3.1, RFC 8200 section 8.1), ICMP does not.
        let length = u32::try_from(transport.len()).unwrap().to_be_bytes();
        let (said, header, protocol, addresses) = match ip[0] >> 4 {
            4 => (usize::from(u16_at(ip, 2)), sum(ip), ip[9], &ip[12..]),
            _ => (40 + usize::from(u16_at(ip, 4)), 0xffff, ip[6], &ip[8..]),
        };
        let pseudo = [addresses, &length, &[0, 0, 0, protocol]].concat();
        let covered = if protocol == 1 { transport.to_vec() } else { [&pseudo, transport].concat() };
        (said, header, sum(&covered)) == (self.length, 0xffff, 0xffff)
    }

    pub(crate) fn tcp_payload_from(&self, port: u16) -> Option<(u32, usize)> {
        let tcp = &self.bytes[self.transport()..];
        let header = usize::from(tcp[12] >> 4) * 4;
        let sequence = u32::from_be_bytes(tcp[4..8].try_into().unwrap());
        (u16_at(tcp, 0) == port).then_some((sequence, tcp.len() - header))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn option(mut options: &[u8], wanted: u16) -> Option<&[u8]> {
    while !options.is_empty() {
        let [code, length] = [0, 2].map(|at| u16::from_le_bytes([options[at], options[at + 1]]));
        let (value, length) = (&options[4..4 + usize::from(length)], usize::from(length));
        if code == wanted {
            return Some(value);
        }
        options = &options[4 + length.next_multiple_of(4)..];
    }
    None
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0_u16, |sum, pair| {
        let (added, carry) = sum.overflowing_add(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
        added + u16::from(carry)
    })
}
