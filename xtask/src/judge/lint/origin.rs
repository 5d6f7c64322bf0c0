//! A small origin with a resource for each class of responses.

use std::{
    io::{BufRead, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

pub(super) fn start() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            thread::spawn(move || serve(&stream));
        }
    });
    Ok(port)
}

#[expect(clippy::disallowed_methods, reason = "an origin that is too slow")]
fn serve(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let path = first.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
    let mut is_conditional = false;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        is_conditional |= line.starts_with("if-none-match:");
        if line.is_empty() {
            break;
        }
    }
    if path == "/slow" {
        thread::sleep(Duration::from_secs(5));
    }
    let is_head = first.starts_with("HEAD ");
    stream.write_all(response(&path, is_conditional, is_head).as_bytes())
}

fn response(path: &str, is_conditional: bool, is_head: bool) -> String {
    let page = PARAGRAPH.repeat(20);
    let (status, fields, body) = match path {
        "/fresh" => ("200 OK", format!("{TEXT}{TAGGED}Cache-Control: max-age=60\r\n"), "0123456789"),
        "/asked" if is_conditional => {
            ("304 Not Modified", format!("{TAGGED}Cache-Control: max-age=0\r\n"), "")
        }
        "/asked" => ("200 OK", format!("{TEXT}{TAGGED}Cache-Control: max-age=0\r\n"), "0123456789"),
        "/while" => {
            let control = "Cache-Control: max-age=0, stale-while-revalidate=60\r\n";
            ("200 OK", format!("{TEXT}{TAGGED}{control}"), "0123456789")
        }
        "/failing" if is_conditional => ("503 Service Unavailable", TEXT.to_owned(), "no\n"),
        "/failing" => {
            let control = "Cache-Control: max-age=0, stale-if-error=600\r\n";
            ("200 OK", format!("{TEXT}{TAGGED}{control}"), "0123456789")
        }
        "/page" => ("200 OK", format!("{HTML}{TAGGED}Cache-Control: max-age=60\r\n"), &page[..]),
        "/own" => ("200 OK", format!("{TEXT}Cache-Control: no-store\r\n"), "0123456789"),
        "/old" => {
            let moved = "Location: /fresh\r\nCache-Control: max-age=60\r\n";
            ("301 Moved Permanently", format!("{TEXT}{moved}"), "It is at /fresh.\n")
        }
        "/missing" => ("404 Not Found", format!("{TEXT}Cache-Control: max-age=60\r\n"), "There is none.\n"),
        "/empty" => return "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned(),
        "/hints" => return [HINTS, &response("/page", false, is_head)].concat(),
        "/pieces" => return PIECES.to_owned(),
        _ => return String::new(),
    };
    let length =
        if status.starts_with("304") { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let body = if is_head { "" } else { body };
    format!("HTTP/1.1 {status}\r\n{fields}{length}Connection: close\r\n\r\n{body}")
}

const TEXT: &str = "Content-Type: text/plain; charset=utf-8\r\n";
const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";
const TAGGED: &str = "ETag: \"v1\"\r\nLast-Modified: Mon, 02 Nov 2026 08:00:00 GMT\r\n";
const PARAGRAPH: &str = "<p>A paragraph that stands for many, as most of a page does.</p>\n";
const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n";
const PIECES: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nTrailer: Server-Timing\r\n\
                      Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n0\r\nServer-Timing: all;dur=1\r\n\r\n";
