//! Transfers of curl 7.88 and 8.12, and what must be refused.

use proptest::prelude::*;

use crate::{
    Labels, Options,
    read::json::testing::{damaged, one, phases, read, read_with, refused_by_sink},
};

/// curl 8: new connection, with TLS.
const FRESH: &str = r#"{"certs":"","conn_id":0,"content_type":"text/html","errormsg":null,"exitcode":0,"filename_effective":"/dev/null","ftp_entry_path":null,"http_code":200,"http_connect":0,"http_version":"2","local_ip":"198.51.100.4","local_port":59806,"method":"GET","num_certs":3,"num_connects":1,"num_headers":4,"num_redirects":0,"num_retries":0,"proxy_ssl_verify_result":0,"redirect_url":null,"referer":null,"remote_ip":"192.0.2.7","remote_port":443,"response_code":200,"scheme":"https","size_download":1103,"size_header":156,"size_request":79,"size_upload":0,"speed_download":9459,"speed_upload":0,"ssl_verify_result":0,"time_appconnect":0.070500,"time_connect":0.030250,"time_namelookup":0.010100,"time_posttransfer":0.071500,"time_pretransfer":0.071000,"time_queue":0.000100,"time_redirect":0.000000,"time_starttransfer":0.121500,"time_total":0.131750,"tls_earlydata":0,"url":"https://a.example:8443/x","url.host":"a.example","url_effective":"https://a.example:8443/x","urlnum":0,"xfer_id":0,"curl_version":"libcurl/8.12.1 OpenSSL/3.0.19"}"#;

/// curl 7.88: a reused connection, without the stamps of later versions.
const REUSED: &str = r#"{"errormsg":null,"exitcode":0,"http_code":200,"http_version":"1.1","method":"GET","num_connects":0,"num_redirects":0,"remote_ip":"192.0.2.7","response_code":200,"scheme":"HTTPS","size_download":1103,"time_appconnect":0.000021,"time_connect":0.000020,"time_namelookup":0.000020,"time_pretransfer":0.000071,"time_redirect":0.000000,"time_starttransfer":0.030071,"time_total":0.031071,"url":"https://a.example/","url_effective":"https://a.example/","urlnum":1}"#;

const REFUSED: &str = r#"{"errormsg":"Failed to connect to 127.0.0.1 port 1 after 0 ms","exitcode":7,"http_code":0,"http_version":"0","num_connects":0,"num_redirects":0,"response_code":0,"scheme":null,"size_download":0,"time_appconnect":0.000000,"time_connect":0.000000,"time_namelookup":0.000017,"time_pretransfer":0.000000,"time_redirect":0.000000,"time_starttransfer":0.000000,"time_total":0.000099,"url":"http://127.0.0.1:1/"}"#;

#[test]
fn a_new_connection() {
    let sample = one(FRESH);
    // 10.1 - 0.1 of queue; 30.25 - 10.1; 70.5 - 30.25; 71.5 - 71; 121.5 - 71.5; 131.75 - 121.5.
    assert_eq!(phases(&sample), [10.0, 20.15, 40.25, 0.5, 50.0, 10.25]);
    assert_eq!((sample.last_byte_ns, sample.started_ns), (Some(131_750_000), None));
    assert_eq!((sample.status, sample.body_bytes, sample.reused), (Some(200), Some(1103), Some(false)));
    for (name, value) in [
        ("url", "https://a.example:8443/x"),
        ("host", "a.example:8443"),
        ("method", "GET"),
        ("protocol", "HTTP/2"),
        ("scheme", "https"),
        ("remote_ip", "192.0.2.7"),
        ("redirects", "0"),
    ] {
        assert_eq!(sample.label(name).as_deref(), Some(value), "{name}");
    }
    let only_host = Options { labels: Labels::One("host".to_owned()), ..Options::default() };
    let sample = read_with(FRESH, &only_host).unwrap().samples.remove(0);
    assert_eq!(sample.labels.into_keys().collect::<Vec<_>>(), ["host"]);
}

#[test]
fn a_reused_connection_and_one_refused() {
    let reused = one(REUSED);
    // Without `time_posttransfer` sending is a part of waiting.
    assert_eq!(phases(&reused), [-1.0, -1.0, -1.0, -1.0, 30.0, 1.0]);
    assert_eq!(reused.reused, Some(true));
    let refused = one(REFUSED);
    assert_eq!(refused.error.as_deref(), Some("Failed to connect to 127.0.0.1 port 1 after 0 ms"));
    assert_eq!((refused.status, refused.reused, refused.body_bytes), (None, None, None));
    assert_eq!((refused.last_byte_ns, refused.label("protocol")), (Some(99_000), None));
    assert_eq!(one("{\"exitcode\":28,\"time_total\":1}").error.as_deref(), Some("exit code 28"));
    assert_eq!(one("{\"http_code\":0,\"time_total\":1}").error.as_deref(), Some("no response"));
}

