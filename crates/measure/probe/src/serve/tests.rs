//! Listening, and error messages if it is impossible.

use std::net::TcpListener as StdListener;

use super::*;

fn refuse(listen: Vec<SocketAddr>) -> Error {
    let config = Config { listen, ..Config::default() };
    serve(&config, |_| panic!("it must not come up"), &ShutdownSignal::new()).unwrap_err()
}

#[test]
fn an_address_in_use_says_so_and_what_to_do() {
    let holder = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = holder.local_addr().unwrap();
    let error = refuse(vec![address]);
    assert!(
        matches!(error, Error::Http(http_stack::Error::AddressInUse { address: named }) if named == address)
    );
    assert!(error.to_string().contains("ss -ltnp"), "{error}");
}

#[test]
fn an_address_of_another_machine_is_refused() {
    // TEST-NET-1, which no machine has (RFC 5737).
    let error = refuse(vec!["192.0.2.1:0".parse().unwrap()]);
    assert!(matches!(error, Error::Http(http_stack::Error::Listen { .. })), "{error}");
}

#[test]
fn a_bad_name_makes_no_certificate() {
    let tls = Tls { names: vec!["n\u{e4}me".to_owned()], ..Tls::default() };
    let config = Config { listen: vec!["127.0.0.1:0".parse().unwrap()], tls: Some(tls), ..Config::default() };
    let error = serve(&config, |_| panic!("it must not come up"), &ShutdownSignal::new()).unwrap_err();
    assert!(matches!(error, Error::Http(http_stack::Error::Certificate { .. })), "{error}");
}
