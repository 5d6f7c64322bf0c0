//! The rules' decision about one request, and the mistakes in rules.

use config_file::Document;
use http_stack::{HeaderMap, HeaderName, Method, Uri};

use crate::{
    Network,
    config::{RuleInput, RuleSet},
    rules::{answer::AnswerKind, rule_set::Decision, target::Target, template::Template},
};

pub(super) fn network(zone: &str) -> Result<Network, String> {
    let text = format!(
        "[network]\nname = \"n\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:0\"]\n\
         [[zone]]\nname = \"z\"\nhosts = [\"shop.example\", \"www.shop.example\"]\n\
         origin = [\"http://127.0.0.1:1\"]\n{zone}"
    );
    Network::read(&Document::new("n.toml", text)).map_err(|mistake| mistake.to_string())
}

fn rules(zone: &str) -> RuleSet {
    network(zone).unwrap().zones.remove(0).rules
}

fn decide(rules: &RuleSet, method: &str, url: &str, fields: &[(&'static str, &str)]) -> Decision {
    let headers: HeaderMap =
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
    let (method, url): (Method, Uri) = (method.parse().unwrap(), url.parse().unwrap());
    let client = Some([192, 0, 2, 1].into());
    rules.decide(RuleInput { method: &method, url: &url, headers: &headers, client }).unwrap()
}

fn location(decision: &Decision) -> Option<(u16, &str)> {
    let answer = decision.answer.as_ref()?;
    let location = answer.response.headers.get("location").map_or("", |value| value.to_str().unwrap());
    Some((answer.response.status.as_u16(), location))
}

#[test]
fn first_redirect_or_response_ends_the_request() {
    let rules = rules(
        "https_only = true\ncanonical_host = \"www.shop.example\"\n\
         [[zone.rule]]\npath = \"/old/*/x\"\nredirect = { to = \"/new/${1}\", status = 301 }\n\
         [[zone.rule]]\npath = \"/old/*\"\nrespond = { status = 410, body = \"gone\" }\n\
         [[zone.rule]]\nclient = [\"192.0.2.0/24\"]\nnot = { path = \"/public/*\" }\n\
         respond = { status = 403 }\n",
    );
    for (url, expected) in [
        ("http://shop.example/a?b", Some((308, "https://www.shop.example/a?b"))),
        ("https://shop.example/old/a/x", Some((308, "https://www.shop.example/old/a/x"))),
        ("https://www.shop.example/old/a/x?q", Some((301, "/new/a?q"))),
        ("https://www.shop.example/old/a", Some((410, ""))),
        ("https://www.shop.example/a", Some((403, ""))),
        ("https://www.shop.example/public/a", None),
        // An origin may read it as /a.
        ("https://www.shop.example/public/..%2Fa", Some((403, ""))),
        // Only a refusal applies to a path with several readings.
        ("https://www.shop.example/old/..%2F..%2Fpublic/x/x", Some((410, ""))),
    ] {
        assert_eq!(location(&decide(&rules, "GET", url, &[])), expected, "{url}");
    }
}

#[test]
fn first_rewrite_and_all_header_changes_apply() {
    let rules = rules(
        "[[zone.rule]]\npath = \"/a/*\"\nrewrite = \"/v1/${1}\"\nrequest_headers = { set = { x-a = \"1\" } }\n\
         [[zone.rule]]\npath = \"*\"\nrewrite = \"/v2${path}\"\n\
         request_headers = { add = { x-a = \"${client_ip}\" }, remove = [\"cookie\"] }\n\
         [[zone.rule]]\npath = \"/v1/*\"\nrequest_headers = { set = { x-v1 = \"\" } }\n",
    );
    for (url, rewritten, sent) in [
        ("http://shop.example/a/b", "http://shop.example/v1/b", &["1", "192.0.2.1"][..]),
        ("http://shop.example/c?d", "http://shop.example/v2/c?d", &["192.0.2.1"]),
    ] {
        let decision = decide(&rules, "GET", url, &[("cookie", "a=b")]);
        assert_eq!(decision.url.unwrap(), rewritten);
        let mut headers: HeaderMap =
            [(HeaderName::from_static("cookie"), "a=b".parse().unwrap())].into_iter().collect();
        decision.request_changes.iter().for_each(|change| change.apply(&mut headers));
        assert!(!headers.contains_key("cookie") && !headers.contains_key("x-v1"));
        assert!(headers.get_all("x-a").iter().eq(sent));
        assert!(decision.matches.is_client_specific());
    }
}

#[test]
fn ambiguous_actions_do_not_apply_and_bypass_the_cache() {
    for action in [
        "redirect = { to = \"/x\" }",
        "respond = { status = 200 }",
        "rewrite = \"/x\"",
        "request_headers = { remove = [\"cookie\"] }",
        "response_headers = { set = { x-a = \"1\" } }",
        "cors = { origins = [\"*\"] }",
    ] {
        let rules =
            rules(&format!("[[zone.rule]]\nedge_ttl = \"1h\"\n[[zone.rule]]\npath = \"/a/*\"\n{action}\n"));
        let decision = decide(&rules, "GET", "http://shop.example/a/..%2Fb", &[]);
        assert!(decision.answer.is_none() && decision.url.is_none(), "{action}");
        assert!(decision.request_changes.is_empty() && decision.response_changes.is_none(), "{action}");
        let place = rules.cache_rule(&decision.matches, None).unwrap();
        assert!(rules.rule_at(place).is_unclear(), "{action}");
        let clear = decide(&rules, "GET", "http://shop.example/a/b", &[]);
        let place = rules.cache_rule(&clear.matches, None).unwrap();
        assert!(!rules.rule_at(place).is_unclear(), "{action}");
    }
}

#[test]
fn rules_with_actions_only_do_not_decide_about_the_cache() {
    let rules = rules(
        "[[zone.rule]]\nresponse_headers = { set = { x-a = \"1\" } }\n\
         [[zone.rule]]\npath = \"/live/*\"\n[[zone.rule]]\nedge_ttl = \"1h\"\n",
    );
    let ttl = |url: &str| {
        let decision = decide(&rules, "GET", url, &[]);
        let place = rules.cache_rule(&decision.matches, None).unwrap();
        rules.rule_at(place).edge_ttl
    };
    assert_eq!(ttl("http://shop.example/live/a"), None, "a rule without settings is an exception");
    assert_eq!(ttl("http://shop.example/a").map(|ttl| ttl.as_secs()), Some(3600));
}

#[test]
fn purges_cover_the_url_before_and_after_a_rewrite() {
    let rules = rules(
        "[[zone.rule]]\npath = \"/a/*\"\nrewrite = \"/v2/${1}\"\nkey = { query = [\"v\"] }\n\
         [[zone.rule]]\npath = \"/b\"\nedge_ttl = \"1h\"\n",
    );
    let of = |url: &str| rules.key_urls(&url.parse().unwrap());
    let key = "http://shop.example/v2/x?v=1".to_owned();
    assert!(of("http://shop.example/a/x?v=1&u=2").contains(&key));
    assert!(of("http://shop.example/v2/x?v=1&u=2").contains(&key));
    assert!(of("http://shop.example/a/x").contains(&"http://shop.example/a/x".to_owned()));
    assert_eq!(of("http://shop.example/b"), ["http://shop.example/b"]);
}

#[test]
fn preflight_is_answered_before_later_rules() {
    let rules = rules(
        "[[zone.rule]]\npath = \"/api/*\"\n\
         cors = { origins = [\"https://app.example\"], credentials = true, max_age = \"1h\" }\n\
         [[zone.rule]]\nrespond = { status = 404 }\n",
    );
    let fields = [("origin", "https://app.example"), ("access-control-request-method", "GET")];
    let answer = decide(&rules, "OPTIONS", "http://shop.example/api/a", &fields).answer.unwrap();
    assert_eq!((answer.kind, answer.response.status.as_u16()), (AnswerKind::Preflight, 204));
    assert_eq!(answer.response.headers["access-control-max-age"], "3600");
    let answer = decide(&rules, "GET", "http://shop.example/api/a", &fields).answer.unwrap();
    assert_eq!(answer.kind, AnswerKind::Respond);
}

#[test]
fn rule_mistakes_have_position_and_remedy() {
    for (rule, expected) in [
        ("scheme = \"ftp\"", ":11:10: \"ftp\" is not a scheme"),
        ("client = [\"10.0.0.0/33\"]", ":11:11: \"10.0.0.0/33\" has more than 32 bits"),
        ("redirect = { to = \"/a/${1}\" }", ":11:23: ${1} is the text of a * in path, but path has no *"),
        ("rewrite = \"/a/${hots}\"", ":11:15: ${hots} is not a placeholder"),
        ("redirect = { to = \"/a\", status = 200 }", ":11:34: 200 is not the status of a redirect"),
        ("path = \"/a*\"\nredirect = { to = \"https://x${1}\" }", ":12:29: ${1} could change the host"),
        (
            "redirect = { to = \"https://${host}${uri}\" }",
            ":11:19: the redirect is a loop: http://shop.example/x",
        ),
        ("path = \"/a/*\"\nredirect = { to = \"/a/b/${1}\" }", ":12:19: the redirect is a loop"),
        ("redirect = { to = \"https://www.shop.example/\" }", "the redirect is a loop"),
        ("respond = { status = 204, body = \"x\" }", ":11:22: a response with status 204 has no body"),
        ("respond = { status = 99 }", ":11:22: 99 is not the status of a response"),
        ("respond = { body_file = \"/nonexistent\" }", ":11:25: cannot read /nonexistent"),
        ("respond = {}\nredirect = { to = \"/\" }", "redirect or respond, not both"),
        ("respond = {}\nedge_ttl = \"1h\"", "redirect and respond end the request"),
        ("status = [404]\nrewrite = \"/\"", "it can have response_headers only"),
        ("request_headers = { set = { host = \"a\" } }", ":11:36: \"host\" cannot be changed"),
        ("response_headers = { remove = [\"age\"] }", ":11:32: \"age\" cannot be changed"),
        (
            "response_headers = { set = { x-a = \"a\\nb\" } }",
            ":11:36: a value cannot contain control characters",
        ),
        ("cors = { origins = [\"*\"], credentials = true }", ":11:21: with credentials = true, every site"),
        ("cors = { origins = [\"app.example\"] }", ":11:21: \"app.example\" is not an origin"),
        ("method = [\"GET\"]\ncors = { origins = [\"*\"] }", "leave method out of a rule with cors"),
        ("redirct = {}", ":11:1: unknown field `redirct`"),
    ] {
        let said = network(&format!("[[zone.rule]]\n{rule}\n")).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    for (setting, expected) in [
        ("canonical_host = \"shop.test\"", ":10:18: \"shop.test\" is not one of the zone's hosts"),
        ("hsts = \"1x\"", ":10:8: "),
        ("hsts = { max_age = \"1d\", preload = true }", ":10:8: preload needs include_subdomains"),
        ("hsts = { maxage = \"1d\" }", ":10:8: unknown field `maxage`"),
    ] {
        let said = network(&format!("{setting}\n")).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn redirects_that_end_are_no_loops() {
    for rule in [
        "scheme = \"http\"\nredirect = { to = \"https://${host}${uri}\" }",
        "host = \"shop.example\"\nredirect = { to = \"https://www.shop.example${uri}\" }",
        "redirect = { to = \"https://elsewhere.test${uri}\" }",
        "path = \"/a\"\nredirect = { to = \"/b\" }",
        "path = \"/a/*\"\nredirect = { to = \"/a\" }",
        "not = { path = \"/soon\" }\nredirect = { to = \"/soon\" }",
        "method = [\"POST\"]\nredirect = { to = \"${uri}\", status = 303 }",
        "query = { old = \"1\" }\nredirect = { to = \"${path}\", keep_query = false }",
    ] {
        assert_eq!(network(&format!("[[zone.rule]]\n{rule}\n")).err(), None, "{rule}");
    }
}

/// With `--ignored` on an idle machine: the cost of rules that do not match and of rules that do.
#[test]
#[ignore = "a measurement"]
fn cost_per_rule() {
    for (name, path) in [("no match", "/other/*"), ("match", "/static/*")] {
        let rule =
            format!("[[zone.rule]]\npath = \"{path}\"\nresponse_headers = {{ set = {{ x-a = \"1\" }} }}\n");
        let (few, many) = (rules(&rule), rules(&rule.repeat(101)));
        let url: Uri = "http://shop.example/static/app.js?v=1".parse().unwrap();
        let input = RuleInput { method: &Method::GET, url: &url, headers: &HeaderMap::new(), client: None };
        let time = |rules: &RuleSet| {
            let began = tokio::time::Instant::now();
            (0..10_000).for_each(|_| {
                std::hint::black_box(rules.decide(input).unwrap());
            });
            began.elapsed() / 10_000
        };
        let (few, many) = (time(&few), time(&many));
        println!("{name}: {few:?} for one rule, {:?} for each further one", (many - few) / 100);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_template_or_a_mistake(text in "[-a-z${}1:/?#@.*\\\\\u{e9} ]{0,24}", captures in 0_usize..3) {
        let url: Uri = "https://shop.example//a/b?c".parse().unwrap();
        let values = || crate::rules::template::Values { url: &url, captures: vec!["x"; captures], client: None };
        if let Ok(template) = Template::parse(&text, captures) {
            template.render(&values());
        }
        if let Ok(target) = Target::rewrite(&text, captures) {
            let rewritten = target.rewritten(&values()).unwrap();
            proptest::prop_assert_eq!(rewritten.host(), Some("shop.example"));
        }
    }
}
