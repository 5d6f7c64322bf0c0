//! Entries as browsers give them, and what must be refused.

use proptest::prelude::*;

use crate::{
    Metric,
    read::json::testing::{Kept, damaged, one, phases, read, refused_by_sink},
};

/// A navigation, a resource on a new connection, one of another origin, and two that are not
/// requests.
const PAGE: &str = r#"[
  {"name":"https://a.example/","entryType":"navigation","startTime":0,"duration":900.5,"initiatorType":"navigation",
   "nextHopProtocol":"h2","workerStart":0,"redirectStart":0,"redirectEnd":0,"fetchStart":1,"domainLookupStart":2,
   "domainLookupEnd":12,"connectStart":12,"secureConnectionStart":32.25,"connectEnd":72.5,"requestStart":73,
   "responseStart":123,"responseEnd":131.75,"transferSize":5420,"encodedBodySize":5120,"decodedBodySize":20480,
   "responseStatus":200,"serverTiming":[{"name":"db","duration":3,"description":""}],"domInteractive":300,
   "loadEventEnd":900.5,"type":"navigate","redirectCount":0},
  {"name":"https://a.example/i.png","entryType":"resource","startTime":200,"duration":60,"initiatorType":"img",
   "nextHopProtocol":"h2","fetchStart":200,"domainLookupStart":200,"domainLookupEnd":200,"connectStart":200,
   "secureConnectionStart":200,"connectEnd":200,"requestStart":205,"firstInterimResponseStart":210,
   "finalResponseHeadersStart":255,"responseStart":210,"responseEnd":260,"transferSize":900,"encodedBodySize":600,
   "decodedBodySize":600,"responseStatus":200,"deliveryType":""},
  {"name":"https://ads.example/x.js","entryType":"resource","startTime":210,"duration":33.25,"initiatorType":"script",
   "nextHopProtocol":"","fetchStart":210,"domainLookupStart":0,"domainLookupEnd":0,"connectStart":0,
   "secureConnectionStart":0,"connectEnd":0,"requestStart":0,"responseStart":0,"responseEnd":243.25,"transferSize":0,
   "encodedBodySize":0,"decodedBodySize":0,"responseStatus":0},
  {"name":"https://a.example/c.css","entryType":"resource","startTime":220,"duration":2,"initiatorType":"link",
   "nextHopProtocol":"h2","fetchStart":220,"domainLookupStart":220,"domainLookupEnd":220,"connectStart":220,
   "secureConnectionStart":220,"connectEnd":220,"requestStart":221,"responseStart":221.5,"responseEnd":222,
   "transferSize":0,"encodedBodySize":100,"decodedBodySize":300,"responseStatus":200,"deliveryType":"cache"},
  {"name":"first-paint","entryType":"paint","startTime":150,"duration":0},
  {"name":"m","entryType":"mark","startTime":151,"duration":0,"detail":{"deep":[1,{"a":null}]}}
]
"#;

fn resource(fields: &str) -> String {
    format!("{{\"entryType\":\"resource\",\"startTime\":0,{fields}}}")
}

#[test]
fn a_page() {
    let Kept { samples, warnings, numbers, .. } = read(PAGE).unwrap();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(
        warnings,
        [
            "2 entries left out that are no requests (mark, paint).",
            "1 entry of other origins with a responseStatus of 0: browsers hide whether these failed; they are not \
             counted as failed.",
        ]
    );
    let navigation = &samples[0];
    // 12 - 2; 32.25 - 12; 72.5 - 32.25; 123 - 73; 131.75 - 123.
    assert_eq!(phases(navigation), [10.0, 20.25, 40.25, -1.0, 50.0, 8.75]);
    assert_eq!(navigation.get(Metric::Total), Some(131_750_000));
    assert_eq!(
        (navigation.status, navigation.body_bytes, navigation.reused),
        (Some(200), Some(5120), Some(false))
    );
    assert_eq!((navigation.started_ns, navigation.page), (Some(0), Some(0)));
    for (name, value) in
        [("url", "https://a.example/"), ("host", "a.example"), ("protocol", "h2"), ("type", "navigation")]
    {
        assert_eq!(navigation.label(name).as_deref(), Some(value), "{name}");
    }
    let reused = &samples[1];
    // Waiting lasts until the final header: 255 - 205.
    assert_eq!(phases(reused), [-1.0, -1.0, -1.0, -1.0, 50.0, 5.0]);
    assert_eq!((reused.first_interim_ns, reused.final_headers_ns), (Some(10_000_000), Some(55_000_000)));
    assert_eq!((reused.started_ns, reused.page, reused.reused), (Some(200_000_000), Some(0), Some(true)));
}

#[test]
fn zeros_of_other_origins_and_cache_hits() {
    let samples = read(PAGE).unwrap().samples;
    let opaque = &samples[2];
    assert_eq!((phases(opaque), opaque.get(Metric::Total)), ([-1.0; 6], Some(33_250_000)));
    assert_eq!((opaque.status, opaque.body_bytes, opaque.reused), (None, None, None));
    assert_eq!((opaque.label("protocol"), opaque.label("cache")), (None, None));
    let hit = &samples[3];
    assert_eq!((hit.label("cache").as_deref(), hit.reused, hit.body_bytes), (Some("hit"), None, None));
}

