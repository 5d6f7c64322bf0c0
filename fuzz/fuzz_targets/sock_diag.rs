//! sock_diag messages: decoded sockets contain only data that was received.
//!
//! `cargo +nightly fuzz run sock_diag corpus/sock_diag seeds/sock_diag`

#![no_main]

use libfuzzer_sys::fuzz_target;
use tcp::{
    Info,
    diag::{Multipath, Socket},
};

fuzz_target!(|bytes: &[u8]| {
    if let Some(info) = Info::decode(bytes) {
        // Unknown bytes are kept as two hexadecimal digits each.
        assert_eq!(info.unknown.len(), 2 * bytes.len().saturating_sub(NEWEST));
        assert_eq!(info.accecn_flags.is_some(), bytes.len() >= NEWEST);
    }
    if Multipath::decode(bytes).is_some() {
        assert!(bytes.len() > HEADER && Multipath::decode(&bytes[..HEADER]).is_none());
    }
    let Some(socket) = Socket::decode(bytes) else { return };
    // A truncated message contains the same identity and no more data.
    let header = Socket::decode(&bytes[..HEADER]).expect("the header is whole");
    assert_eq!((header.key, header.local, header.remote), (socket.key, socket.local, socket.remote));
    assert!(header.info.is_none() && header.memory.is_none() && header.model.is_none());
    assert_eq!(header.mptcp_token, None);
});

/// Bytes of `struct inet_diag_msg`.
const HEADER: usize = 72;
/// Bytes of Linux 7.3's `struct tcp_info`.
const NEWEST: usize = 280;