#[test]
fn redirects_leave_only_the_total() {
    let chain = FRESH
        .replace("\"num_redirects\":0", "\"num_redirects\":2")
        .replace("\"time_redirect\":0.0", "\"time_redirect\":0.1");
    let kept = read(format!("{FRESH}\n{chain}\n")).unwrap();
    assert_eq!(
        kept.warnings,
        [
            "1 of 2 transfers followed redirects: curl adds up the phases of all requests of a chain, so only the total \
          is taken."
        ]
    );
    let chain = &kept.samples[1];
    assert_eq!((phases(chain), chain.ttfb_ns, chain.reused), ([-1.0; 6], None, None));
    assert_eq!((chain.last_byte_ns, chain.label("redirects").as_deref()), (Some(131_750_000), Some("2")));
}

#[test]
fn addresses_are_not_looked_up_and_quic_is_one_handshake() {
    let address = one(FRESH.replace("https://a.example:8443/x", "https://[2001:db8::1]:8443/x"));
    assert_eq!(phases(&address)[..3], [-1.0, 20.15, 40.25]);
    assert_eq!(one(FRESH.replace("https://a.example:8443/x", "http://192.0.2.1/x")).dns_ns, None);
    let quic = one(FRESH.replace("\"http_version\":\"2\"", "\"http_version\":\"3\""));
    // From the name to the end of the handshake: 70.5 - 10.1.
    assert_eq!((phases(&quic)[..3].to_vec(), quic.quic_ns), (vec![10.0, -1.0, -1.0], Some(60_400_000)));
}

#[test]
fn stamps_out_of_order_are_no_phases() {
    let backwards = one(
        "{\"time_namelookup\":0.5,\"time_connect\":0.4,\"time_appconnect\":0.3,\"time_pretransfer\":0.9,\
                         \"time_posttransfer\":0.8,\"time_starttransfer\":0.7,\"time_total\":0.6,\"http_code\":200}",
    );
    assert_eq!(phases(&backwards), [500.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
    assert_eq!(backwards.last_byte_ns, Some(600_000_000));
    assert_eq!(one("{\"time_starttransfer\":0.7,\"http_code\":200}").ttfb_ns, Some(700_000_000));
}

#[test]
fn objects_in_any_arrangement() {
    let count = |text: String| read(text).unwrap().samples.len();
    assert_eq!(count(format!("{FRESH}{REUSED}{REFUSED}")), 3);
    assert_eq!(count(format!("\u{feff}{FRESH}\r\n\r\n{REUSED}\r\n")), 2);
    assert_eq!(count(format!("[{FRESH},\n{REUSED}]\n")), 2);
    assert_eq!(count(FRESH.replace(",", ",\n  ")), 1);
    let kept = read(format!("{FRESH}\n{}", &REUSED[..90])).unwrap();
    assert_eq!(kept.warnings, ["Line 2, the last, is cut off in mid-write; read up to the line before it."]);
    assert_eq!(kept.numbers, [1]);
}

#[test]
fn what_is_broken_is_named() {
    assert_eq!(
        read("{\"time_total\":-0.5}").unwrap_err(),
        "x:1:19: invalid value: floating point `-0.5`, expected a number of seconds from 0 to 1e12; expected what \
         curl -w '%{json}\\n' writes, one object a transfer"
    );
    assert!(
        read(format!("{FRESH}\n{{\"time_total\":\"1\"}}"))
            .unwrap_err()
            .starts_with("x:2:17: invalid type: string")
    );
    assert!(read(format!("{FRESH}\n<html>")).unwrap_err().starts_with("x:2:1: expected value"));
    assert!(read(format!("[{FRESH},")).unwrap_err().contains("EOF while parsing"));
    assert!(read(format!("{FRESH}7")).unwrap_err().contains("invalid type: integer `7`, expected an object"));
    assert_eq!(refused_by_sink(&format!("{FRESH}\n{FRESH}\n")), "cannot write line 2 of the recording");
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in prop_oneof![damaged(FRESH), damaged(REUSED)]) {
        drop(read(bytes));
    }
}
