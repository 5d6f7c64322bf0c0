//! CSV as people and programs write it, and what must be refused.

use std::path::Path;

use crate::{Metric, Series, Unit, Wanted, decode_series};

fn read_as(text: impl AsRef<[u8]>, metric: Option<Metric>) -> Result<Series, String> {
    read_wanted(text, &Wanted { metric, ..Wanted::default() })
}

fn read_wanted(text: impl AsRef<[u8]>, wanted: &Wanted) -> Result<Series, String> {
    decode_series(text.as_ref(), Path::new("side.csv"), wanted).map_err(|error| error.to_string())
}

fn values(series: &Series) -> &[f64] {
    series.values.exact().unwrap()
}

fn warnings(series: &Series) -> Vec<String> {
    series.doubts.iter().filter(|doubt| !doubt.invalidates()).map(ToString::to_string).collect()
}

fn read(text: impl AsRef<[u8]>) -> Series {
    read_as(text, None).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    read_as(text, None).unwrap_err()
}

#[test]
fn times_of_start_are_dates_or_numbers_since_1970() {
    for (name, cells) in [
        ("timestamp", ["2025-03-14T09:26:53Z", "2025-03-14T10:26:54.5+01:00"]),
        ("started", ["2025/03/14 09:26:53", "2025/03/14 09:26:54.5"]),
        ("time", ["1741944413", "1741944414.5"]),
        ("ts", ["1741944413000", "1741944414500"]),
        ("Timestamp", ["1741944413000000", "1741944414500000"]),
        ("start_time", ["1741944413000000000", "1741944414500000000"]),
    ] {
        let series = read(format!("{name},latency_ms\n{},1\n{},2\n", cells[0], cells[1]));
        assert_eq!(series.started_s.as_deref(), Some(&[0.0, 1.5][..]), "{name}");
        assert!(warnings(&series).is_empty(), "{name}: {:?}", warnings(&series));
    }
    let mixed = refused("timestamp,latency_ms\n2025-03-14T09:26:53Z,1\nyesterday,2\n");
    assert!(mixed.starts_with("side.csv:3:1: found \"yesterday\"; expected a date such as"), "{mixed}");
}

#[test]
fn a_column_of_other_numbers_is_named_and_not_read_as_times() {
    let series = read("time,latency_ms\n0.5,1\n0.7,2\n");
    assert_eq!(series.started_s, None);
    let [warning] = &warnings(&series)[..] else { panic!("{:?}", warnings(&series)) };
    assert!(warning.starts_with("The column \"time\" has neither dates nor times since 1970"), "{warning}");
    let series = read("time,started_s,latency_ms\n0.5,0,1\n0.7,1,2\n");
    assert_eq!(series.started_s.as_deref(), Some(&[0.0, 1.0][..]));
    assert!(warnings(&series).is_empty());
}

#[test]
fn decimal_commas_where_columns_have_another_delimiter() {
    let series = read("started_s;latency_ms;city\n0,0;12,25;Lyon\n0,5;15;Oslo\n");
    assert_eq!(values(&series), [12.25, 15.0]);
    assert_eq!(series.started_s.as_deref(), Some(&[0.0, 0.5][..]));
    let refused = refused("latency_ms;city\n1,2,3;Lyon\n");
    assert!(refused.starts_with("side.csv:2:1: found \"1,2,3\""), "{refused}");
}

#[test]
fn spreadsheets() {
    assert_eq!(values(&read("sep=;\nlatency_ms;city\n1,5;Oslo\n")), [1.5]);
    assert_eq!(values(&read("\"SEP=|\"\r\nlatency_ms|note\r\n1.5|a;b\r\n")), [1.5]);
    assert_eq!(values(&read("sep=\t\nlatency_ms\tcity\n1.5\tOslo\n")), [1.5]);
    let refused = refused("sep=;\nlatency_ms;city\nx;Oslo\n");
    assert!(refused.starts_with("side.csv:3:1: found \"x\""), "{refused}");
    assert_eq!(values(&read("latency_ms,city\r1.5,Oslo\r2.5,Lima\r")), [1.5, 2.5]);
    assert_eq!(values(&read("latency_ms\r1.5\r2.5")), [1.5, 2.5]);
}

#[test]
fn labels_keep_their_commas() {
    let by = Wanted { by: Some("city".to_owned()), ..Wanted::default() };
    let series = read_wanted("latency_ms\tcity\n1,5\t1,5\n2,5\ta,a\n", &by).unwrap();
    assert_eq!(values(&series), [1.5, 2.5]);
    assert_eq!(series.groups.unwrap().names, ["1,5", "a,a"]);
}

