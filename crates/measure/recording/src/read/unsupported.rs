//! Names files that are recognised and not read, with the next step.

use super::jmeter;

/// By its first lines; `None` for a file of another kind.
pub(super) fn describe(head: &[u8]) -> Option<String> {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let (first, second) = (lines.next()?, lines.next());
    if let Some((_, tool, step)) =
        summary(head).filter(|_| !first.starts_with(b"{") && !first.starts_with(b"<"))
    {
        return Some(format!("this is the text that {tool} prints ({step})"));
    }
    let text = String::from_utf8_lossy(first);
    let begins = |start: &str| text.starts_with(start);
    let is_message = |line: &[u8]| is_message(&String::from_utf8_lossy(line));
    let said = match () {
        () if begins("Nighthawk - ") => "this is nighthawk's text (run it with --output-format json)",
        () if ["traceroute", "tracepath", "Tracing route to "].into_iter().any(begins)
            || begins("1?: [LOCALHOST]") =>
        {
            "this is a trace of a route, with a few packets to each hop (run ping or mtr --raw)"
        }
        () if is_cloudfront(first) => {
            "this is CloudFront's log without its #Fields line (keep the two lines that begin with #)"
        }
        () if jmeter::is_row(first) => {
            "this is JMeter's CSV without its header row (put it before the rows: timeStamp,elapsed,label,responseCode,…; \
             jmeter.save.saveservice.print_field_names=true writes it)"
        }
        () if is_jmeter_without_times(&text) => {
            "this is JMeter's CSV without the column elapsed (jmeter.save.saveservice.time=true writes it)"
        }
        () if is_phout(first) => {
            "this is phout of Yandex.Tank (put a header row before it, such as time, tag, interval_real, …, and read it with \
             --column latency=interval_real:us)"
        }
        () if is_call(&text) => {
            "this is JSON within a call, as a script loads it (remove the call's name and its brackets)"
        }
        () if is_siege(&text) => {
            "this is what siege prints (write its times as CSV with a header row such as latency_s)"
        }
        () if is_message(first) && second.is_none_or(is_message) => {
            "this is a program's log of messages, which has no times of requests (give the access log, or the results of the load generator)"
        }
        () if is_prefixed_object(first) => {
            "these are lines of JSON after a prefix (remove it: sed 's/^[^{]*//' FILE)"
        }
        () => return None,
    };
    Some(said.to_owned())
}

type Summary = (&'static [&'static str], &'static str, &'static str);

fn summary(head: &[u8]) -> Option<Summary> {
    let has = |mark: &&str| memchr::memmem::find(head, mark.as_bytes()).is_some();
    SUMMARIES.iter().copied().find(|(marks, ..)| marks.iter().all(has))
}

const SUMMARIES: &[Summary] = &[
    (&["This is ApacheBench, "], "ab", "write each request: ab -g FILE"),
    (&["Bombarding http"], "bombardier", "run it with -l -p r -o json"),
    (&["Requests      [total, rate"], "vegeta report", "write the results: vegeta encode --to csv"),
    (&["http_req_duration..."], "k6", "run it with --out json=FILE or --summary-export FILE"),
    (&["# range, mid point, percentile, count"], "fortio", "run it with -json FILE"),
    (&["Running ", " test @ ", "\u{2502} Stat"], "autocannon", "run it with --json"),
    (&["http.response_time:", "http.requests:"], "artillery", "run it with --output FILE"),
    (&["---- Global Information ---"], "Gatling", "read its simulation.log"),
    (&["summary =", " Avg: ", " Err: "], "JMeter", "run it with -l FILE"),
    (&["# reqs", "# fails", "Avg"], "Locust", "run it with --csv NAME or --json"),
    (&["Summary:", "Success rate:"], "oha", "run it with --output-format csv"),
    (&["Summary:", "Count:", "Requests/sec:"], "ghz", "run it with -O json"),
    (&["Summary:", "Slowest:", "Requests/sec:"], "hey", "run it with -o csv"),
];

pub(super) fn xml(text: &[u8]) -> String {
    let name = memchr::memchr_iter(b'<', text).find_map(|at| {
        let name = &text[at + 1..];
        let end = name.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b":._-".contains(byte)))?;
        std::str::from_utf8(&name[..end]).ok().filter(|name| !name.is_empty() && name.len() < LONGEST_NAME)
    });
    match name {
        Some("testsuite" | "testsuites") => {
            "this is a JUnit report, which has the times of tests (give what the load generator wrote)"
                .to_owned()
        }
        Some("FinalStatus") => {
            "this is Taurus' final report, which has averages (give the JTL file of the run: kpi.jtl)"
                .to_owned()
        }
        Some(name) => format!("this is HTML or XML, <{name}>"),
        None => "this is HTML or XML".to_owned(),
    }
}

