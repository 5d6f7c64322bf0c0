//! Formats of Apache, Tomcat and varnishncsa, with lines that the servers wrote.

use crate::{
    AccessFormat, AccessLog, Format, Labels, Options, Sample, Unit,
    read::json::testing::{Kept, read_with},
};

fn read_as(format: &str, text: &str, unit: Option<Unit>) -> Result<Kept, String> {
    let log: AccessLog = format.parse().map_err(|error: crate::Unknown| error.to_string())?;
    read_with(text, &Options { access_log: Some(log), labels: Labels::All, unit, ..Options::default() })
}

fn one(format: &str, line: &str) -> Sample {
    read_as(format, &format!("{line}\n"), None).unwrap().samples.remove(0)
}

/// Written by Apache 2.4.
#[test]
fn apache() {
    let text = "127.0.0.1 - - [28/Nov/2026:17:24:11 +0000] \"GET / HTTP/1.1\" 200 6 \"-\" \"curl/7.88.1\" 835\n\
                127.0.0.1 - - [28/Nov/2026:17:24:11 +0000] \"GET /slow HTTP/1.1\" 503 - \"-\" \"curl/7.88.1\" 508\n\
                127.0.0.1 - - [28/Nov/2026:17:24:12 +0000] \"GET /x y?y=1 HTTP/1.1\" 404 236 \"-\" \"a \\\"quoted\\\" \\\\ agent\" 144\n";
    for format in [
        "combined %D",
        "apache",
        "%h %l %u %t \\\"%r\\\" %>s %b \\\"%{Referer}i\\\" \\\"%{User-Agent}i\\\" %D",
        "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %{us}T",
    ] {
        let kept = read_as(format, text, None).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::Apache)), "{format}");
        let [first, second, third] = &kept.samples[..] else { panic!("{:?}", kept.samples) };
        // date -u -d "2026-11-28 17:24:11" +%s
        assert_eq!((first.latency_ns, first.started_ns), (Some(835_000), Some(1_795_886_651_000_000_000)));
        assert_eq!((first.status, first.body_bytes), (Some(200), Some(6)));
        assert_eq!((second.status, second.body_bytes, &second.error), (Some(503), None, &None));
        assert_eq!(third.label("user-agent").as_deref(), Some("a \"quoted\" \\ agent"));
        assert_eq!(
            (third.label("path").as_deref(), third.label("method").as_deref()),
            (Some("/x y"), Some("GET"))
        );
        assert!(kept.warnings.iter().all(|warning| !warning.contains("tomcat9")), "{:?}", kept.warnings);
    }
}

#[test]
fn several_times_in_a_line() {
    let format = "[%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t] %{ms}T %{us}T %T %D %X \"%r\" %>s %O";
    let sample = one(format, "[28/Nov/2026 17:24:11.637 +0000] 0 835 0 835 + \"GET / HTTP/1.1\" 200 206");
    assert_eq!((sample.latency_ns, sample.started_ns), (Some(835_000), Some(1_795_886_651_637_000_000)));
    assert_eq!(sample.error, None);
    let gone = one(format, "[28/Nov/2026 17:24:11.637 +0000] 0 835 0 835 X \"GET / HTTP/1.1\" 200 206");
    assert_eq!(gone.error.as_deref(), Some("the connection broke off (X)"));
    let sample = one("%{msec}t %D %^FB %>s %U%q", "1795886651637 835 741 200 /index.html?a=b");
    assert_eq!((sample.latency_ns, sample.ttfb_ns), (Some(835_000), Some(741_000)));
    assert_eq!(sample.started_ns, Some(1_795_886_651_637_000_000));
    assert_eq!(sample.label("path").as_deref(), Some("/index.html"));
    let end = one("%{end:usec}t %D %>s", "1795886651637123 1123 200");
    assert_eq!(end.started_ns, Some(1_795_886_651_636_000_000));
    let whole = read_as("%t %>s %T", "[28/Nov/2026:17:24:11 +0000] 200 3\n", None).unwrap();
    assert_eq!(whole.samples[0].latency_ns, Some(3_000_000_000));
    assert!(
        whole.warnings.iter().any(|warning| warning.contains("whole seconds: shorter")),
        "{:?}",
        whole.warnings
    );
}