#[test]
fn units_in_headers_and_cells() {
    for header in ["Latency (ms)", "latency [ms]", "Latency(milliseconds)", "LATENCY ( msec )"] {
        assert_eq!(values(&read(format!("{header},city\n1.5,Oslo\n"))), [1.5], "{header}");
    }
    assert_eq!(values(&read("TTFB (s),city\n1.5,Oslo\n")), [1500.0]);
    assert_eq!(values(&read("latency,city\n12ms,Oslo\n1.5 s,Lima\n880us,Lima\n")), [12.0, 1500.0, 0.88]);
    assert_eq!(values(&read("latency\n12ms\n1.5s\n")), [12.0, 1500.0]);
    assert_eq!(values(&read("latency;city\n1,5 ms;Oslo\n2,5 s;Lima\n")), [1.5, 2500.0]);
    assert_eq!(values(&read("latency_ms\n12\n1.5s\n")), [12.0, 1500.0]);
    assert_eq!(values(&read_columns("when,took\n1,12ms\n", &["latency=took"]).unwrap()), [12.0]);
    for text in ["total time,dns\n2ms,1ms\n", "Total time (ms),DNS (ms)\n2,1\n"] {
        assert!(refused(text).contains("such as latency_ms (or"), "{text}");
    }
    let refused = refused("latency\n12ms\n900\n");
    assert_eq!(
        refused,
        "side.csv:3:1: found \"900\"; expected a number with its unit, such as 12.5 ms, as in the rows before"
    );
    assert!(self::refused("latency_ms\n12kg\n").contains("expected a number of milliseconds"));
}

#[test]
fn a_column_with_a_unit() {
    for (name, rows) in
        [("latency_ms", "1.5\n20\n"), ("latency_us", "1500\n20000\n"), ("latency_s", "0.0015\n2e-2\n")]
    {
        let series = read(format!("{name}\n{rows}"));
        assert_eq!((series.label.as_str(), series.metric), ("side", Metric::Latency));
        assert_eq!(values(&series), [1.5, 20.0], "{name}");
        assert_eq!((series.read, series.failed, series.without_metric), (2, 0, 0));
        assert_eq!((warnings(&series), series.started_s), (vec![], None));
    }
    assert_eq!(values(&read("wait_ns\n1500000\n")), [1.5]);
}

#[test]
fn the_metric_among_others() {
    let text = "city,Started_ms,ttfb_ms,\"connect_us\",note\nOslo,0,12,3000,\"a, b\"\nLima,500,14,4000,\n";
    let series = read(text);
    assert_eq!((series.metric, values(&series)), (Metric::Ttfb, &[12.0, 14.0][..]));
    assert_eq!(series.started_s.unwrap(), [0.0, 0.5]);
    assert_eq!(values(&read_as(text, Some(Metric::Connect)).unwrap()), [3.0, 4.0]);
    assert_eq!(
        read_as(text, Some(Metric::Tls)).unwrap_err(),
        "side.csv:1:1: found the columns \"city\", \"started_ms\", \"ttfb_ms\", \"connect_us\", \"note\"; expected a \
         column such as tls_ms (or _us, _s, _ns; or the unit given with --unit), or --column tls=HEADER:ms"
    );
}

#[test]
fn latency_goes_before_ttfb_and_two_others_are_undecided() {
    assert_eq!(values(&read("ttfb_ms,latency_ms\n1,2\n")), [2.0]);
    assert_eq!(values(&read("tls_ms,ttfb_ms\n1,2\n")), [2.0]);
    assert!(
        refused("tls_ms,connect_ms\n1,2\n")
            .contains("expected a choice of metric, or one column such as tls_ms")
    );
    assert!(refused("tls_ms,tls_us\n1,2\n").contains("expected one column of tls, not several"));
    assert!(refused("latency_ms,latency_us\n1,2\n").contains("expected one column of latency"));
}

#[test]
fn tabs_and_semicolons() {
    assert_eq!(values(&read("city\tlatency_ms\nOslo, Norway\t7\n")), [7.0]);
    assert_eq!(values(&read("city;latency_ms\nOslo;7\n")), [7.0]);
}

