//! Name resolution against a scripted DNS server.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{
    Client, Failure, Family, Response,
    client::{self, Connections, Lookups},
};
use tokio::net::UdpSocket;

use crate::support::{fetch, get, serve_clear};

#[derive(Debug, Clone)]
enum Says {
    Has(Vec<IpAddr>),
    NoSuchName,
    Fails,
    Nothing,
}

struct Dns {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    /// Its response for all records, once set.
    changed: Arc<Mutex<Option<Says>>>,
}

impl Dns {
    async fn serve(a: Says, aaaa: Says) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (socket.local_addr().unwrap(), Arc::<AtomicUsize>::default());
        let (counted, changed) = (Arc::clone(&asked), Arc::<Mutex<Option<Says>>>::default());
        let says_now = Arc::clone(&changed);
        tokio::spawn(async move {
            let mut query = [0; 512];
            loop {
                let (bytes, from) = socket.recv_from(&mut query).await.unwrap();
                counted.fetch_add(1, Relaxed);
                let end = question_end(&query[..bytes]);
                let first = if query[end - 3] == 28 { &aaaa } else { &a };
                let says = says_now.lock().unwrap().clone().unwrap_or_else(|| first.clone());
                if let Some(answer) = answer(&query[..end], &says) {
                    socket.send_to(&answer, from).await.unwrap();
                }
            }
        });
        Self { address, asked, changed }
    }

    fn change(&self, says: Says) {
        *self.changed.lock().unwrap() = Some(says);
    }

    fn client(&self, adjust: impl FnOnce(&mut client::Config)) -> Client {
        let mut config = client::Config { dns: vec![self.address], ..client::Config::default() };
        adjust(&mut config);
        Client::new(&config).unwrap()
    }
}

/// The end of the question in a message: 12 bytes of header, the labels of the name, type and class (RFC
/// 1035 section 4.1).
fn question_end(query: &[u8]) -> usize {
    let mut at = 12;
    while query[at] > 0 {
        at += 1 + usize::from(query[at]);
    }
    at + 5
}

