//! Alt-Svc fields: parses any text; an HTTP/3 alternative has a port and a lower-case host.
//!
//! `cargo +nightly fuzz run alt_svc corpus/alt_svc seeds/alt_svc`

#![no_main]

use http_stack::alt_svc::AltSvc;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(AltSvc::Http3 { host, port, .. }) = AltSvc::parse(text) {
        assert!(port > 0);
        assert!(host.is_none_or(|host| !host.is_empty() && host.to_ascii_lowercase() == host));
    }
});