#[test]
fn a_quote_that_is_not_closed_is_named() {
    let said = "found a double quote that is not closed on its line; expected another double quote at the cell's end (a cell \
                ends on its line)";
    for (text, place) in [
        ("city,latency_ms\n\"Oslo, N,7\nLima,8\n", "2:1"),
        ("latency_ms,city\n7,Oslo\n8,\"Lima\n", "3:3"),
        ("latency_ms,city\n7,\"Os\"\"lo\n", "2:3"),
        ("latency_ms,\"city\n7,Oslo\n", "1:12"),
        ("latency_ms,note\n7,\"a\nb\"\n", "2:3"),
    ] {
        assert_eq!(refused(text), format!("side.csv:{place}: {said}"));
    }
    let series = read("latency_ms,size\n7,5\" disk\n8,\"5\"\" disk\"\n9,\"\"\n");
    assert_eq!(values(&series), [7.0, 8.0, 9.0]);
}

#[test]
fn reuse_and_size_are_no_labels() {
    let text = "latency_ms,reused,body_bytes\n1,reused,500\n2,new,\n3,perhaps,many\n";
    let samples = crate::read::json::testing::read(text).unwrap().samples;
    let seen: Vec<_> =
        samples.iter().map(|sample| (sample.reused, sample.body_bytes, sample.labels.len())).collect();
    assert_eq!(seen, [(Some(true), Some(500), 0), (Some(false), None, 0), (None, None, 2)]);
    assert_eq!(samples[2].label("reused").as_deref(), Some("perhaps"));
}

#[test]
fn dates_keep_their_nanoseconds() {
    let text = "intended_s,started_s,latency_ms\n1741944413.123456789,1741944413.123456999,1\n";
    let sample = crate::read::json::testing::one(text);
    assert_eq!(sample.intended_ns, Some(1_741_944_413_123_456_789));
    assert_eq!(sample.get(Metric::Response), Some(1_000_210));
}

#[test]
fn numbers_without_a_header() {
    let series = read("1.5\n2\n3e1\n");
    assert_eq!((series.metric, values(&series)), (Metric::Latency, &[1.5, 2.0, 30.0][..]));
    assert_eq!(
        warnings(&series),
        ["There is no header row; the numbers are read as latency in milliseconds."]
    );
    assert_eq!(read_as("7\n", Some(Metric::Tls)).unwrap().metric, Metric::Tls);
    assert!(refused("1,2\n3,4\n").contains("2 columns of numbers and no header row"));
}

#[test]
fn a_lone_phase_without_a_unit_is_not_the_latency() {
    for text in [
        "response-time,DNS+dialup,DNS,Response-read\n0.0087,0.0047,0.0042,0.0001\n",
        "ctime\tttime\twait\n1\t9\t8\n",
    ] {
        let refused = read_wanted(text, &Wanted { unit: Some(Unit::S), ..Wanted::default() }).unwrap_err();
        assert!(
            refused.contains("expected a choice of metric, or one column such as latency_ms"),
            "{refused}"
        );
        assert!(refused.ends_with("or --column latency=HEADER:ms"), "{refused}");
    }
    assert_eq!(values(&read("dns_ms,city\n1,Oslo\n")), [1.0]);
    let dns = Wanted { unit: Some(Unit::S), metric: Some(Metric::Dns), ..Wanted::default() };
    assert_eq!(values(&read_wanted("total-time,dns\n2,1\n", &dns).unwrap()), [1000.0]);
}

fn read_columns(text: &str, columns: &[&str]) -> Result<Series, String> {
    let columns = columns.iter().map(|column| column.parse().unwrap()).collect();
    read_wanted(text, &Wanted { columns, ..Wanted::default() })
}

#[test]
fn columns_may_be_named() {
    let hey = "response-time,DNS,status-code,offset\n0.5,0.25,200,0\n1.5,0.5,503,2\n";
    let series = read_columns(hey, &["latency=Response-Time:s", "started=offset:s"]).unwrap();
    assert_eq!((series.metric, values(&series)), (Metric::Latency, &[500.0, 1500.0][..]));
    assert_eq!(series.started_s.as_deref(), Some(&[0.0, 2.0][..]));
    let text = "latency_ms,wait_ms,a wait,timestamp,when\n1,2,3,x,2025-03-14T09:26:53Z\n";
    let series = read_columns(text, &["wait=a wait:us", "started=when"]).unwrap();
    assert_eq!((series.metric, values(&series)), (Metric::Wait, &[0.003][..]));
    assert!(series.started_s.is_some() && warnings(&series).is_empty());
    let jmeter = "timeStamp,elapsed,label,responseCode,success,Latency\n1741944600000,12,home,200,true,7\n";
    assert_eq!(values(&read_columns(jmeter, &["ttfb=Latency:ms"]).unwrap()), [7.0]);
    assert_eq!(values(&read(jmeter)), [12.0]);
}

