//! PROXY protocol headers: the parser reads exactly the announced length, or fails.
//!
//! `cargo +nightly fuzz run proxy_header corpus/proxy_header seeds/proxy_header`

#![no_main]

use std::net::SocketAddr;

use http_stack::server::read_proxy_header;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let own: SocketAddr = ([198, 51, 100, 1], 1).into();
    let mut left = bytes;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    if let Ok(client) = runtime.block_on(read_proxy_header(&mut left, own)) {
        let taken = bytes.len() - left.len();
        let announced = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
        assert_eq!(taken, 16 + announced);
        // For a health check the source is the peer of the connection.
        assert!(bytes[12] != 0x20 || client == own);
    }
});
