//! Synthetic connections of browsers: admission, number, and lifetime.

use std::time::Duration;

use super::{offer::tests::CHROMIUM, *};
use crate::serve::loss::instant;

fn offer() -> Offer {
    Offer::read(CHROMIUM.as_bytes()).unwrap()
}

async fn webrtc(bound: &str, told: &[&str]) -> Arc<Webrtc> {
    let socket = UdpSocket::bind(bound).await.unwrap();
    let told: Vec<IpAddr> = told.iter().map(|address| address.parse().unwrap()).collect();
    Webrtc::of(&[socket], &told).unwrap().remove(0)
}

fn test(number: u8) -> Token {
    Token([number; 16])
}

fn from(number: u8) -> IpAddr {
    [127, 0, number, 1].into()
}

#[tokio::test]
async fn the_answer_has_one_address_and_asks_nobody_else() {
    for (bound, told, expected) in [
        ("127.0.0.1:0", &[][..], "127.0.0.1"),
        ("0.0.0.0:0", &[][..], "127.0.0.1"),
        ("[::]:0", &[][..], "127.0.0.1"),
        ("0.0.0.0:0", &["192.0.2.7"][..], "192.0.2.7"),
    ] {
        let webrtc = webrtc(bound, told).await;
        assert!(webrtc.reaches(from(0)), "{bound}");
        let answer = webrtc.begin(offer(), test(1), from(0), instant()).unwrap().to_sdp_string();
        let candidates: Vec<_> = answer.lines().filter(|line| line.starts_with("a=candidate:")).collect();
        let port = webrtc.bound.port();
        assert!(
            matches!(&candidates[..], [one] if one.contains(&format!(" {expected} {port} typ host"))),
            "{answer}"
        );
        assert!(answer.contains("a=ice-lite") && answer.contains("a=setup:passive"), "{answer}");
    }
    assert!(!webrtc("127.0.0.1:0", &[]).await.reaches("::1".parse().unwrap()));
}

#[tokio::test]
async fn connections_are_few_and_end() {
    let webrtc = webrtc("127.0.0.1:0", &[]).await;
    let now = instant();
    let may = |_, _| true;
    for number in 0..20 {
        webrtc.begin(offer(), test(number), from(1), now).unwrap();
    }
    assert_eq!(webrtc.held(), MOST_OF_ONE);
    for number in 2..=200 {
        for _ in 0..2 {
            let begun = webrtc.begin(offer(), test(number), from(number), now);
            assert_eq!(begun.is_err(), webrtc.held() == MOST && number > 61, "{number}");
        }
    }
    assert_eq!(webrtc.held(), MOST);
    let (_, next) = webrtc.advance(now, may);
    assert!(next.is_some_and(|next| next > now));
    webrtc.advance(now + Duration::from_secs(15), may);
    assert_eq!(webrtc.held(), 0);
    assert_eq!(webrtc.advance(now, may).1, None);
}

#[tokio::test]
async fn what_is_for_no_connection_is_ignored() {
    let webrtc = webrtc("127.0.0.1:0", &[]).await;
    let now = instant();
    let answer = webrtc.begin(offer(), test(1), from(0), now).unwrap().to_sdp_string();
    assert!(answer.contains("a=ice-ufrag:"));
    let source = |address: IpAddr| SocketAddr::new(address, 4000);
    for bytes in [
        &[0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &[22; 60],
        &[128; 60],
        &[],
    ] {
        assert!(!webrtc.take(now, source(from(0)), bytes), "{bytes:?}");
        assert!(!webrtc.take(now, source(from(9)), bytes), "{bytes:?}");
    }
    let (sending, _) = webrtc.advance(now, |_, _| true);
    assert!(sending.is_empty());
    assert_eq!(webrtc.held(), 1);
}