/// Unless the browser hides the status; if it is absent, the result is unknown.
#[test]
fn a_status_of_zero_is_a_failure() {
    let entry = |url: &str, initiator: &str, status: &str| {
        format!(
            "{{\"entryType\":\"resource\",\"name\":\"{url}\",\"initiatorType\":\"{initiator}\",\"startTime\":5,\
             \"duration\":7{status}}}"
        )
    };
    let page = "{\"entryType\":\"navigation\",\"name\":\"https://a.example/x?y\",\"startTime\":0,\"responseEnd\":9,\
                \"responseStatus\":200}";
    let error = |entry: &str, page: &str| {
        let kept = read(format!("[{page}{entry}]")).unwrap();
        (kept.samples.last().unwrap().error.clone(), kept.warnings.len())
    };
    let failed = Some("no response".to_owned());
    let zero = ",\"responseStatus\":0";
    let with_page = format!("{page},");
    assert_eq!(error(&entry("https://a.example/i.png", "img", zero), &with_page), (failed.clone(), 0));
    assert_eq!(error(&entry("https://b.example/api", "fetch", zero), &with_page), (failed.clone(), 0));
    assert_eq!(
        error(&entry("https://b.example/api", "xmlhttprequest", zero), &with_page),
        (failed.clone(), 0)
    );
    assert_eq!(error(&entry("https://b.example/i.png", "img", zero), ""), (failed.clone(), 1));
    assert_eq!(error(&entry("https://b.example/i.png", "img", zero), &with_page), (None, 1));
    assert_eq!(error(&entry("https://a.example:8443/i.png", "script", zero), &with_page), (None, 1));
    assert_eq!(error(&entry("https://a.example/i.png", "img", ""), &with_page), (None, 0));
    assert_eq!(
        error(&entry("https://a.example/i.png", "img", ",\"responseStatus\":null"), &with_page),
        (None, 0)
    );
    assert_eq!(
        error(&entry("https://a.example/i.png", "img", ",\"responseStatus\":404"), &with_page),
        (None, 0)
    );
}

#[test]
fn pages() {
    let numbers = |text: String| -> Vec<(Option<u64>, bool)> {
        let kept = read(text).unwrap();
        kept.samples.iter().map(|sample| (sample.page, sample.started_ns.is_some())).collect()
    };
    let first = [(Some(0), true); 4];
    let both = [first, [(Some(1), false); 4]].concat();
    assert_eq!(numbers(PAGE.to_owned()), first);
    assert_eq!(numbers(format!("[{PAGE},{PAGE}]")), both);
    assert_eq!(numbers(format!("{PAGE}\n{PAGE}")), both);
    let named = format!("{{\"name\":\"x\",\"startTime\":7,\"entries\":{PAGE},\"ua\":{{}}}}");
    assert_eq!(numbers(format!("{named}\n{named}")), both);
    let inner = PAGE.trim().trim_start_matches('[').trim_end_matches(']');
    assert_eq!(numbers(format!("[{inner},{inner}]")), both);
    let line = resource("\"responseEnd\":5");
    assert_eq!(numbers(format!("{line}\n{line}\n")), [(Some(0), true); 2]);
}

#[test]
fn stamps_out_of_order_are_no_phases() {
    let backwards = one(resource(
        "\"domainLookupStart\":5,\"domainLookupEnd\":4,\"connectStart\":9,\"connectEnd\":8,\"requestStart\":7,\
         \"responseStart\":6,\"responseEnd\":3",
    ));
    assert_eq!((phases(&backwards), backwards.get(Metric::Total)), ([-1.0; 6], Some(3_000_000)));
    let quic =
        one(resource("\"connectStart\":5,\"secureConnectionStart\":5,\"connectEnd\":35,\"requestStart\":36"));
    assert_eq!((quic.connect_ns, quic.quic_ns, quic.reused), (None, Some(30_000_000), Some(false)));
    let plain = one(resource("\"connectStart\":5,\"secureConnectionStart\":0,\"connectEnd\":35"));
    assert_eq!((plain.connect_ns, plain.tls_ns), (Some(30_000_000), None));
    let negative = one(resource("\"responseEnd\":-1,\"duration\":null"));
    assert_eq!(negative.get(Metric::Total), None);
}

#[test]
fn what_is_broken_is_named() {
    assert_eq!(
        read(PAGE.replace("\"duration\":900.5", "\"duration\":\"long\"")).unwrap_err(),
        "x:2:87: invalid type: string \"long\", expected f64; expected entries of Resource Timing or Navigation \
         Timing, as performance.getEntries() gives them"
    );
    assert!(read(&PAGE[..PAGE.len() - 4]).unwrap_err().contains("EOF while parsing"));
    assert!(
        read(PAGE.replace("\"redirectCount\":0},", "\"redirectCount\":0},5,"))
            .unwrap_err()
            .contains("integer `5`")
    );
    let line = resource("\"responseEnd\":5");
    let kept = read(format!("{line}\n{}", &line[..30])).unwrap();
    assert_eq!(kept.warnings, ["Line 2, the last, is cut off in mid-write; read up to the line before it."]);
    assert_eq!(refused_by_sink(PAGE), "cannot write line 2 of the recording");
    let deep = format!("{}{line}", "[".repeat(500));
    assert!(read(deep).unwrap_err().contains("recursion limit"));
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes in damaged(PAGE)) {
        drop(read(bytes));
    }
}
