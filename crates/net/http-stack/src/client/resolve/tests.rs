//! Which addresses are used, and when, for DNS responses in any order.

use super::*;

fn parse(text: &str) -> Vec<IpAddr> {
    text.split_whitespace().map(|address| address.parse().unwrap()).collect()
}

#[test]
fn families_alternate_and_ipv6_is_first() {
    assert_eq!(
        interleaved(&parse("1.1.1.1 2.2.2.2 3.3.3.3 ::1 ::2")),
        parse("::1 1.1.1.1 ::2 2.2.2.2 3.3.3.3")
    );
    assert_eq!(interleaved(&parse("1.1.1.1")), parse("1.1.1.1"));
}

#[test]
fn one_family_may_be_wanted() {
    let found = parse("::1 1.1.1.1");
    let of = |family| of_family(&found, family, 80).unwrap().known;
    assert_eq!(of(Family::Any).len(), 2);
    assert_eq!(of(Family::V4), ["1.1.1.1:80".parse().unwrap()]);
    assert_eq!(of(Family::V6), ["[::1]:80".parse().unwrap()]);
    assert_eq!(of_family(&found[..1], Family::V4, 80).unwrap_err(), Failure::NoAddress(Family::V4));
}

async fn used(v6: (u64, Result<&str, Failure>), v4: (u64, Result<&str, Failure>)) -> (u64, Vec<IpAddr>) {
    let (say, mut answers) = watch::channel(Answers::none_but(Family::Any));
    let (six, four) = (v6.1.map(parse), v4.1.map(parse));
    tokio::spawn(async move {
        let v6_comes = async {
            tokio::time::sleep(Duration::from_millis(v6.0)).await;
            say.send_modify(|answers| answers.v6 = Some(six));
        };
        let v4_comes = async {
            tokio::time::sleep(Duration::from_millis(v4.0)).await;
            say.send_modify(|answers| answers.v4 = Some(four));
        };
        tokio::join!(v6_comes, v4_comes);
    });
    let began = tokio::time::Instant::now();
    until_usable(&mut answers).await;
    let found = answers.borrow().found();
    (u64::try_from(began.elapsed().as_millis()).unwrap(), found)
}

#[tokio::test(start_paused = true)]
async fn ipv6_is_used_at_once_and_ipv4_waits_a_little_for_it() {
    assert_eq!(used((10, Ok("::1")), (30, Ok("1.1.1.1"))).await, (10, parse("::1")));
    assert_eq!(used((30, Ok("::1")), (10, Ok("1.1.1.1"))).await, (30, parse("::1 1.1.1.1")));
    assert_eq!(used((90, Ok("::1")), (10, Ok("1.1.1.1"))).await, (60, parse("1.1.1.1")));
    assert_eq!(used((20, Ok("")), (10, Ok("1.1.1.1"))).await, (20, parse("1.1.1.1")));
    let none = || Err(Failure::Dns("no such name"));
    assert_eq!(used((200, Ok("::1")), (10, none())).await, (200, parse("::1")));
    assert_eq!(used((200, none()), (10, none())).await, (200, parse("")));
}

#[test]
fn no_addresses_have_a_reason() {
    let silent = Failure::Dns("no answer");
    let answers = |v6, v4| Answers { v6: Some(v6), v4: Some(v4) }.addresses(Family::Any);
    assert_eq!(answers(Ok(Vec::new()), Err(silent)), Err(silent));
    assert_eq!(answers(Err(silent), Ok(parse("1.1.1.1"))), Ok(parse("1.1.1.1")));
    assert_eq!(answers(Ok(Vec::new()), Ok(Vec::new())), Err(Failure::NoAddress(Family::Any)));
}
