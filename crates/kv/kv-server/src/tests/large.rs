//! Tests of values that are larger than a piece of the file, and of clients that disconnect.

use std::time::Duration;

use super::*;

fn value(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
}

#[tokio::test]
async fn the_largest_value_comes_back_and_one_byte_more_is_refused() {
    let store = Store::open().await;
    let largest = usize::try_from(Config::LARGEST).unwrap();
    let value = value(largest);
    assert_eq!(store.own("PUT /k", "", &value).await.status, 200);
    let got = store.own("GET /k", "", b"").await;
    assert!(got.status == 200 && got.body == value);
    assert_eq!(got.field("content-length"), Some(largest.to_string().as_str()));
    // With `Expect: 100-continue`, the body is not read.
    let fields = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", largest + 1);
    let refused = store.own("PUT /k", &fields, b"").await;
    assert_eq!(
        (refused.status, refused.reason.as_str()),
        (413, "Value length of 26214401 exceeds limit of 26214400.")
    );
    assert!(store.own("GET /k", "", b"").await.body == value);
}

#[tokio::test]
async fn a_value_that_breaks_off_never_was() {
    let store = Store::open().await;
    store.own("PUT /k", "", b"before").await;
    let part = value(1 << 20);
    let mut stream = TcpStream::connect(store.address).await.unwrap();
    let head = "PUT /k HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\nContent-Length: 5000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&part).await.unwrap();
    drop(stream);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(store.own("GET /k", "", b"").await.text(), "before");
    assert_eq!(store.service.report().bytes, Some(6));
}

#[tokio::test]
async fn a_slow_reader_gets_the_value_as_it_was() {
    let store = Store::open().await;
    let (old, new) = (value(8 << 20), vec![7; 100]);
    store.own("PUT /k", "", &old).await;
    let mut stream = TcpStream::connect(store.address).await.unwrap();
    stream
        .write_all(b"GET /k HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 100];
    stream.read_exact(&mut first).await.unwrap();
    store.own("PUT /k", "", &new).await;
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(&old[100..]));
    assert_eq!(store.own("GET /k", "", b"").await.body, new);
}
