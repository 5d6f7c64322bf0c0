//! Serves the pages of the web platform tests, and takes their reports.

use std::{
    fs,
    io::{self, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, mpsc::Sender},
    thread,
};

use super::{
    super::message::{Reader, Unframed},
    dispatch::{Reply, Tests},
    report::Report,
};

pub(super) struct Pages {
    pub(super) port: u16,
}

struct Shared {
    folder: PathBuf,
    port: u16,
    tests: Tests,
    reports: Sender<Report>,
}

impl Pages {
    pub(super) fn start(folder: &Path, reports: Sender<Report>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { folder: folder.to_owned(), port, tests: Tests::default(), reports });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(&stream));
            }
        });
        Ok(Self { port })
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let mut reader = Reader::new(stream);
        while let Some(head) = reader.head() {
            let content = reader.content(&head, Unframed::Empty);
            let mut words = head.start.split(' ');
            let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let path = target.split('?').next().unwrap_or_default();
            let reply = match path {
                "/report" => {
                    if let Ok(report) = serde_json::from_slice(&content.bytes) {
                        let _ = self.reports.send(report);
                    }
                    Reply::plain("200 OK", "").with("Cache-Control", "no-store")
                }
                DISPATCHER => self.tests.reply(method, target, &head),
                path => self.file(path).with("Cache-Control", "no-store"),
            };
            write(stream, method, &reply)?;
        }
        Ok(())
    }

    fn file(&self, path: &str) -> Reply {
        let missing = || Reply::plain("404 Not Found", "");
        if path == "/resources/testharnessreport.js" {
            return script(REPORT.to_owned());
        }
        if path.split('/').any(|part| part == "..") {
            return missing();
        }
        let read = |path: &str| fs::read_to_string(self.folder.join(path.trim_start_matches('/')));
        if let Some(name) = path.strip_suffix(".any.html") {
            let Ok(text) = read(&format!("{name}.any.js")) else { return missing() };
            return page(&text, &format!("{name}.any.js"));
        }
        let Ok(text) = read(path) else { return missing() };
        match path.contains(".sub.") {
            true => script(self.filled(&text)),
            false => script(text),
        }
    }

    fn filled(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            filled += before;
            filled += &if name.starts_with("ports") { self.port.to_string() } else { "127.0.0.1".to_owned() };
            rest = after;
        }
        filled + rest
    }
}

fn page(text: &str, own: &str) -> Reply {
    let named = text.lines().filter_map(|line| line.strip_prefix("// META: script="));
    let scripts: String = ["/resources/testharness.js", "/resources/testharnessreport.js"]
        .into_iter()
        .chain(named)
        .chain([own])
        .map(|name| format!("<script src=\"{name}\"></script>\n"))
        .collect();
    // Variants for windows and workers ask which of them they are.
    let scope = "<script>self.GLOBAL = { isWindow: () => true, isWorker: () => false, isShadowRealm: () => false };</script>";
    let mut reply = Reply::plain(
        "200 OK",
        format!(
            "<!doctype html>\n<meta charset=utf-8>\n<meta name=timeout content=long>\n{scope}\n{scripts}"
        ),
    );
    reply.fields = vec![("Content-Type".to_owned(), "text/html".to_owned())];
    reply
}

fn script(text: String) -> Reply {
    let mut reply = Reply::plain("200 OK", text);
    reply.fields = vec![("Content-Type".to_owned(), "text/javascript".to_owned())];
    reply
}

fn write(mut stream: &TcpStream, method: &str, reply: &Reply) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {}\r\n", reply.status);
    for (name, value) in &reply.fields {
        head = format!("{head}{name}: {value}\r\n");
    }
    let is_empty = reply.status.starts_with("304") || reply.status.starts_with("204");
    if !is_empty {
        head = format!("{head}Content-Length: {}\r\n", reply.body.len());
    }
    let body = if is_empty || method == "HEAD" { "" } else { &reply.body };
    stream.write_all(format!("{head}\r\n{body}").as_bytes())
}

const DISPATCHER: &str = "/fetch/http-cache/resources/http-cache.py";

/// The test suite calls this where a vendor takes its results.
const REPORT: &str = "\
add_completion_callback((tests) => {
  const results = tests.map((test) => ({ name: test.name, is_passed: test.status === 0, message: test.message }));
  fetch('/report', { method: 'POST', body: JSON.stringify({ page: location.href, tests: results }) });
});
";