#[test]
fn tomcat() {
    let line = "10.0.0.1 - - [28/Nov/2026:17:24:11 +0100] \"GET /a HTTP/1.1\" 200 - 152 0.152 140 http-nio-8080-exec-1";
    let rest = "%h %l %u %t \"%r\" %s %b %D %T %F %I";
    for (name, unit, latency, start) in [
        ("tomcat9", None, 152_000_000, 1_795_883_050_848_000_000),
        ("tomcat10", None, 152_000, 1_795_883_050_860_000_000),
        ("tomcat9", Some(Unit::Us), 152_000, 1_795_883_050_860_000_000),
    ] {
        let kept = read_as(&format!("{name}:{rest}"), &format!("{line}\n"), unit).unwrap();
        assert_eq!(kept.format, Some(Format::Access(AccessFormat::Tomcat)));
        let sample = &kept.samples[0];
        assert_eq!((sample.latency_ns, sample.started_ns), (Some(latency), Some(start)), "{name}");
        assert_eq!(
            (sample.ttfb_ns, sample.label("thread").as_deref()),
            (Some(140_000_000), Some("http-nio-8080-exec-1"))
        );
    }
    let error = "tomcat:%s %D".parse::<AccessLog>().unwrap_err().to_string();
    assert!(error.contains("tomcat9, whose %D is in milliseconds"), "{error}");
    let doubtful = read_as(
        "%h %l %u %t \"%r\" %s %b %D",
        "::1 - - [28/Nov/2026:17:24:11 +0100] \"GET /a HTTP/1.1\" 200 - 152\n",
        None,
    );
    let doubtful = doubtful.unwrap();
    assert_eq!(doubtful.samples[0].latency_ns, Some(152_000));
    assert!(doubtful.warnings[0].contains("tomcat9:FORMAT"), "{:?}", doubtful.warnings);
    let sample = one(
        "tomcat9:%{yyyy-MM-dd'T'HH:mm:ss.SSSXXX}t %r %s %{ms}T",
        "2026-11-28T17:24:11.637+01:00 GET /a b HTTP/1.1 200 7",
    );
    assert_eq!(sample.started_ns, Some(1_795_883_051_630_000_000));
    assert_eq!((sample.label("path").as_deref(), sample.status), (Some("/a b"), Some(200)));
}

/// Written by varnishncsa 7.1.
#[test]
fn varnish() {
    let text = "127.0.0.1 - - [28/Nov/2026:17:23:48 +0000] \"GET http://127.0.0.1:18082/x?y=1 HTTP/1.1\" 200 1000 \"-\" \"a \\\"quoted\\\" \\\\ agent\" 122179 0.121982 miss\n\
                - - - [28/Nov/2026:17:23:49 +0000] \"- http://localhost HTTP/1.0\" 400 0 \"-\" \"-\" 0 - -\n";
    let format = "%h %l %u %t \"%r\" %s %b \"%{Referer}i\" \"%{User-agent}i\" %D %{Varnish:time_firstbyte}x %{Varnish:hitmiss}x";
    let kept = read_as(format, text, None).unwrap();
    assert_eq!(kept.format, Some(Format::Access(AccessFormat::Varnish)));
    let sample = &kept.samples[0];
    assert_eq!((sample.latency_ns, sample.ttfb_ns), (Some(122_179_000), Some(121_982_000)));
    assert_eq!((sample.cache.as_deref(), sample.label("path").as_deref()), (Some("miss"), Some("/x")));
    assert_eq!((kept.samples[1].ttfb_ns, kept.samples[1].cache.as_deref()), (None, None));
    let cut = format.rsplit_once(" %{Varnish:t").unwrap().0;
    let named = read_as(
        &format!("varnishncsa:{cut}"),
        &text.replace(" 0.121982 miss", "").replace(" 0 - -\n", " 0\n"),
        None,
    );
    assert_eq!(named.unwrap().format, Some(Format::Access(AccessFormat::Varnish)));
}

#[test]
fn comments_and_lines_of_another_format() {
    let text = "#Version: 1.0\n200 7\nAH00094: Command line\n200 8\n#end\n";
    let kept = read_as("%>s %D", text, None).unwrap();
    assert_eq!(kept.numbers, [2, 4]);
    assert_eq!(
        kept.warnings[0],
        "1 line is left out; it is line 3, column 1: found \"AH00094: Command line\"; expected an HTTP status, or \"-\", for %>s."
    );
    let said = read_as("%>s %D", "x y\n200 7\nx y\n", None).unwrap_err();
    assert!(said.starts_with("x:1:1: found \"x y\""), "{said}");
}

