//! Frames for tests, in the form of kernels, and a receiver that is independent of the code under
//! test.

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub version: u8,
    pub protocol: u8,
    pub payload: usize,
    /// Payload bytes; 0 makes a plain packet with an incomplete checksum.
    pub segment: u16,
    pub ttl: u8,
    pub class: u8,
    pub extended: bool,
}

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

pub(crate) const TCP_FLAGS: u8 = 0x10 | 0x08 | 0x01 | 0x80;

/// It wraps within the first segment.
pub(crate) const SEQUENCE: u32 = 0xffff_fff0;

impl Sample {
    pub(crate) fn new(version: u8, protocol: u8, payload: usize, segment: u16) -> Self {
        Self { version, protocol, payload, segment, ttl: 64, class: 0, extended: false }
    }

    pub(crate) fn transport(&self) -> usize {
        match (self.version, self.extended) {
            (4, _) => 20,
            (_, false) => 40,
            (_, true) => 48,
        }
    }

    /// Virtio header first: the transport checksum contains the sum of the pseudo-header.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut transport = if self.protocol == TCP {
            let mut tcp =
                [&[0x30, 0x39, 0, 80][..], &SEQUENCE.to_be_bytes(), &[0, 0, 0, 1, 0x80, TCP_FLAGS]].concat();
            // Window, checksum, urgent pointer, and timestamps.
            tcp.extend([2, 0, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8]);
            tcp
        } else {
            let length = u16::try_from(8 + self.payload).unwrap();
            [&[0x30, 0x39, 0, 53][..], &length.to_be_bytes(), &[0, 0]].concat()
        };
        transport.extend((0..self.payload).map(|i| u8::try_from(i * 7 % 251).unwrap()));
        let ip = self.ip_header(transport.len());
        let field = if self.protocol == TCP { 16 } else { 6 };
        let pseudo = pseudo_header(&ip, self.protocol, transport.len());
        transport[field..field + 2].copy_from_slice(&pseudo.to_be_bytes());

        let gso = match (self.segment, self.protocol, self.version) {
            (0, _, _) => 0,
            (_, TCP, 4) => 1,
            (_, TCP, _) => 4,
            _ => 5,
        };
        // A header length that must not be trusted.
        let mut frame = vec![1, gso, 0xff, 0xff];
        frame.extend(self.segment.to_le_bytes());
        frame.extend(u16::try_from(self.transport()).unwrap().to_le_bytes());
        frame.extend(u16::try_from(field).unwrap().to_le_bytes());
        [frame, ip, transport].concat()
    }

    pub(crate) fn complete(&self) -> Vec<u8> {
        let mut packet = self.frame().split_off(10);
        let field = self.transport() + if self.protocol == TCP { 16 } else { 6 };
        let sum = !ones_complement_sum(0, &packet[self.transport()..]);
        packet[field..field + 2].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    fn ip_header(&self, behind: usize) -> Vec<u8> {
        let mut ip = if self.version == 4 {
            vec![
                0x45,
                self.class,
                0,
                0,
                0x12,
                0x34,
                0x40,
                0,
                self.ttl,
                self.protocol,
                0,
                0,
                10,
                0,
                0,
                1,
                10,
                0,
                0,
                2,
            ]
        } else {
            let next = if self.extended { 0 } else { self.protocol };
            let mut ip = vec![0x60 | self.class >> 4, self.class << 4, 0, 0, 0, 0, next, self.ttl];
            for last in [1, 2] {
                ip.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
            }
            if self.extended {
                ip.extend([self.protocol, 0, 1, 4, 0, 0, 0, 0]);
            }
            ip
        };
        if self.version == 4 {
            let total = u16::try_from(20 + behind).unwrap();
            ip[2..4].copy_from_slice(&total.to_be_bytes());
            let sum = !ones_complement_sum(0, &ip);
            ip[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            let length = u16::try_from(ip.len() - 40 + behind).unwrap();
            ip[4..6].copy_from_slice(&length.to_be_bytes());
        }
        ip
    }
}

pub(crate) fn ones_complement_sum(start: u16, bytes: &[u8]) -> u16 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        let word = u16::from(pair[0]) << 8 | u16::from(*pair.get(1).unwrap_or(&0));
        let (added, carry) = sum.overflowing_add(word);
        sum = added + u16::from(carry);
    }
    sum
}

fn pseudo_header(ip: &[u8], protocol: u8, length: usize) -> u16 {
    let addresses = if ip[0] >> 4 == 4 { &ip[12..20] } else { &ip[8..40] };
    let length = u32::try_from(length).unwrap().to_be_bytes();
    ones_complement_sum(0, &[addresses, &length, &[0, 0, 0, protocol]].concat())
}

pub(crate) fn fault(ip: &[u8]) -> Option<&'static str> {
    let (transport, protocol, total) = if ip[0] >> 4 == 4 {
        if ones_complement_sum(0, &ip[..20]) != 0xffff {
            return Some("IPv4 header checksum");
        }
        (20, ip[9], usize::from(ip[2]) << 8 | usize::from(ip[3]))
    } else {
        let (transport, protocol) = if ip[6] == 0 { (48, ip[40]) } else { (40, ip[6]) };
        (transport, protocol, 40 + (usize::from(ip[4]) << 8 | usize::from(ip[5])))
    };
    if total != ip.len() {
        return Some("length");
    }
    let behind = &ip[transport..];
    if protocol == UDP && (usize::from(behind[4]) << 8 | usize::from(behind[5])) != behind.len() {
        return Some("UDP length");
    }
    let pseudo = if protocol == 1 { 0 } else { pseudo_header(ip, protocol, behind.len()) };
    (ones_complement_sum(pseudo, behind) != 0xffff).then_some("transport checksum")
}
