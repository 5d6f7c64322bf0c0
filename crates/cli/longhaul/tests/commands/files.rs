//! Files of other tools: read with the correct figures, or rejected with their name and a remedy.

use crate::harness::{Folder, longhaul, number};

/// Metric, samples, failures, and the mean in milliseconds.
type Figures = (&'static str, f64, f64, f64);

const READ: &[(&str, &str, Figures)] = &[
    (
        "BSD's ping of IPv6",
        "PATTERN: 0xff\nPING6(56=40+8+8 bytes) 2001:db8::1 --> 2001:db8::2\n16 bytes from 2001:db8::2, icmp_seq=0 hlim=59 time=32.5 ms\n\
         16 bytes from 2001:db8::2, icmp_seq=1 hlim=59 time=35.5 ms\n\n--- a.example ping6 statistics ---\n3 packets transmitted, 2 packets received, 33.3% packet loss\n",
        ("latency", 2.0, 1.0, 34.0),
    ),
    (
        "JMeter's rows without a line end after the last",
        "timeStamp,elapsed,label,responseCode,success\n1741944600000,12,home,200,true\n1741944600100,14,home,200,true",
        ("latency", 2.0, 0.0, 13.0),
    ),
    (
        "a HAR with a QUIC handshake in its first entry alone",
        "{\"log\":{\"entries\":[\
         {\"response\":{\"status\":200,\"httpVersion\":\"h3\"},\"time\":31,\"timings\":{\"connect\":10,\"ssl\":10,\"send\":0,\"wait\":20,\"receive\":1}},\
         {\"response\":{\"status\":200,\"httpVersion\":\"h3\"},\"time\":21,\"timings\":{\"connect\":-1,\"ssl\":-1,\"send\":0,\"wait\":20,\"receive\":1}}]}}",
        ("ttfb", 2.0, 0.0, 25.0),
    ),
    (
        "an old export of Chrome: time beyond all parts",
        "{\"log\":{\"creator\":{\"name\":\"Browsertime\"},\"entries\":[\
         {\"response\":{\"status\":200},\"time\":135,\"timings\":{\"connect\":60,\"ssl\":30,\"send\":0,\"wait\":40,\"receive\":1}}]}}",
        ("ttfb", 1.0, 0.0, 100.0),
    ),
    (
        "fortio's JSON of nighthawk: numbers as text",
        "{\"DurationHistogram\":{\"Count\":\"2\",\"Avg\":0.002,\"Data\":[{\"Start\":0.001,\"End\":0.003,\"Percent\":100,\"Count\":\"2\"}]},\"RetCodes\":{\"200\":\"2\"}}",
        ("latency", 2.0, 0.0, 2.0),
    ),
    (
        "a check of Gatling's that a status fails",
        "RUN\ta.Simulation\ta\t1741944413000\t \t3.5.1\n\
         REQUEST\t\tHome\t1741944413100\t1741944413112\tKO\tstatus.find.lessThanOrEqual(399), but actually 401 is not less than or equal to 399\n",
        ("latency", 1.0, 0.0, 12.0),
    ),
];

const NAMED: &[(&str, [&str; 2])] = &[
    (
        "1741944600000,12,home,200,OK,t,text,true,5\n",
        ["JMeter's CSV without its header row", "timeStamp,elapsed"],
    ),
    ("label,responseCode,threadName,success\na,200,t,true\n", ["without the column elapsed", "jmeter.save"]),
    (
        "2017-08-18 17:23:41,964 INFO o.a.j.u.JMeterUtils: Setting Locale to en_US\n2017-08-18 17:23:41,974 INFO a: b\n",
        ["log of messages", "access log"],
    ),
    (
        "traceroute to a.example (192.0.2.1), 30 hops max, 60 byte packets\n",
        ["trace of a route", "mtr --raw"],
    ),
    (
        "192.0.2.1 - - [17/Oct/2023:05:57:49 +1100] \"\\x16\\x03\" 400 226 \"-\" \"-\"\n",
        ["access log", "--log-format"],
    ),
    (
        "2024-03-12\t15:22:28\tCDG50-P2\t703\t192.0.2.1\tGET\ta.cloudfront.net\t/\t200\n",
        ["CloudFront", "keep the two lines"],
    ),
    ("Nighthawk - A layer 7 protocol benchmarking tool.\n\n", ["nighthawk's text", "--output-format json"]),
    ("<testsuites><testsuite name=\"a\"/></testsuites>\n", ["JUnit", "load generator"]),
    (
        "{\"NodeInfo\":{},\"ScenarioStats\":[]}\n",
        ["JSON of nothing known", "\"NodeInfo\", \"ScenarioStats\""],
    ),
    ("load({\"log\":{}})\n", ["JSON within a call", "remove"]),
    ("2021-11-12T16:59:46Z 192.0.2.1 {\"status\": 5}\n", ["JSON after a prefix", "sed"]),
    ("1482159938.776\t\t110010\t1\t2\t3\t4\t0\t8\t5\t0\t200\n", ["phout", "interval_real:us"]),
    (
        "\nSummary:\n  Total:\t0.5 secs\n  Slowest:\t0.1 secs\n  Requests/sec:\t400\n",
        ["hey prints", "-o csv"],
    ),
    ("This is ApacheBench, Version 2.3\n\nConcurrency Level: 1\n", ["ab prints", "ab -g FILE"]),
    ("HTTP/1.1 200     0.36 secs:    3372 bytes ==> GET  /\n", ["siege", "latency_s"]),
];

#[test]
fn files_of_many_tools_have_their_figures() {
    let folder = Folder::new();
    for (name, text, (metric, samples, failed, mean)) in READ {
        let file = folder.file("file", text);
        let json = longhaul(&["compare", &file, "--json"]).json();
        assert_eq!(json["metric"].as_str(), Some(*metric), "{name}");
        let found = ["n", "failed", "expected_request_ms"].map(|of| number(&json, &format!("/sides/0/{of}")));
        assert_eq!(found, [*samples, *failed, *mean], "{name}");
    }
}

#[test]
fn what_is_not_read_is_named_with_the_next_step() {
    let folder = Folder::new();
    for (text, expected) in NAMED {
        let file = folder.file("file", text);
        let output = folder.path("out.jsonl");
        let output = output.to_str().unwrap();
        for command in
            [&["compare", file.as_str()][..], &["convert", &file, output], &["merge", &file, "-o", output]]
        {
            let said = longhaul(command).refused();
            assert!(expected.iter().all(|part| said.contains(part)), "{command:?}: {said}");
        }
    }
}
