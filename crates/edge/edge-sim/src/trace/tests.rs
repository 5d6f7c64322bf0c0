//! Tests of valid and invalid traces.

use config_file::Document;
use edge::{Network, config::Purpose};
use proptest::prelude::*;

use super::*;
use crate::Place;

fn table(text: &str) -> Result<Vec<Request>, String> {
    let said = |error: Error| error.to_string();
    let mut trace = Trace::csv(text.as_bytes(), "t.csv".as_ref(), 5, 1).map_err(said)?;
    let mut all = Vec::new();
    while let Some(block) = trace.next_block().map_err(said)? {
        all.extend(block);
    }
    Ok(all)
}

#[test]
fn columns_have_an_order_or_names() {
    let plain = table("0.5,/a,100,london\n1,/b,7,JFK\n").unwrap();
    let named = table("city,size,time,key\nlondon,100,0.5,/a\r\n\nnewyork,7,1,/b").unwrap();
    assert_eq!(plain, named);
    assert_eq!((plain[0].at_ns, plain[0].bytes, plain[0].fresh_ns), (500_000_000, 100, 5));
    assert_eq!(plain[1].city, crate::geography::number("newyork").unwrap());
    // Without a city, visitors are distributed. Times that are not ascending are sorted.
    let times: Vec<_> = table("3,a,1\n1,b,1\n2,c,1\n").unwrap().iter().map(|request| request.at_ns).collect();
    assert_eq!(times, [1_000_000_000, 2_000_000_000, 3_000_000_000]);
}

