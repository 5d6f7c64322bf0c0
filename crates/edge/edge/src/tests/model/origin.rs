//! The origin: responds according to the plan of a URL and records each response in its history.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http_stack::{Body, HeaderMap, StatusCode};

use super::{
    body::Representation,
    plan::{Plan, Tag, URLS},
    rfc9111::{self, Fields, History, Ns, SECOND},
};

pub(super) struct Url {
    pub(super) plan: Plan,
    pub(super) history: History,
    current: HashMap<String, u64>,
    pub(super) representations: HashMap<u64, Representation>,
    pub(super) seen: (Option<String>, Option<String>),
    pub(super) altered: Vec<String>,
    pub(super) lines: Vec<String>,
}

pub(super) type Urls = Arc<[Mutex<Url>; URLS]>;

#[derive(Default)]
pub(super) struct Origin {
    sequences: Mutex<HashMap<usize, Urls>>,
    serial: AtomicU64,
}

impl Origin {
    pub(super) fn begin(&self, number: usize, obeys_requests: bool) -> Urls {
        let url = |()| {
            Mutex::new(Url {
                plan: Plan::SIMPLE,
                history: History::new(obeys_requests),
                current: HashMap::new(),
                representations: HashMap::new(),
                seen: (None, None),
                altered: Vec::new(),
                lines: Vec::new(),
            })
        };
        let urls: Urls = Arc::new([(); URLS].map(url));
        lock(&self.sequences).insert(number, Arc::clone(&urls));
        urls
    }

    pub(super) fn end(&self, number: usize) {
        lock(&self.sequences).remove(&number);
    }

    pub(super) fn next(&self) -> u64 {
        self.serial.fetch_add(1, Relaxed) + 1
    }

    pub(super) async fn respond(&self, request: http_stack::Request<Body>) -> http_stack::Response<Body> {
        let requested = now();
        let (head, body) = request.into_parts();
        // An origin that does not read the body would close the connection.
        let _ = body.collect(1 << 20).await;
        let place = head.uri.path().strip_prefix("/s").and_then(|path| path.split_once("/d"));
        let place = place
            .and_then(|(sequence, url)| Some((sequence.parse::<usize>().ok()?, url.parse::<usize>().ok()?)));
        let found =
            place.and_then(|(sequence, url)| Some((lock(&self.sequences).get(&sequence)?.clone(), url)));
        let Some((urls, url)) = found else {
            return status(StatusCode::GONE);
        };
        let plan = lock(&urls[url]).plan.clone();
        if plan.is_slow {
            tokio::time::sleep(Duration::from_millis(4)).await;
        }
        let tag = format!("t{}d{url}", place.map_or(0, |(sequence, _)| sequence));
        let mut url = lock(&urls[url]);
        url.respond(self.next(), &plan, (head.method.as_str(), &head.headers), requested, &tag)
    }
}