fn answer(question: &[u8], says: &Says) -> Option<Vec<u8>> {
    let (code, addresses) = match says {
        Says::Has(addresses) => (0, &addresses[..]),
        Says::Fails => (2, &[][..]),
        Says::NoSuchName => (3, &[][..]),
        Says::Nothing => return None,
    };
    let mut answer = question.to_vec();
    answer[2..12].copy_from_slice(&[
        0x81,
        0x80 | code,
        0,
        1,
        0,
        u8::try_from(addresses.len()).unwrap(),
        0,
        0,
        0,
        0,
    ]);
    for address in addresses {
        let bytes = match address {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        answer.extend([
            0xc0,
            12,
            0,
            question[question.len() - 3],
            0,
            1,
            0,
            0,
            0,
            60,
            0,
            u8::try_from(bytes.len()).unwrap(),
        ]);
        answer.extend(bytes);
    }
    Some(answer)
}

fn v4() -> Says {
    Says::Has(vec![Ipv4Addr::LOCALHOST.into()])
}

fn v6() -> Says {
    Says::Has(vec![Ipv6Addr::LOCALHOST.into()])
}

#[tokio::test]
async fn a_given_server_is_asked_once_or_for_each_connection() {
    let serving = serve_clear(async |_| Ok(Response::default()));
    let origin = format!("http://shop.example:{}", serving.address.port()).parse().unwrap();
    for (lookups, asked) in [(Lookups::Once, 2), (Lookups::EachConnection, 4)] {
        let dns = Dns::serve(v4(), Says::Has(Vec::new())).await;
        let client = dns.client(|config| {
            (config.lookups, config.connections) = (lookups, Connections::New);
        });
        let (first, second) = (fetch(&client, &origin, "GET").await, fetch(&client, &origin, "GET").await);
        assert!(first.dns.is_some() && !first.is_name_cached);
        assert_eq!((second.dns.is_none(), second.is_name_cached), (asked == 2, asked == 2));
        assert_eq!(dns.asked.load(Relaxed), asked);
    }
}

#[tokio::test]
async fn one_family_is_asked_for_if_one_is_used() {
    let serving = serve_clear(async |_| Ok(Response::default()));
    let origin = format!("http://shop.example:{}", serving.address.port()).parse().unwrap();
    let dns = Dns::serve(v4(), Says::Nothing).await;
    let trace = fetch(&dns.client(|config| config.family = Family::V4), &origin, "GET").await;
    assert_eq!((dns.asked.load(Relaxed), trace.remote), (1, Some(serving.address)));
}

#[tokio::test]
async fn who_has_ipv4_addresses_does_not_wait_for_ever_for_ipv6_ones() {
    let serving = serve_clear(async |_| Ok(Response::default()));
    let origin = format!("http://shop.example:{}", serving.address.port()).parse().unwrap();
    let dns = Dns::serve(v4(), Says::Nothing).await;
    let trace = fetch(&dns.client(|_| {}), &origin, "GET").await;
    assert_eq!((trace.remote, trace.fallback), (Some(serving.address), Some(false)));
    // RFC 8305's Resolution Delay is 50 ms.
    assert!(trace.dns.unwrap() >= 50_000_000);
}

#[tokio::test]
async fn what_comes_later_joins_the_race() {
    let serving = serve_clear(async |_| Ok(Response::default()));
    let origin = format!("http://shop.example:{}", serving.address.port()).parse().unwrap();
    let dns = Dns::serve(v4(), v6()).await;
    let trace = fetch(&dns.client(|_| {}), &origin, "GET").await;
    assert_eq!((trace.remote, trace.fallback), (Some(serving.address), Some(true)));
}

#[tokio::test]
async fn a_name_without_addresses_has_its_reason() {
    let none = || Says::Has(Vec::new());
    let origin = "http://shop.example:80".parse().unwrap();
    for (a, aaaa, family, expected) in [
        (Says::NoSuchName, Says::NoSuchName, Family::Any, Failure::Dns("no such name")),
        (none(), none(), Family::Any, Failure::NoAddress(Family::Any)),
        (none(), v6(), Family::V4, Failure::NoAddress(Family::V4)),
        (Says::Fails, Says::Fails, Family::Any, Failure::Dns("the server failed")),
    ] {
        let dns = Dns::serve(a, aaaa).await;
        let client = dns.client(|config| config.family = family);
        let (trace, failure) = get(&client, &origin).await;
        assert_eq!(failure.err(), Some(expected));
        assert!(trace.connect.is_none());
        let before = dns.asked.load(Relaxed);
        get(&client, &origin).await.1.unwrap_err();
        assert!(dns.asked.load(Relaxed) > before);
    }
}

#[tokio::test]
async fn the_last_addresses_outlive_a_failed_refresh() {
    let serving = serve_clear(async |_| Ok(Response::default()));
    let origin = format!("http://shop.example:{}", serving.address.port()).parse().unwrap();
    for (then, expected) in [
        (Says::Fails, Ok(())),
        (Says::Nothing, Ok(())),
        (Says::NoSuchName, Err(Failure::Dns("no such name"))),
        (Says::Has(Vec::new()), Err(Failure::NoAddress(Family::Any))),
    ] {
        let dns = Dns::serve(v4(), Says::Has(Vec::new())).await;
        let client = dns.client(|config| {
            (config.lookups, config.connections) = (Lookups::EachConnection, Connections::New);
        });
        get(&client, &origin).await.1.unwrap();
        dns.change(then.clone());
        let (trace, response) = get(&client, &origin).await;
        assert_eq!(response.map(drop), expected, "{then:?}");
        assert!(trace.dns.is_some());
        if matches!(then, Says::Fails) {
            let before = dns.asked.load(Relaxed);
            let (trace, response) = get(&client, &origin).await;
            assert_eq!((response.map(drop), trace.is_name_cached), (Ok(()), true));
            assert_eq!(dns.asked.load(Relaxed), before);
        }
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_can_be_given_up() {
    let dns = Dns::serve(Says::Nothing, Says::Nothing).await;
    let client = dns.client(|_| {});
    let origin = "http://shop.example:80".parse().unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(200), get(&client, &origin)).await;
    assert!(waited.is_err() && dns.asked.load(Relaxed) >= 2);
}
