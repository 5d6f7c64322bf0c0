//! Tests of the keys for load balancing and rate limits.

use super::*;

#[test]
fn origins_may_be_tables_with_weights() {
    let origins = "origin = [{ url = \"http://127.0.0.1:8000\", weight = 3, max_connections = 200 }, \
                   \"http://127.0.0.1:8001\"]\nbalance = \"hash\"\nbalance_by = \"header:X-User\"\n\
                   health_check = { path = \"/healthz\" }\neject_after = 5\nfailover_statuses = [503]";
    let network = read(&NETWORK.replace("origin = [\"http://127.0.0.1:8000\"]", origins)).unwrap();
    let balancing = &network.zones[0].balancing;
    assert_eq!(balancing.origins[0], OriginSettings { weight: 3, max_connections: Some(200) });
    assert_eq!(balancing.origins[1], OriginSettings::default());
    assert_eq!(balancing.by, Some(RequestKey::Header("x-user".parse().unwrap())));
    assert_eq!(balancing.ejection, Some((5, Duration::from_secs(30))));
    let check = balancing.health_check.as_ref().unwrap();
    assert_eq!((check.interval, check.timeout), (Duration::from_secs(5), Duration::from_secs(2)));
    assert_eq!((check.healthy, check.unhealthy, &check.statuses[..]), (2, 3, &[StatusCode::OK][..]));
    assert!(!read(NETWORK).unwrap().zones[0].balancing.needs_pool());
}

#[test]
fn balancing_mistakes_have_position_and_remedy() {
    let two = "origin = [\"http://127.0.0.1:8000\", \"http://127.0.0.1:8001\"]\n";
    for (from, to, expected) in [
        ("\"http://127.0.0.1:8000\"", "{ weight = 3 }", "n.toml:12:11: missing field `url`"),
        ("\"http://127.0.0.1:8000\"", "{ url = \"http://a\", wieght = 3 }", "unknown field `wieght`"),
        ("\"http://127.0.0.1:8000\"", "7", "n.toml:12:11: invalid type: integer `7`, expected a URL such as"),
        (
            "\"http://127.0.0.1:8000\"",
            "{ url = \"http://a\", weight = 0 }",
            "invalid value: integer `0`, expected a whole number from 1",
        ),
        (
            "\"http://127.0.0.1:8000\"",
            "{ url = \"http://a/b#c\" }",
            "n.toml:12:11: \"http://a/b#c\" is not an origin: it has a fragment",
        ),
        (
            "\"http://127.0.0.1:8000\"",
            "{ url = \"http://a\", weight = 2 }",
            "n.toml:12:11: weight has no effect with balance = \"first\": add balance = \"round-robin\"",
        ),
        ("origin = ", "balance = \"random\"\norigin = ", "n.toml:12:11: unknown variant `random`"),
        (
            "origin = ",
            "balance_by = \"client\"\norigin = ",
            "n.toml:12:14: balance_by has no effect with balance = \"first\": expected \"hash\"",
        ),
        (
            "origin = ",
            "balance = \"hash\"\nbalance_by = \"query:a\"\norigin = ",
            "n.toml:13:14: \"query:a\" is not a part of requests: expected \"client\"",
        ),
        (
            "origin = ",
            "slow_start = \"30s\"\norigin = ",
            "n.toml:12:14: slow_start has no effect with balance",
        ),
        ("origin = ", "eject_for = \"30s\"\norigin = ", "n.toml:12:13: eject_for needs eject_after"),
        ("origin = ", "eject_after = 5\norigin = ", "n.toml:12:15: eject_after needs a second origin"),
        (
            "origin = ",
            "failover_statuses = [503]\norigin = ",
            "n.toml:12:22: failover_statuses needs a second origin",
        ),
        (two, "TWO\nfailover_statuses = [200]\n", "n.toml:13:22: 200 is not a status from 400 to 599"),
        (two, "TWO\neject_after = 2\neject_for = \"0s\"\n", "n.toml:14:13: a duration above 0 is needed"),
        (
            "origin = ",
            "rate_limit = [{ rate = \"10/d\" }]\norigin = ",
            "n.toml:12:24: \"10/d\" is not a rate: expected one such as \"10/s\"",
        ),
        (
            "origin = ",
            "rate_limit = [{ rate = \"10/s\", path = \"api\" }]\norigin = ",
            "\"api\" matches no path: expected one such as \"/api/*\"",
        ),
        (
            "origin = ",
            "rate_limit = [{ rate = \"10/s\", status = 200 }]\norigin = ",
            "200 is not an error status: expected 400 to 599",
        ),
        (
            "origin = ",
            "health_check = { path = \"healthz\" }\norigin = ",
            "n.toml:12:25: \"healthz\" is not a path: expected one such as \"/healthz\"",
        ),
        (
            "origin = ",
            "health_check = { path = \"/\", interval = \"1ms\" }\norigin = ",
            "n.toml:12:16: a health check needs an interval of at least 10ms",
        ),
        (
            "origin = ",
            "health_check = { path = \"/\", statuses = [99] }\norigin = ",
            "99 is not a status from 200 to 599",
        ),
        (
            "origin = ",
            "health_check = { path = \"/\", host = \"a b\" }\norigin = ",
            "\"a b\" is not a host: expected one such as",
        ),
    ] {
        let text = match from == two {
            true => NETWORK.replace("origin = [\"http://127.0.0.1:8000\"]\n", &to.replace("TWO\n", two)),
            false => NETWORK.replacen(from, to, 1),
        };
        let said = read(&text).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}
