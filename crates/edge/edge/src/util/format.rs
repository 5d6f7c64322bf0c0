//! Formats numbers and addresses without `std::fmt`, which takes several times as long, because
//! each request needs it.

use std::{
    fmt::Write as _,
    net::{IpAddr, SocketAddr},
};

pub(crate) fn push_address(text: &mut String, address: IpAddr) {
    match address {
        IpAddr::V4(address) => {
            for (place, octet) in address.octets().into_iter().enumerate() {
                if place > 0 {
                    text.push('.');
                }
                text.push_str(itoa::Buffer::new().format(octet));
            }
        }
        IpAddr::V6(_) => {
            let _ = write!(text, "{address}");
        }
    }
}

pub(crate) fn push_socket(text: &mut String, socket: SocketAddr) {
    match socket {
        SocketAddr::V4(_) => {
            push_address(text, socket.ip());
            text.push(':');
            text.push_str(itoa::Buffer::new().format(socket.port()));
        }
        SocketAddr::V6(_) => {
            let _ = write!(text, "{socket}");
        }
    }
}

/// RFC 4291 section 2.5.5.2.
pub(crate) fn canonical(socket: SocketAddr) -> SocketAddr {
    match socket.ip().to_canonical() {
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, socket.port()),
        IpAddr::V6(_) => socket,
    }
}

pub(crate) fn push_hex(text: &mut String, number: u64) {
    for byte in number.to_be_bytes() {
        for digit in [byte >> 4, byte & 0xf] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ipv4_mapped_address_is_written_as_ipv4() {
        for (socket, expected) in [
            ("[::ffff:192.0.2.1]:5", "192.0.2.1:5"),
            ("192.0.2.1:5", "192.0.2.1:5"),
            ("[2001:db8::1]:5", "[2001:db8::1]:5"),
            ("[fe80::1%3]:5", "[fe80::1%3]:5"),
            // The deprecated IPv4-compatible form is not mapped.
            ("[::192.0.2.1]:5", "[::c000:201]:5"),
        ] {
            assert_eq!(canonical(socket.parse().unwrap()).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn addresses_are_formatted_as_std_does(socket: SocketAddr, number: u64) {
            let [mut address, mut whole, mut hex] = [const { String::new() }; 3];
            push_address(&mut address, socket.ip());
            push_socket(&mut whole, socket);
            push_hex(&mut hex, number);
            prop_assert_eq!(address, socket.ip().to_string());
            prop_assert_eq!(whole, socket.to_string());
            prop_assert_eq!(hex, format!("{number:016x}"));
        }
    }
}
