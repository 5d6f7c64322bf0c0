//! Rules of a zone: any text is a list of rules or a mistake with a position, and a rewritten URL keeps
//! its host.
//!
//! The input is a request's path with its query, a line break, and the rules in TOML.
//!
//! `cargo +nightly fuzz run zone_rules corpus/zone_rules seeds/zone_rules`

#![no_main]

use config_file::Document;
use edge::{
    Network,
    config::{Purpose, RuleInput, normal},
};
use http_stack::{HeaderMap, Method, Uri};
use libfuzzer_sys::fuzz_target;

const ZONE: &str = "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\ncity = \"london\"\n\
    [[zone]]\nname = \"z\"\nhosts = [\"shop.example\"]\norigin = [\"http://127.0.0.1:1\"]\n";

fuzz_target!(|text: &str| {
    let (path, rules) = text.split_once('\n').unwrap_or(("", text));
    let document = Document::new("n.toml", format!("{ZONE}{rules}"));
    // A simulation reads no other files.
    let network = match Network::read_for(&document, Purpose::Simulation) {
        Ok(network) => network,
        Err(mistake) => return assert!(mistake.line >= 1 && !mistake.message.is_empty()),
    };
    let Ok(url) = format!("https://shop.example/{path}").parse::<Uri>() else { return };
    let Some(url) = normal(&url) else { return };
    let headers: HeaderMap = [(http_stack::header::COOKIE, "a=b".parse().unwrap())].into_iter().collect();
    let input =
        RuleInput { method: &Method::GET, url: &url, headers: &headers, client: Some([192, 0, 2, 1].into()) };
    let rules = &network.zones[0].rules;
    let host = url.host();
    if let Some(rewritten) = rules.rewritten_url(input) {
        assert_eq!((rewritten.host(), rewritten.scheme_str()), (host, Some("https")));
    }
    let _ = rules.rule_for(input);
    assert!(!rules.key_urls(&url).is_empty());
});