#[test]
fn columns_that_are_named_wrongly_are_refused() {
    let text = "a,b,b\n1,2,3\n";
    for (column, expected) in [
        ("latency=c:ms", "expected one with the name \"c\""),
        ("latency=b:ms", "expected one column with the name \"b\", not several"),
        ("latency=a", "expected the unit of \"a\", as in a:ms"),
    ] {
        let refused = read_columns(text, &[column]).unwrap_err();
        assert!(refused.starts_with("side.csv:1:1: found the columns \"a\", \"b\", \"b\"; "), "{refused}");
        assert!(refused.ends_with(expected), "{refused}");
    }
    for (columns, expected) in [
        (["latency=a:ms", "ttfb=A:ms"], "expected one --column for \"a\", not several"),
        (["latency=a:ms", "latency=c:ms"], "expected one --column for the field latency, not several"),
    ] {
        let refused = read_columns("a,c\n1,2\n", &columns).unwrap_err();
        assert!(refused.ends_with(expected), "{refused}");
    }
    assert_eq!(
        read_columns("1\n2\n", &["latency=a:ms"]).unwrap_err(),
        "side.csv:1:1: found a first row of numbers; expected a header row, in which a column has the name \"a\""
    );
    let caddy = r#"{"level":"info","ts":1741944600.5,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","uri":"/"},"duration":0.5,"status":200,"size":1}"#;
    let series = read_columns(caddy, &["latency=duration:s"]).unwrap();
    let warnings = warnings(&series);
    assert!(
        warnings.iter().any(
            |warning| warning.starts_with("Only columns of CSV files and named variables of access logs")
        ),
        "{warnings:?}"
    );
}

#[test]
fn a_header_in_quotes_may_contain_other_delimiters() {
    let series = read_columns("\"time, total\";city\n1,5;Oslo\n", &["latency=time, total:ms"]).unwrap();
    assert_eq!(values(&series), [1.5]);
    assert_eq!(values(&read("\"a;b\",latency_ms\n1,2\n")), [2.0]);
}

#[test]
fn two_columns_of_one_name_are_refused_where_it_matters() {
    for (header, expected) in [
        ("latency_ms,status,status", "expected one column of status, not several"),
        ("latency_ms,error,Error", "expected one column of error, not several"),
        ("latency_ms,started_s,started_ms", "expected one column of started, not several"),
        ("latency_ms,dns_ms,dns_us", "expected one column of dns, not several"),
        ("latency_ms,city,City", "expected one column with the name \"city\", not several"),
    ] {
        let by = Wanted { by: Some("city".to_owned()), ..Wanted::default() };
        let refused = read_wanted(format!("{header}\n1,2,3\n"), &by).unwrap_err();
        assert!(refused.ends_with(expected), "{refused}");
    }
    assert_eq!(values(&read("latency_ms,city,city\n1,2,3\n")), [1.0]);
}

#[test]
fn a_sentence_or_a_row_of_data_names_no_column() {
    let message = "17:23:41,974 found a user with the language en_US\n17:23:42,980 it went home\n";
    assert!(refused(message).contains("found the columns"), "{}", refused(message));
    let data = "1393227741256;1425;home;200;OK;a;text;true;34;10\n";
    assert!(
        refused(data).contains("a first row that is data and no header row: the columns \"1393227741256\"")
    );
    assert_eq!(values(&read("time from the first byte_ms\n3\n")), [3.0]);
}

#[test]
fn an_unknown_name_with_a_unit_is_taken_for_the_latency() {
    let series = read("host,rtt_us\na,1500\n");
    assert_eq!(values(&series), [1.5]);
    assert_eq!(warnings(&series), ["The column \"rtt_us\" is read as the latency."]);
    assert!(refused("rtt_us,age_ms\n1,2\n").contains("found the columns \"rtt_us\", \"age_ms\""));
    assert!(
        refused("latency\n1\n")
            .contains("found the column \"latency\"; expected a column such as latency_ms")
    );
}

