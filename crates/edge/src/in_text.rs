//! Addresses and numbers in text, as `fmt` writes them, without what that does for those who ask for width and fill: they are written for
//! each request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// An address: "192.0.2.1".
pub(crate) fn ip(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => of_v4(address),
        IpAddr::V6(address) => address.to_string(),
    }
}

/// The same with its port: "192.0.2.1:443".
pub(crate) fn socket(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => {
            let mut text = of_v4(*address.ip());
            text.push(':');
            text.push_str(itoa::Buffer::new().format(address.port()));
            text
        }
        SocketAddr::V6(address) => address.to_string(),
    }
}

/// Sixteen digits: "000000000000002a".
pub(crate) fn hexadecimal(number: u64) -> String {
    let digit = |byte: u8| char::from(b"0123456789abcdef"[usize::from(byte)]);
    number.to_be_bytes().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn of_v4(address: Ipv4Addr) -> String {
    let mut text = String::with_capacity("255.255.255.255:65535".len());
    for (place, octet) in address.octets().iter().enumerate() {
        if place > 0 {
            text.push('.');
        }
        text.push_str(itoa::Buffer::new().format(*octet));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_others_write() {
        for text in ["0.0.0.0:0", "192.0.2.1:443", "255.255.255.255:65535", "[2001:db8::1]:80"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!((socket(address), ip(address.ip())), (text.to_owned(), address.ip().to_string()));
        }
        for number in [0, 42, u64::MAX, 0x0123_4567_89ab_cdef] {
            assert_eq!(hexadecimal(number), format!("{number:016x}"));
        }
    }
}
