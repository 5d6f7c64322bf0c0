//! Clients: requests over HTTP/1.0, 1.1 and 2, and the parts of responses that identify their
//! source.

use std::{
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use http_stack::{
    Body, HeaderMap, Version,
    client::{Config, Protocol, Trace},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    body::{Content, TEXT, content},
    origin::{Url, has_tag, lock},
    plan::{Client, Condition},
    rfc9111::{Fields, Received},
};

#[derive(Debug, Clone)]
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) is_complete: bool,
}

pub(super) struct Connections {
    http2: http_stack::Client,
    open: Mutex<Vec<(SocketAddr, TcpStream)>>,
    pub(super) unanswered: AtomicUsize,
}

impl Connections {
    pub(super) fn new() -> Self {
        let config = Config { protocol: Protocol::Http2, ..Config::default() };
        Self {
            http2: http_stack::Client::new(&config).unwrap(),
            open: Mutex::default(),
            unanswered: AtomicUsize::new(0),
        }
    }

    pub(super) async fn exchange(
        &self,
        address: SocketAddr,
        client: &Client,
        path: &str,
        fields: &Fields,
    ) -> Option<Raw> {
        let raw = if client.version == 20 {
            self.over_http2(address, client, path, fields).await
        } else {
            self.over_http1(address, client, path, fields).await
        };
        if raw.is_none() {
            self.unanswered.fetch_add(1, Relaxed);
        }
        raw
    }

