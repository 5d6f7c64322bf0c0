//! Minor versions of HTTP/1. One that is higher than 1 is handled as HTTP/1.1 (RFC 9110 section 2.5).

use hyper::Version;

use crate::http1::Malformed;

pub(super) fn of(minor: u8) -> Version {
    if minor == 0 { Version::HTTP_10 } else { Version::HTTP_11 }
}

pub(super) fn of_request(head: &[u8]) -> Result<Vec<u8>, Malformed> {
    let begin = head.iter().position(|byte| !b"\r\n".contains(byte)).unwrap_or(head.len());
    let end = memchr::memchr2(b'\r', b'\n', &head[begin..]).map_or(head.len(), |length| begin + length);
    let place = end.checked_sub(NAME.len() + 1).filter(|&place| place > begin).ok_or(Malformed::Version)?;
    if head[place - 1] != b' ' {
        return Err(Malformed::Version);
    }
    lowered(head, place)
}

pub(super) fn of_response(head: &[u8]) -> Result<Vec<u8>, Malformed> {
    let begin = head.iter().position(|byte| !b"\r\n".contains(byte)).unwrap_or(head.len());
    lowered(head, begin)
}

fn lowered(head: &[u8], place: usize) -> Result<Vec<u8>, Malformed> {
    let minor = place + NAME.len();
    if !head[place..].starts_with(NAME) || !matches!(head.get(minor), Some(b'2'..=b'9')) {
        return Err(Malformed::Version);
    }
    let mut lowered = head.to_vec();
    lowered[minor] = b'1';
    Ok(lowered)
}

const NAME: &[u8] = b"HTTP/1.";