#[test]
fn mistakes_have_a_line_and_a_remedy() {
    for (text, expected) in [
        ("", "t.csv has no request that can be simulated"),
        ("time,key,size\n", "t.csv has no request that can be simulated"),
        (
            "time,key,sizes\n",
            "t.csv:1: unknown column \"sizes\", expected time,key,size and perhaps city; did you mean \"size\"?",
        ),
        ("time,key\n", "t.csv:1: no column \"size\", expected time,key,size and perhaps city"),
        ("time,key,size,key\n", "t.csv:1: the column \"key\" is there twice"),
        ("0,a,1\n1,b\n", "t.csv:2: no size, expected time,key,size and perhaps city"),
        ("0,a,1\n-1,b,1\n", "t.csv:2: \"-1\" is not a time: expected seconds, such as 12.5"),
        ("0,a,1\nNaN,b,1\n", "t.csv:2: \"NaN\" is not a time"),
        ("0,a,1\n\n1,b,1.5\n", "t.csv:3: \"1.5\" is not a size: expected a whole number of bytes"),
        ("0,a,1,londom\n", "t.csv:1: unknown city \"londom\"; did you mean \"london\"?"),
        (&format!("0,a,1\n1,{},1\n", "b".repeat(70_000)), "t.csv:2: the line is longer than 65536 bytes"),
    ] {
        let said = table(text).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn times_that_go_back_too_far_to_be_put_in_order_are_refused() {
    let mut text: String = (0..BLOCK).map(|number| format!("{},a,1\n", number + 10)).collect();
    text += "9,late,1\n";
    let said = table(&text).unwrap_err();
    let line = BLOCK + 1;
    assert!(said.starts_with(&format!("t.csv:{line}: its time is ")), "{said}");
    assert!(said.contains("sort -t, -g"), "{said}");
}

#[test]
fn an_access_log_has_the_requests_of_its_zone_by_the_zones_rules() {
    let network = "[network]\nname = 'n'\n[[data_centre]]\nname = 'lhr'\ncity = 'london'\n[[zone]]\nname = 'shop'\nhosts = ['*']\n\
                   origin = ['https://o.example']\n[[zone.rule]]\npath = '/private/*'\nbypass = true\n[[zone.rule]]\npath = '/v/*'\n\
                   edge_ttl = '10s'\nkey = { query = ['v'] }\n";
    let network = Network::read_for(&Document::new("n.toml", network), Purpose::Simulation).unwrap();
    let plan = Plan::new(network, None, Place::Anywhere).unwrap();
    // The format of the edge's log (crates/edge/edge/src/telemetry/access_log/entry.rs).
    let line = |started: u64, status: u16, zone: &str, method: &str, path: &str| {
        format!(
            "{{\"started_ns\":{started},\"wait_ns\":5,\"final_headers_ns\":5,\"last_byte_ns\":9,\"body_bytes\":100,\"status\":{status},\
             \"cache\":\"hit\",\"zone\":\"{zone}\",\"labels\":{{\"method\":\"{method}\",\"protocol\":\"h2\",\
             \"url\":\"http://a{path}\"}}}}\n"
        )
    };
    let mut text = "{\"schema\":\"longhaul.recording/1\"}\n".to_owned();
    text += &line(30, 200, "shop", "GET", "/a");
    text += &line(20, 200, "shop", "GET", "/private/b");
    text += &line(40, 200, "shop", "GET", "/v/c?v=1&u=2");
    text += &line(50, 200, "shop", "GET", "/v/c?u=3&v=1");
    text += &line(60, 304, "shop", "GET", "/a");
    text += &line(61, 200, "other", "GET", "/a");
    text += &line(62, 200, "shop", "POST", "/a");
    text += "{\"started_ns\":63,\"error\":\"the client left\",\"zone\":\"shop\",\"labels\":{\"method\":\"GET\",\"url\":\"http://a/a\"}}\n";
    text += "{\"end\":{}}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    std::fs::write(&path, text).unwrap();
    let mut trace = Trace::open(&path, &plan, None, 7, 1).unwrap();
    let block = trace.next_block().unwrap().unwrap();
    assert!(trace.next_block().unwrap().is_none());
    // In the order of their start. 20 is never stored, 30 has the default lifetime, and 40 and 50
    // that of the rule.
    let found: Vec<_> = block.iter().map(|request| (request.at_ns, request.fresh_ns)).collect();
    assert_eq!(found, [(20, 0), (30, 7), (40, 10_000_000_000), (50, 10_000_000_000)]);
    assert_eq!(block[2].key, block[3].key);
    assert_ne!(block[0].key, block[1].key);
    let left_out = LeftOut { method: 1, status: 2, zone: 1, ..LeftOut::default() };
    assert_eq!(trace.left_out(), left_out);
}

/// The network has two zones.
fn plan_of(zone: &str) -> Plan {
    let network = "[network]\nname = 'n'\n[[data_centre]]\nname = 'lhr'\ncity = 'london'\n\
                   [[zone]]\nname = 'shop'\nhosts = ['www.shop.example']\norigin = ['https://o.example']\n\
                   [[zone.rule]]\npath = '/v/*'\nkey = { query = ['v'] }\n\
                   [[zone]]\nname = 'rest'\nhosts = ['*']\norigin = ['https://o.example']\n";
    let network = Network::read_for(&Document::new("n.toml", network), Purpose::Simulation).unwrap();
    Plan::new(network, Some(zone), Place::Anywhere).unwrap()
}

fn log(zone: &str, format: Option<&str>, text: &str) -> Result<(Vec<Request>, LeftOut, Vec<String>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    std::fs::write(&path, text).unwrap();
    let said = |error: Error| {
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        text.replace(&format!("{}/", folder.path().display()), "")
    };
    let format = format.map(|format| recording::AccessLog::of_requests(format).unwrap());
    let mut trace = Trace::open(&path, &plan_of(zone), format, 7, 1).map_err(said)?;
    let mut all = Vec::new();
    while let Some(block) = trace.next_block().map_err(said)? {
        all.extend(block);
    }
    Ok((all, trace.left_out(), trace.notes()))
}

/// `combined` of nginx and Apache.
fn combined(second: u32, request: &str, status: u16, bytes: &str) -> String {
    format!(
        "192.0.2.1 - - [14/Mar/2025:09:30:{second:02} +0000] \"{request}\" {status} {bytes} \"-\" \"curl/8\"\n"
    )
}

#[test]
fn the_usual_logs_of_servers_are_read_without_a_format() {
    let mut text = combined(1, "GET /v/a?v=1&u=2 HTTP/1.1", 200, "100");
    text += &combined(3, "GET /v/a?u=3&v=1 HTTP/2.0", 200, "100");
    text += &combined(2, "GET /b HTTP/1.1", 200, "7");
    text += "192.0.2.1 - - something else\n";
    text += &combined(4, "HEAD /b HTTP/1.1", 200, "0");
    text += &combined(4, "GET /b HTTP/1.1", 304, "0");
    text += &combined(4, "GET /b HTTP/1.1", 200, "-");
    let (requests, left_out, notes) = log("shop", None, &text).unwrap();
    // The key contains the part of the query that the rule selects.
    let found: Vec<_> =
        requests.iter().map(|request| (request.at_ns / 1_000_000_000, request.bytes)).collect();
    let nine_thirty = 1_741_944_600;
    assert_eq!(found, [(nine_thirty + 1, 100), (nine_thirty + 2, 7), (nine_thirty + 3, 100)]);
    assert!(requests[0].key == requests[2].key && requests[0].key != requests[1].key);
    assert_eq!(left_out, LeftOut { method: 1, status: 1, size: 1, ..LeftOut::default() });
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.starts_with("1 line is left out; it is line 4, column "), "{note}");
}

#[test]
fn hosts_of_a_log_say_which_zone_it_is() {
    // Varnish logs the host in the target, and Debian's Apache at the beginning of the line.
    let varnish = combined(1, "GET http://www.shop.example/b HTTP/1.1", 200, "7")
        + &combined(2, "GET http://elsewhere.example/b HTTP/1.1", 200, "7");
    let apache = format!(
        "WWW.shop.example:443 {}elsewhere.example:80 {}",
        combined(1, "GET /b HTTP/1.1", 200, "7"),
        combined(2, "GET /b HTTP/1.1", 200, "7")
    );
    let nginx = "1741944601.250 www.shop.example \"GET /b HTTP/1.1\" 200 7\n\
                 1741944602.250 elsewhere.example \"GET /b HTTP/1.1\" 200 7\n";
    let of_nginx = Some("$msec $host \"$request\" $status $body_bytes_sent");
    for (format, text) in [(None, varnish.as_str()), (None, &apache), (of_nginx, nginx)] {
        for (zone, second) in [("shop", 1), ("rest", 2)] {
            let (requests, left_out, notes) = log(zone, format, text).unwrap();
            assert_eq!((requests.len(), requests[0].at_ns / 1_000_000_000 % 10), (1, second), "{text}");
            assert_eq!((left_out.zone, left_out.total(), notes.len()), (1, 1, 0), "{text}");
        }
    }
}

#[test]
fn a_log_that_cannot_be_simulated_says_why() {
    let mut late: String = (0..BLOCK)
        .map(|number| format!("{}.0 \"GET /b HTTP/1.1\" 200 7\n", 1_741_954_600 + number))
        .collect();
    late += "1741944600.0 \"GET /b HTTP/1.1\" 200 7\n";
    let of_nginx = Some("$msec \"$request\" $status $body_bytes_sent");
    let line = BLOCK + 1;
    for (format, text, expected) in [
        (of_nginx, late.as_str(), format!("access.log:{line}: its time is ").as_str()),
        (
            None,
            &combined(1, "POST /b HTTP/1.1", 200, "7"),
            "access.log has no request that can be simulated; left out: 1 request: 1 with another method than GET",
        ),
        (None, "one word after another\n", "access.log:1:1: "),
    ] {
        let said = log("shop", format, text).unwrap_err();
        assert!(said.starts_with(expected), "expected {expected}\n  but got {said}");
    }
}

proptest! {
    /// The property of the fuzz target `requests`, with bytes that resemble a table.
    #[test]
    fn any_bytes_are_requests_in_order_or_a_mistake_with_a_line(text in "(time|key|size|city|[0-9.,\n e-]|london|\\PC){0,60}") {
        let lines = text.split('\n').count() as u64;
        let mut trace = Trace::csv(text.as_bytes(), "t.csv".as_ref(), 5, 1);
        let mut before = 0;
        let error = loop {
            match trace.as_mut().map(Source::next_block) {
                Ok(Ok(Some(block))) => {
                    for request in block {
                        prop_assert!(request.at_ns >= before);
                        before = request.at_ns;
                    }
                }
                Ok(Ok(None)) => break None,
                Ok(Err(error)) => break Some(error.to_string()),
                Err(error) => break Some(error.to_string()),
            }
        };
        if let Some(said) = error {
            let line = said.strip_prefix("t.csv:").and_then(|rest| rest.split(':').next()?.parse::<u64>().ok());
            prop_assert!(line.is_some_and(|line| (1..=lines).contains(&line)) || said.contains("has no request"), "{said}");
        }
    }
}