#[test]
fn what_was_not_measured_is_missing() {
    let series = read("latency_ms,error\n1,\n,\n3,\n9,reset\n");
    assert_eq!(values(&series), [1.0, 3.0]);
    assert_eq!((series.read, series.failed, series.without_metric), (4, 1, 1));
    assert_eq!(
        refused("latency_ms,error\n,reset\n,reset\n"),
        "side.csv:1:1: found 2 samples, all failed; expected at least one sample with latency"
    );
}

#[test]
fn times_are_all_or_nothing_and_dates_become_relative() {
    let series = read("started_s,latency_ms\n0,1\n,2\n2,3\n");
    assert_eq!(series.started_s, None);
    assert_eq!(warnings(&series), ["1 of 3 samples without a start time; times are left out."]);
    let series = read("started_ms,latency_ms\n1760000002000,1\n1760000000000,2\n");
    assert_eq!(series.started_s.as_deref().unwrap(), [2.0, 0.0]);
    assert_eq!(series.start_unix_s, Some(1_760_000_000.0));
    let back = "1 sample starts long before its predecessor, the first (number 3) by 2.00 s: the clock went back, \
                or the file is not sorted by time.";
    assert_eq!(warnings(&series), [back]);
}

#[test]
fn marks_and_line_ends_of_other_systems() {
    assert_eq!(values(&read("\u{feff}latency_ms\r\n1\r\n2\r\n")), [1.0, 2.0]);
    assert_eq!(values(&read("\u{feff}1\r\n2\r\n")), [1.0, 2.0]);
    assert_eq!(values(&read("latency_ms\n 1 \n\n\r\n")), [1.0]);
}

#[test]
fn a_last_line_without_an_end() {
    let warning = ["The last line has no line end: if the file was cut off, its last value may be wrong."];
    assert_eq!(values(&read("latency_ms\n1\n23")), [1.0, 23.0]);
    assert_eq!(warnings(&read("latency_ms\n1\n23")), warning);
    assert_eq!(warnings(&read("latency_ms,x\n1,2\n3,4")), warning);
    assert!(refused("latency_ms\n1\n23.").starts_with("side.csv:3:1: found \"23.\""));
    assert!(refused("latency_ms\n1\n2e").starts_with("side.csv:3:1: found \"2e\""));
    assert!(refused("x,latency_ms\n1,2\n3,").starts_with("side.csv:3:3: found \"\""));
    assert_eq!(
        refused("x,latency_ms\n1,2\n3"),
        "side.csv:3:2: found 1 column; expected 2, as in the first row"
    );
}

#[test]
fn what_is_no_number_is_refused_with_its_place() {
    let cases = [
        ("NaN", "side.csv:3:3: found \"NaN\"; expected a number of milliseconds from 0 to 1e15"),
        ("inf", "side.csv:3:3: found \"inf\"; expected a number of milliseconds from 0 to 1e15"),
        ("-5", "side.csv:3:3: found \"-5\"; expected a number of milliseconds from 0 to 1e15"),
        ("fast", "side.csv:3:3: found \"fast\"; expected a number of milliseconds from 0 to 1e15"),
        ("12 kg", "side.csv:3:3: found \"12 kg\"; expected a number of milliseconds from 0 to 1e15"),
        ("2e15", "side.csv:3:3: found \"2e15\"; expected a number of milliseconds from 0 to 1e15"),
        ("1,2", "side.csv:3:5: found 3 columns; expected 2, as in the first row"),
    ];
    for (cell, message) in cases {
        assert_eq!(refused(format!("x,latency_ms\na,1\nb,{cell}\nc,3\n")), message);
    }
    assert!(refused("latency_ms\n1\nNaN\n2\n").starts_with("side.csv:3:1: found \"NaN\""));
    assert!(
        refused("started_s,latency_ms\n-1,2\n").contains(":2:1: found \"-1\"; expected a number of seconds")
    );
    assert!(refused("latency_s\n1e308\n").contains("a number of seconds from 0 to 1e12"));
    assert!(refused("-1\n2\n").starts_with("side.csv:1:1: found \"-1\""));
    assert!(refused("nan\n2\n").starts_with("side.csv:1:1: found \"nan\""));
}

#[test]
fn long_fields_are_cut_in_messages() {
    let message = refused(format!("latency_ms\n{}\n", "x".repeat(500)));
    assert!(message.contains(&format!("\"{}\"...", "x".repeat(40))), "{message}");
}

