//! The PROXY protocol, version 2: a load balancer sends the client's address first.
//!
//! The header is short and usually arrives in a separate segment; the data after it stays unread.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads the header from a connection. Returns the client's address, or `address`, the peer of the
/// connection, if the header is for the connection itself (a health check) or contains no Internet
/// address.
///
/// # Errors
/// The header is missing or truncated.
pub async fn read_proxy_header(
    stream: &mut (impl AsyncRead + Unpin),
    address: SocketAddr,
) -> io::Result<SocketAddr> {
    let mut fixed = [0; FIXED];
    stream.read_exact(&mut fixed).await?;
    let Some((command, family, length)) = begin(&fixed) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no PROXY protocol header, version 2"));
    };
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the PROXY protocol header is too long"));
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    match command {
        LOCAL => Ok(address),
        _ => source(family, &rest).map(|source| source.unwrap_or(address)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the PROXY protocol header is truncated")
        }),
    }
}

fn begin(fixed: &[u8; FIXED]) -> Option<(u8, u8, usize)> {
    let (signature, rest) = fixed.split_at(SIGNATURE.len());
    let (version, command) = (rest[0] >> 4, rest[0] & 0x0f);
    let is_known = signature == SIGNATURE && version == 2 && matches!(command, LOCAL | PROXY);
    is_known.then(|| (command, rest[1], usize::from(u16::from_be_bytes([rest[2], rest[3]]))))
}

/// `Some(None)` if it is not an Internet address, `None` if the addresses are truncated.
fn source(family: u8, rest: &[u8]) -> Option<Option<SocketAddr>> {
    let port = |at: usize| Some(u16::from_be_bytes(rest.get(at..at + 2)?.try_into().ok()?));
    match family >> 4 {
        1 => {
            let address: [u8; 4] = rest.get(..4)?.try_into().ok()?;
            Some(Some((Ipv4Addr::from(address), port(8)?).into())).filter(|_| rest.len() >= 12)
        }
        2 => {
            let address: [u8; 16] = rest.get(..16)?.try_into().ok()?;
            Some(Some((Ipv6Addr::from(address), port(32)?).into())).filter(|_| rest.len() >= 36)
        }
        _ => Some(None),
    }
}

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
const FIXED: usize = 16;
/// Addresses need at most 216 bytes; the rest are fields that are ignored here.
const LONGEST: usize = 4096;
const LOCAL: u8 = 0;
const PROXY: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version_and_command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[version_and_command, family], &length, rest].concat()
    }

    #[tokio::test]
    async fn the_client_is_who_the_header_says() {
        let own: SocketAddr = "198.51.100.1:1".parse().unwrap();
        let v4 = [&[192, 0, 2, 7, 10, 0, 0, 1][..], &[0x12, 0x34, 0, 80]].concat();
        let v6 =
            [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[9], &[0; 16], &[0x12, 0x34, 0, 80], b"\x03\0\x04abcd"]
                .concat();
        for (bytes, expected) in [
            (header(0x21, 0x11, &v4), Some("192.0.2.7:4660")),
            (header(0x21, 0x21, &v6), Some("[2001:db8::9]:4660")),
            (header(0x20, 0x00, b""), Some("198.51.100.1:1")),
            (header(0x20, 0x11, &v4), Some("198.51.100.1:1")),
            (header(0x21, 0x31, &[0; 216]), Some("198.51.100.1:1")),
            (header(0x21, 0x11, &v4[..11]), None),
            (header(0x21, 0x21, &v6[..35]), None),
            (header(0x11, 0x11, &v4), None),
            (header(0x22, 0x11, &v4), None),
            (header(0x21, 0x11, &[0; 5000]), None),
            (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), None),
            (b"PROXY TCP4 192.0.2.7 10.0.0.1 4660 80\r\n".to_vec(), None),
        ] {
            let sent = [&bytes[..], b"GET /"].concat();
            let mut stream = &sent[..];
            let found = read_proxy_header(&mut stream, own).await.ok();
            assert_eq!(found, expected.map(|address| address.parse().unwrap()), "{bytes:?}");
            assert!(found.is_none() || stream == b"GET /");
        }
    }
}