    async fn over_http2(
        &self,
        address: SocketAddr,
        client: &Client,
        path: &str,
        fields: &Fields,
    ) -> Option<Raw> {
        let body = if client.has_body { Body::whole("body") } else { Body::empty() };
        let mut request = http_stack::Request::new(body);
        *request.method_mut() = client.method.parse().unwrap();
        *request.uri_mut() = path.parse().unwrap();
        *request.version_mut() = Version::HTTP_2;
        request.headers_mut().insert("host", "shop.example".parse().unwrap());
        for (name, value) in fields {
            let name: http_stack::HeaderName = name.parse().unwrap();
            // RFC 9113 section 8.2.3: a cookie may be several fields.
            let crumbs: Vec<&str> = if name == "cookie" { value.split("; ").collect() } else { vec![value] };
            for crumb in crumbs {
                request.headers_mut().append(&name, crumb.parse().unwrap());
            }
        }
        let origin = format!("http://{address}").parse().unwrap();
        let mut trace = Trace::start(self.http2.clock().now());
        let response = self.http2.send(&origin, request, &mut trace).await.ok()?;
        let (head, mut incoming) = response.into_parts();
        let mut body = Vec::new();
        let is_complete = loop {
            match incoming.data().await {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        Some(Raw { status: head.status.as_u16(), fields: listed(&head.headers), body, is_complete })
    }

    async fn over_http1(
        &self,
        address: SocketAddr,
        client: &Client,
        path: &str,
        fields: &Fields,
    ) -> Option<Raw> {
        let minor = client.version % 10;
        let mut text = format!("{} {path} HTTP/1.{minor}\r\nHost: shop.example\r\n", client.method);
        for (name, value) in fields {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(name) = client.nominated {
            text += &format!("Connection: {name}\r\n");
        }
        if client.has_body {
            text += "Content-Length: 4\r\n";
        }
        text += if client.has_body { "\r\nbody" } else { "\r\n" };
        loop {
            let open = {
                let mut open = lock(&self.open);
                let place = open.iter().position(|(there, _)| *there == address && client.version == 11);
                place.map(|place| open.swap_remove(place).1)
            };
            let is_new = open.is_none();
            let mut stream = match open {
                Some(stream) => stream,
                None => TcpStream::connect(address).await.ok()?,
            };
            let written = stream.write_all(text.as_bytes()).await;
            let read = if written.is_ok() { read(&mut stream, client.method).await } else { None };
            if let Some((raw, stays)) = read {
                if stays && client.version == 11 {
                    lock(&self.open).push((address, stream));
                }
                return Some(raw);
            }
            if is_new {
                return None;
            }
        }
    }
}

async fn read(stream: &mut TcpStream, method: &str) -> Option<(Raw, bool)> {
    let mut bytes = Vec::with_capacity(4096);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head: String = bytes[..end].iter().copied().map(char::from).collect();
    let mut body = bytes.split_off(end);
    let mut lines = head.lines();
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let fields: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let of = |name: &str| fields.iter().find(|(other, _)| other == name).map(|(_, value)| &value[..]);
    let mut stays = of("connection").is_none_or(|value| !value.contains("close"));
    let mut is_complete = true;
    if method == "HEAD" || matches!(status, 204 | 304) {
        body.clear();
    } else if of("transfer-encoding").is_some() {
        is_complete = loop {
            if let Some(whole) = unchunked(&body) {
                body = whole;
                break true;
            }
            if !matches!(stream.read_buf(&mut body).await, Ok(1..)) {
                body.clear();
                break false;
            }
        };
    } else if let Some(length) = of("content-length").and_then(|length| length.parse::<usize>().ok()) {
        while body.len() < length && matches!(stream.read_buf(&mut body).await, Ok(1..)) {}
        is_complete = body.len() == length;
    } else {
        is_complete = stream.read_to_end(&mut body).await.is_ok();
        stays = false;
    }
    Some((Raw { status, fields, body, is_complete }, stays && is_complete))
}

fn unchunked(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = bytes.windows(2).position(|end| end == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).ok()?, 16).ok()?;
        let rest = &bytes[end + 2..];
        if length == 0 {
            return rest.ends_with(b"\r\n").then_some(whole);
        }
        whole.extend_from_slice(rest.get(..length)?);
        bytes = rest.get(length + 2..)?;
    }
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http_stack::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

impl Client {
    pub(super) fn fields(&self, id: u64, url: &Url) -> Fields {
        let mut fields = Fields::from([("x-request".to_owned(), id.to_string())]);
        let mut add =
            |name: &str, value: Option<String>| fields.extend(value.map(|value| (name.to_owned(), value)));
        add("cookie", (self.user > 0).then(|| format!("u={}; theme=dark", self.user)));
        add("authorization", self.has_credentials.then(|| format!("Basic {}", self.user)));
        add("accept-language", self.language.map(str::to_owned));
        add("x-dev", self.device.map(str::to_owned));
        add("cache-control", self.control.map(str::to_owned));
        let (etag, modified) = url.seen.clone();
        match self.condition {
            Condition::None => {}
            Condition::IfNoneMatch => add("if-none-match", etag),
            Condition::IfNoneMatchOther => add("if-none-match", Some("\"other\"".into())),
            Condition::IfModifiedSince => add("if-modified-since", modified),
            Condition::IfRange => add("if-range", etag),
        }
        let width = if url.plan.is_wide { 8192 } else { TEXT };
        add(
            "range",
            self.range.map(|(first, last)| format!("bytes={}-{}", first * width, (last + 1) * width - 1)),
        );
        fields
    }
}

pub(super) fn received(raw: &Raw, method: &str, asked: &Fields, url: &Url) -> Result<Received, String> {
    let of = |name: &str| raw.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    let number = |name: &str| of(name).and_then(|value| value.parse().ok());
    let cookies: Vec<_> = raw.fields.iter().filter(|(name, _)| name == "set-cookie").collect();
    let cookie = cookies.first().and_then(|(_, value)| value.strip_prefix("sid=")?.parse().ok());
    let mut received = Received {
        status: raw.status,
        serial: number("x-serial"),
        extra: number("x-extra"),
        cookie,
        etag: of("etag"),
        ..Received::default()
    };
    if cookies.len() > 1 {
        return Err(format!("{} cookies", cookies.len()));
    }
    if let (304, Some(tags), Some(tag)) = (raw.status, asked.get("if-none-match"), &received.etag)
        && tags != "*"
        && !has_tag(tags, tag)
    {
        return Err(format!("304 with {tag} to {tags}"));
    }
    let (representation, first, last) = match content(&raw.body) {
        Content::Other
            if received.serial.is_some() && raw.is_complete && is_with_body(raw.status, method) =>
        {
            return Err(format!("no body with {}", raw.status));
        }
        Content::Other => return Ok(received),
        Content::Mixed(how) => return Err(how),
        Content::Of { representation, first, last } => (representation, first, last),
    };
    let Some(known) = url.representations.get(&representation) else {
        return Err(format!("a body of another URL: {representation}"));
    };
    received.representation = Some(representation);
    let per_block = known.width * TEXT;
    received.blocks = known.blocks(first * per_block, (last + 1) * per_block);
    if raw.is_complete {
        let length = raw.body.len() as u64;
        let whole = || format!("bytes 0-{}/{}", known.length() - 1, known.length());
        let range = of("content-range").filter(|_| raw.status == 206).unwrap_or_else(whole);
        let start =
            range.strip_prefix("bytes ").and_then(|range| range.split_once('-')?.0.parse::<u64>().ok());
        let Some(start) = start else { return Err(format!("Content-Range: {range}")) };
        let actual = format!("bytes {start}-{}/{}", start + length - 1, known.length());
        if actual != range || start / per_block != first || (start + length - 1) / per_block != last {
            return Err(format!("blocks {first} to {last}, {length} bytes, as {range}"));
        }
    }
    Ok(received)
}

fn is_with_body(status: u16, method: &str) -> bool {
    method != "HEAD" && !matches!(status, 204 | 304 | 416)
}