#[test]
fn nothing_to_read() {
    assert!(refused("").starts_with("side.csv:1:1: the file is empty; expected a native recording"));
    assert_eq!(
        refused("latency_ms\n"),
        "side.csv:2:1: there is a header row, but no row of numbers; expected a number of milliseconds from 0 to 1e15"
    );
    assert!(refused("\n\n").contains("there is"));
    assert!(
        refused("latency_ms\n1\n\n2\n").starts_with("side.csv:3:1: found an empty line; expected a number")
    );
}

#[test]
fn what_is_not_text() {
    assert_eq!(
        refused(b"latency_ms,x\n1,a\n2,\0\n"),
        "side.csv:3:3: the byte 0x00 is not text; expected UTF-8 without NUL"
    );
    assert!(refused(b"latency_ms\n1\n\xff\xfe\n").starts_with("side.csv:3:1: the byte 0xff is not text"));
    assert!(refused(b"\x7fELF\x02\x01\x01\0\0").starts_with("side.csv:1:8: the byte 0x00 is not text"));
    assert!(refused("[1, 2]").contains("this is a JSON array of nothing known"));
}

#[test]
fn a_unit_that_the_name_does_not_give() {
    let micro = Wanted { unit: Some(Unit::Us), ..Wanted::default() };
    assert_eq!(values(&read_wanted("latency,city\n1500,Oslo\n", &micro).unwrap()), [1.5]);
    assert_eq!(values(&read_wanted("latency_s\n0.5\n", &micro).unwrap()), [500.0]);
    let bare = read_wanted("1500\n", &micro).unwrap();
    assert_eq!((values(&bare), warnings(&bare).len()), (&[1.5][..], 0));
}

#[test]
fn what_stands_beside_the_metric() {
    let text = "total_ms,dns_ms,wait_us,page,city,status\n\
                30,10,5000,a,Oslo,200\n40,,6000,b,Lima,404\n50,1,7000,a,,200\n";
    let by =
        |label: &str| Wanted { by: Some(label.to_owned()), metric: Some(Metric::Total), ..Wanted::default() };
    let series = read_wanted(text, &by("city")).unwrap();
    assert_eq!((values(&series), series.pages.as_deref()), (&[30.0, 40.0, 50.0][..], Some(&[0, 1, 0][..])));
    let groups = series.groups.unwrap();
    assert_eq!((groups.names, groups.of), (vec!["Oslo".to_owned(), "Lima".to_owned()], vec![0, 1, u32::MAX]));
    let [dns, _, _, _, _, wait, _] = series.phases.unwrap();
    assert_eq!((dns[0], dns[1].is_nan(), wait), (10.0, true, vec![5.0, 6.0, 7.0]));
    assert_eq!(read_wanted(text, &by("status")).unwrap().groups.unwrap().names, ["200", "404"]);
    let without = Wanted { excluded_phases: vec![Metric::Dns], ..by("city") };
    assert_eq!(values(&read_wanted(text, &without).unwrap()), [20.0, 40.0, 49.0]);
}

#[test]
fn what_is_made_of_columns() {
    let text = "connect_ms,wait_us,dns_ms\n20,5000,1\n,6000,\n,,\n";
    let ttfb = read_as(text, Some(Metric::Ttfb)).unwrap();
    assert_eq!((values(&ttfb), ttfb.without_metric), (&[26.0, 6.0][..], 1));
    assert_eq!(values(&read_as(text, Some(Metric::TtfbWithoutDns)).unwrap()), [25.0, 6.0]);
    let lone = read_as("wait_ms\n7\n", Some(Metric::Ttfb)).unwrap();
    assert_eq!((values(&lone), lone.metric), (&[7.0][..], Metric::Ttfb));
    let late = "intended_ms,started_ms,total_ms\n0,30,5\n100,100,6\n";
    assert_eq!(values(&read_as(late, Some(Metric::Response)).unwrap()), [35.0, 6.0]);
}

#[test]
fn labels_are_found_in_capitals_or_not() {
    let by = |label: &str| Wanted { by: Some(label.to_owned()), ..Wanted::default() };
    for label in ["City", "city", "CITY"] {
        let series = read_wanted("City,latency_ms\nOslo,1\n", &by(label)).unwrap();
        assert_eq!(series.groups.unwrap().names, ["Oslo"], "{label}");
    }
    assert_eq!(
        read_wanted("latency_ms,STATUS\n1,200\n", &by("Status")).unwrap().groups.unwrap().names,
        ["200"]
    );
}