pub(super) fn keys(text: &[u8]) -> String {
    let (mut keys, mut depth, mut from, mut escaped) = (Vec::new(), 0_u32, None, false);
    for (at, &byte) in text.iter().enumerate() {
        match (byte, from) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (b'"', Some(begin)) => {
                let is_key = depth == 1 && text[at + 1..].trim_ascii_start().starts_with(b":");
                if is_key && at - begin < LONGEST_NAME {
                    keys.push(format!("\"{}\"", String::from_utf8_lossy(&text[begin..at])));
                }
                from = None;
            }
            (b'"', None) => from = Some(at + 1),
            (b'{' | b'[', None) => depth += 1,
            (b'}' | b']', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if keys.len() == MOST_KEYS || (at > 0 && depth == 0) {
            break;
        }
    }
    match keys.as_slice() {
        [] => String::new(),
        [key] => format!(", with the key {key}"),
        keys => format!(", with the keys {}", keys.join(", ")),
    }
}

/// "2024-03-12\t15:22:28\tCDG50-P2\t703\t...": the first columns of a standard log.
fn is_cloudfront(line: &[u8]) -> bool {
    let mut cells = line.split(|&byte| byte == b'\t');
    let mut shaped = |shape: &[u8]| {
        cells.next().is_some_and(|cell| {
            cell.len() == shape.len()
                && cell.iter().zip(shape).all(|(byte, like)| match like {
                    b'0' => byte.is_ascii_digit(),
                    _ => byte == like,
                })
        })
    };
    let is_timed = shaped(b"0000-00-00") && shaped(b"00:00:00");
    is_timed
        && cells.next().is_some_and(|edge| edge.len() > 4 && edge[..3].iter().all(u8::is_ascii_uppercase))
}

fn is_jmeter_without_times(header: &str) -> bool {
    let cells: Vec<&str> = header.split([',', ';', '\t', '|']).collect();
    let has = |name: &str| cells.contains(&name);
    has("label") && has("success") && (has("responseCode") || has("threadName")) && !has("elapsed")
}

/// "1482159938.776\t\t110010\t...": seconds since 1970, a tag, and ten whole numbers.
fn is_phout(line: &[u8]) -> bool {
    let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
    let is_digits = |cell: &&[u8]| !cell.is_empty() && cell.iter().all(u8::is_ascii_digit);
    let [time, _, numbers @ ..] = &cells[..] else { return false };
    let is_time =
        time.len() >= 12 && time.get(10) == Some(&b'.') && time[..10].iter().all(u8::is_ascii_digit);
    is_time && numbers.len() == 10 && numbers.iter().all(is_digits)
}

/// "onInputData({".
fn is_call(line: &str) -> bool {
    let Some((name, rest)) = line.split_once('(') else { return false };
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '.');
    !name.is_empty() && name.chars().all(is_of_name) && rest.trim_start().starts_with(['{', '['])
}

/// "HTTP/1.1 200     0.36 secs:    3372 bytes ==> GET  /", or the same with commas; perhaps in
/// colour.
fn is_siege(line: &str) -> bool {
    let plain = line.trim_start_matches(|letter: char| !letter.is_ascii_uppercase());
    let is_csv =
        || plain.split(',').count() > 6 && plain.split(',').nth(1).is_some_and(|status| status.len() == 3);
    plain.starts_with("HTTP/") && (plain.contains(" secs:") || is_csv())
}

/// "2017-08-18 17:23:41,964 INFO ...", "2022/04/02 13:39:51 [error] ...", "time=... level=debug".
fn is_message(line: &str) -> bool {
    let begins_with_time = line.starts_with("time=")
        || line.starts_with(|letter: char| letter.is_ascii_digit() || letter == '[');
    let levels = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRIT"];
    let is_level = |word: &str| {
        let word = word.strip_prefix("level=").unwrap_or(word);
        let word = word.trim_matches(|letter: char| !letter.is_ascii_alphabetic());
        levels.iter().any(|level| word.eq_ignore_ascii_case(level))
    };
    let words = || line.split([' ', '\t']).filter(|word| !word.is_empty()).take(5);
    begins_with_time
        && line.contains(':')
        && words().any(is_level)
        && !words().any(|word| word.contains("],"))
}

/// "2021-11-12T16:59:46Z host {...}", as syslog writes objects.
fn is_prefixed_object(line: &[u8]) -> bool {
    let begins_with_time = line.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'<');
    let object = memchr::memmem::find(line, b" {").filter(|&at| at < LONGEST_PREFIX);
    begins_with_time
        && object
            .is_some_and(|at| line.ends_with(b"}") && line[at + 2..].trim_ascii_start().starts_with(b"\""))
}

const LONGEST_NAME: usize = 60;

const MOST_KEYS: usize = 6;

const LONGEST_PREFIX: usize = 200;
