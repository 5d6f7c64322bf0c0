//! What a network's file may say, and what is said of its mistakes.

use http::{HeaderMap, Method, StatusCode};

use super::*;

const NETWORK: &str = r#"
[network]
name = "example"

[[data_centre]]
name = "lhr"
listen = ["127.0.0.1:8080"]

[[zone]]
name = "shop"
hosts = ["www.shop.example", "*.img.shop.example"]
origin = ["http://127.0.0.1:8000"]

[[zone.rule]]
path = "/private/*"
bypass = true

[[zone.rule]]
status = [404]
edge_ttl = "10s"

[[zone.rule]]
path = "/static/*"
cookie = { beta = "*" }
edge_ttl = "1d"
key = { query = ["v"] }
"#;

fn read(text: &str) -> Result<Network, String> {
    Network::read(&Document::new("n.toml", text)).map_err(|mistake| mistake.to_string())
}

#[test]
fn a_host_belongs_to_the_zone_that_says_most_about_it() {
    let network = read(NETWORK).unwrap();
    assert_eq!(network.zone_of("www.shop.example"), Some(0));
    assert_eq!(network.zone_of("a.img.shop.example"), Some(0));
    assert_eq!(network.zone_of("img.shop.example"), None);
    assert_eq!(network.zone_of("example"), None);
}

#[test]
fn the_first_rule_that_fits_counts_and_those_with_a_status_wait_for_the_response() {
    let network = read(NETWORK).unwrap();
    let headers: HeaderMap = [(http::header::COOKIE, "a=b; beta=1".parse().unwrap())].into_iter().collect();
    let url = "http://www.shop.example/static/a.js?v=1".parse().unwrap();
    let asked = Asked { method: &Method::GET, url: &url, headers: &headers };
    let zone = &network.zones[0];
    assert_eq!(zone.rule_for(asked).unwrap().edge_ttl, Some(Duration::from_secs(86_400)));
    let of = |status| zone.rule_for_response(asked, status).unwrap().edge_ttl;
    assert_eq!(of(StatusCode::NOT_FOUND), Some(Duration::from_secs(10)));
    assert_eq!(of(StatusCode::OK), Some(Duration::from_secs(86_400)));
    let without = HeaderMap::new();
    assert!(zone.rule_for(Asked { headers: &without, ..asked }).is_none());
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    for (from, to, expected) in [
        ("edge_ttl = \"1d\"", "edge_tll = \"1d\"", "n.toml:25:1: unknown field `edge_tll`"),
        ("listen = [\"127.0.0.1:8080\"]", "", "n.toml:6:8: data centre \"lhr\" listens nowhere"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "n.toml:12:11: \"127.0.0.1:8000\" is not an origin"),
        ("*.img.shop.example", "WWW.shop.example", "n.toml:11:30: host \"www.shop.example\" is there twice"),
        ("*.img.shop.example", "a b", "n.toml:11:30: \"a b\" is not a host"),
        ("status = [404]", "status = [404]\nbypass = true", "a rule with status is about the response"),
        ("status = [404]", "status = [99]", "99 is not the status of a response"),
        ("name = \"example\"", "name = \"an example\"", "n.toml:3:8: \"an example\" is not a name"),
        (
            "origin = ",
            "compress = [\"br\", \"gzipp\"]\norigin = ",
            "n.toml:12:19: \"gzipp\" is not a coding: expected \"zstd\", \"br\" or \"gzip\"; did you mean \"gzip\"?",
        ),
        ("[[data_centre]]", "[admin]\ntokens = [\"secret\"]\n[[data_centre]]", "not the SHA-256 of a token"),
    ] {
        let said = read(&NETWORK.replacen(from, to, 1)).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    let network = read(NETWORK).unwrap();
    assert_eq!(
        network.data_centre("lhs").unwrap_err(),
        "the network has no data centre \"lhs\", only lhr; did you mean \"lhr\"?"
    );
}
