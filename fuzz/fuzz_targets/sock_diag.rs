//! Any bytes in answer to a question about sockets are a socket or none, and what is told of it is no more than was sent.
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
        // Two digits for each byte that is beyond what we know, and nothing of it is lost.
        assert_eq!(info.unknown.len(), 2 * bytes.len().saturating_sub(NEWEST));
        assert_eq!(info.accecn_flags.is_some(), bytes.len() >= NEWEST);
    }
    if Multipath::decode(bytes).is_some() {
        assert!(bytes.len() > HEADER && Multipath::decode(&bytes[..HEADER]).is_none());
    }
    let Some(socket) = Socket::decode(bytes) else { return };
    // A shorter message tells the same of who it is, and never more.
    let header = Socket::decode(&bytes[..HEADER]).expect("the header is whole");
    assert_eq!((header.key, header.local, header.remote), (socket.key, socket.local, socket.remote));
    assert!(header.info.is_none() && header.memory.is_none() && header.model.is_none());
    assert_eq!(header.mptcp_token, None);
});

/// Bytes of `struct inet_diag_msg`.
const HEADER: usize = 72;
/// Bytes of Linux 7.3's `struct tcp_info`.
const NEWEST: usize = 280;