#[test]
fn formats_that_are_wrong() {
    for (format, expected) in [
        ("combined", "expected a time that requests took"),
        ("%h %t \"%r\" %>s %b", "expected a time that requests took"),
        ("%ci:%cp [%tr] %ft %b/%s %TR/%Tw", "expected no format string of HAProxy"),
        ("%Z %D", "from \"%Z %D\"; expected a directive of Apache's"),
        ("%D %{Referer", "expected a } after the argument"),
        ("tomcat9:%{EEE}t %D", "expected a pattern of %Y"),
    ] {
        let said =
            format.parse::<AccessLog>().map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        assert!(said.contains(expected), "{format}: {said}");
    }
}

#[test]
fn meanings_of_the_user() {
    let read = |format: &str, columns: &[&str], text: &str| {
        let columns = columns.iter().map(|column| column.parse().unwrap()).collect();
        let access_log = Some(format.parse().unwrap());
        let options = Options { access_log, columns, labels: Labels::All, ..Options::default() };
        read_with(text, &options)
    };
    let format = "$status $request_time $upstream_response_time $upstream_header_time $app";
    let columns = ["latency=upstream_response_time", "ttfb=$upstream_header_time:us", "wait=app:ms"];
    let kept = read(format, &columns, "200 0.250 0.100, 0.150 7000 12\n").unwrap();
    let sample = &kept.samples[0];
    assert_eq!(
        (sample.latency_ns, sample.ttfb_ns, sample.wait_ns),
        (Some(250_000_000), Some(7_000_000), Some(12_000_000))
    );
    assert_eq!(sample.label("request_time").as_deref(), Some("0.250"));
    let apache = read("%>s %D", &["latency=%D:ms"], "200 7\n").unwrap();
    assert_eq!(apache.samples[0].latency_ns, Some(7_000_000));
    assert!(apache.warnings.iter().all(|warning| !warning.contains("Columns")), "{:?}", apache.warnings);

    let said = |columns: &[&str]| read(format, columns, "200 0.250 0.1 0.1 12\n").unwrap_err();
    assert_eq!(
        said(&["latency=upstream_time:ms"]),
        "x:1:1: found the variables \"app\", \"request_time\", \"status\", \"upstream_header_time\", \"upstream_response_time\"; expected \
         one with the name \"upstream_time\""
    );
    assert!(
        said(&["latency=app:ms", "latency=request_time"]).ends_with("for the field latency, not several")
    );
    assert!(said(&["latency=app:ms", "wait=app:s"]).ends_with("one --column for \"app\", not several"));
    assert!(said(&["started=app"]).ends_with("a metric or status for an access log, not started"));
}

#[test]
fn a_meaning_for_a_variable_that_no_line_has() {
    let read = |column: &str, text: &str| {
        read_with(text, &Options { columns: vec![column.parse().unwrap()], ..Options::default() })
    };
    let json = "{\"status\":200,\"request_time\":0.1}\n{\"request_time\":0.2,\"app\":7}\n";
    let app = read("wait=app:ms", json).unwrap();
    assert_eq!((app.samples[0].wait_ns, app.samples[1].wait_ns), (None, Some(7_000_000)));
    let said = read("wait=apps:ms", json).unwrap_err();
    assert_eq!(
        said,
        "x:1:1: found the variables \"app\", \"request_time\", \"status\"; expected one with the name \"apps\""
    );
    let iis = "#Fields: date time sc-status sc-win32-status time-taken\n2025-03-14 09:26:53 200 0 152\n";
    assert!(read("latency=time-taken:us", iis).is_ok());
    let said = read("latency=duration:us", iis).unwrap_err();
    assert!(said.contains("\"time-taken\"; expected one with the name \"duration\""), "{said}");
    let text = "192.0.2.7 - - [14/Mar/2025:09:26:53 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\" 1 \"r@file\" \"http://b/\" 12ms\n";
    let kept = read("latency=Duration:us", text).unwrap();
    assert!(
        kept.warnings.iter().any(|warning| warning.starts_with("Only columns of CSV")),
        "{:?}",
        kept.warnings
    );
}