impl Url {
    fn respond(
        &mut self,
        serial: u64,
        plan: &Plan,
        (method, headers): (&str, &HeaderMap),
        requested: Ns,
        tag: &str,
    ) -> http_stack::Response<Body> {
        let asked = fields(headers);
        let Some(request) = asked.get("x-request").and_then(|id| id.parse().ok()) else {
            return status(StatusCode::BAD_REQUEST);
        };
        let method = ["GET", "HEAD", "POST", "PUT", "DELETE"].into_iter().find(|known| *known == method);
        let Some(method) = method else { return status(StatusCode::NOT_IMPLEMENTED) };
        let is_safe = matches!(method, "GET" | "HEAD");
        let representation = self.representation(serial, plan, &asked, is_safe);
        let length = representation.length();
        let (mut code, mut part) = (plan.status, (0, length));
        if is_safe && code == 200 {
            let is_known = asked.get("if-none-match").map_or_else(
                || {
                    representation.modified.is_some()
                        && asked.get("if-modified-since") == representation.modified.as_ref()
                },
                |tags| tags == "*" || representation.etag.as_ref().is_some_and(|tag| has_tag(tags, tag)),
            );
            let is_range_meant = asked.get("if-range").is_none_or(|validator| {
                Some(validator) == representation.etag.as_ref().filter(|tag| !tag.starts_with("W/"))
                    || Some(validator) == representation.modified.as_ref()
            });
            let range = asked.get("range").filter(|_| method == "GET" && plan.has_ranges && is_range_meant);
            if is_known {
                code = 304;
            } else if let Some(range) = range.and_then(|range| range_of(range, length)) {
                (code, part) = range.map_or((416, (0, 0)), |range| (206, range));
            }
        }
        let has_content = !matches!(code, 304 | 416);
        let fields = told(serial, plan, (code, tag), &representation);
        let is_body = has_content && method != "HEAD";
        let sent_part =
            if plan.breaks_off && is_body { (part.0, part.0 + (part.1 - part.0) / 2) } else { part };
        let has_sent = is_body && code != 416;
        let sent = rfc9111::Response {
            serial,
            request,
            method,
            asked: asked.clone(),
            status: code,
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            representation: (code != 416).then_some(representation.number),
            blocks: if has_sent { representation.blocks(sent_part.0, sent_part.1) } else { 0 },
            requested,
            sent: now(),
            is_complete: !(plan.breaks_off && is_body),
            phase: self.history.phases.len(),
            passed: passed(&asked),
        };
        self.line(|| {
            let decisive: Vec<_> = asked.iter().filter(|(name, _)| DECISIVE.contains(&&name[..])).collect();
            let end = if sent.is_complete { "" } else { " and breaks off" };
            format!("    origin: {method} of request {request} {decisive:?} -> {code} {fields:?}{end}")
        });
        self.compare(request, &asked);
        self.history.response(sent);
        let mut response = status(StatusCode::from_u16(code).unwrap_or_default());
        for (name, value) in &fields {
            let name = http_stack::HeaderName::from_static(name);
            response.headers_mut().append(name, value.parse().unwrap());
        }
        if code == 206 {
            let range = format!("bytes {}-{}/{length}", part.0, part.1 - 1);
            response.headers_mut().insert("content-range", range.parse().unwrap());
        }
        if method == "HEAD" && code == 200 {
            response.headers_mut().insert("content-length", length.into());
        }
        if is_body {
            *response.body_mut() = self.body(plan, &mut response, &representation, part, sent_part);
        }
        response
    }

    fn body(
        &self,
        plan: &Plan,
        response: &mut http_stack::Response<Body>,
        representation: &Representation,
        part: (u64, u64),
        sent_part: (u64, u64),
    ) -> Body {
        let bytes = representation.bytes(sent_part.0, sent_part.1);
        if sent_part == part && !plan.is_chunked {
            return Body::whole(bytes);
        }
        if !plan.is_chunked {
            response.headers_mut().insert("content-length", (part.1 - part.0).into());
        }
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move {
            if sender.send(bytes).await.is_ok() && sent_part == part {
                let _ = sender.finish().await;
            }
        });
        body
    }

    fn representation(&mut self, serial: u64, plan: &Plan, asked: &Fields, is_safe: bool) -> Representation {
        let mut names: Vec<String> = plan.vary.map_or(Vec::new(), |vary| {
            vary.split(',').map(|name| name.trim().to_ascii_lowercase()).collect()
        });
        if plan.is_personal {
            names.extend(["cookie".to_owned(), "authorization".to_owned()]);
        }
        let values =
            names.iter().map(|name| format!("{name}: {}\n", asked.get(name).map_or("", |value| value)));
        let selecting: String = values.collect();
        let is_resource = plan.status == 200 && is_safe;
        let current = self.current.get(&selecting).filter(|_| is_resource && !plan.is_renewed);
        if let Some(current) = current.and_then(|number| self.representations.get(number)) {
            return current.clone();
        }
        let etag = match plan.tag {
            Tag::None => None,
            Tag::Weak => Some(format!("W/\"r{serial}\"")),
            Tag::Strong => Some(format!("\"r{serial}\"")),
        };
        let new = Representation {
            number: serial & 0x00ff_ffff,
            blocks: plan.blocks,
            width: if plan.is_wide { WIDE } else { 1 },
            etag: etag.filter(|_| is_resource),
            modified: (plan.has_date && is_resource).then(|| date(LONG_AGO + serial)),
        };
        if is_resource {
            self.current.insert(selecting, new.number);
            self.plan.is_renewed = false;
        }
        self.representations.insert(new.number, new.clone());
        new
    }

    fn compare(&mut self, request: u64, asked: &Fields) {
        let Some(sent) = self.history.sent(request) else { return };
        for name in DECISIVE.iter().take(4) {
            if sent.fields.get(*name) != asked.get(*name) {
                let (sent, asked) = (sent.fields.get(*name), asked.get(*name));
                self.altered.push(format!(
                    "the origin received {name} {asked:?} of request {request}, which sent {sent:?}"
                ));
                break;
            }
        }
    }

    pub(super) fn line(&mut self, line: impl FnOnce() -> String) {
        if self.lines.len() < 400 {
            self.lines.push(line());
        }
    }
}

fn told(
    serial: u64,
    plan: &Plan,
    (code, tag): (u16, &str),
    representation: &Representation,
) -> Vec<(&'static str, String)> {
    let mut fields = vec![("x-serial", serial.to_string()), ("cache-tag", tag.to_owned())];
    fields.push(("date", date(now() / SECOND)));
    let mut add = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    add("cache-control", plan.control.map(str::to_owned));
    add("cdn-cache-control", plan.targeted.map(str::to_owned));
    add(
        "expires",
        plan.expires.map(|seconds| if seconds == 0 { "0".into() } else { date(now() / SECOND + seconds) }),
    );
    add("x-expires-in", plan.expires.map(|seconds| seconds.to_string()));
    add("age", plan.age.map(|age| age.to_string()));
    add("vary", plan.vary.map(str::to_owned));
    add("set-cookie", plan.has_cookie.then(|| format!("sid={serial}")));
    add("x-extra", plan.has_extra.then(|| serial.to_string()));
    if code != 304 || plan.tells_validators {
        add("etag", representation.etag.clone());
        add("last-modified", representation.modified.clone());
    }
    add("location", matches!(code, 301 | 302).then(|| "/elsewhere".to_owned()));
    fields
}

pub(super) fn fields(headers: &HeaderMap) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        fields
            .entry(name.as_str().to_owned())
            .and_modify(|before| *before = format!("{before}, {value}"))
            .or_insert_with(|| value.into_owned());
    }
    fields
}

fn passed(asked: &Fields) -> u8 {
    let via = asked.get("via").map_or("", |via| via);
    u8::from(via.contains("lhr")) | (u8::from(via.contains("fra")) << 1)
}

/// RFC 9110, section 13.1.2: weak comparison.
pub(super) fn has_tag(tags: &str, tag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    tags.split(',').any(|other| opaque(other) == opaque(tag))
}

fn range_of(range: &str, length: u64) -> Option<Result<(u64, u64), ()>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (first, end) = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) => (first, last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => (first, length),
        (Err(_), Ok(suffix)) if first.is_empty() => (length - suffix.min(length), length),
        _ => return None,
    };
    Some(if first < end { Ok((first, end)) } else { Err(()) })
}

fn status(code: StatusCode) -> http_stack::Response<Body> {
    let mut response = http_stack::Response::new(Body::empty());
    *response.status_mut() = code;
    response
}

/// RFC 9110, section 5.6.7.
fn date(seconds: u64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let text = http_stack::clock::rfc3339(Duration::from_secs(seconds));
    let month = text[5..7].parse::<usize>().unwrap_or(1) - 1;
    let day = usize::try_from(seconds / 86_400 % 7).unwrap_or(0);
    format!("{}, {} {} {} {} GMT", DAYS[day], &text[8..10], MONTHS[month], &text[..4], &text[11..19])
}

pub(super) fn now() -> Ns {
    u64::try_from(http_stack::clock::wall_ns()).unwrap_or(0)
}

pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub(super) const DECISIVE: [&str; 9] = [
    "cookie",
    "accept-language",
    "x-dev",
    "authorization",
    "range",
    "if-range",
    "if-none-match",
    "if-modified-since",
    "via",
];
/// Blocks of 8 KB.
const WIDE: u64 = 1024;
/// 1 January 2020.
const LONG_AGO: u64 = 1_577_836_800;
