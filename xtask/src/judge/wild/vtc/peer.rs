//! The servers and clients of tests.

use std::{
    io::Write as _,
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    super::message::{Content, Head, Reader, Unframed, date_before_now},
    words::Line,
};

pub(super) const OPTIONS: &[&str] = &[
    "-url", "-method", "-req", "-proto", "-hdr", "-body", "-bodylen", "-nohost", "-nolen", "-status",
    "-reason", "-no_obj",
];

pub(super) struct Arrived {
    message: Message,
    reply: Sender<Reply>,
}

/// `None` closes the connection.
type Reply = Option<Vec<u8>>;

pub(super) type Requests = Receiver<Arrived>;

#[derive(Debug, Default)]
struct Message {
    head: Head,
    content: Content,
    has_object: bool,
}

pub(super) fn requests(listener: TcpListener) -> Arc<Mutex<Requests>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let send = send.clone();
            thread::spawn(move || connection(&stream, &send));
        }
    });
    Arc::new(Mutex::new(receive))
}

fn connection(mut stream: &TcpStream, requests: &Sender<Arrived>) -> Option<()> {
    let mut reader = Reader::new(stream);
    while let Some(head) = reader.head() {
        let content = reader.content(&head, Unframed::Empty);
        let (reply, replies) = channel();
        requests.send(Arrived { message: Message { head, content, has_object: true }, reply }).ok()?;
        let Ok(Some(bytes)) = replies.recv() else { break };
        stream.write_all(&bytes).ok()?;
    }
    stream.shutdown(Shutdown::Both).ok()
}

pub(super) struct Server(JoinHandle<Result<(), String>>);

impl Server {
    pub(super) fn start(block: Vec<Line>, repeat: usize, requests: Arc<Mutex<Requests>>) -> Self {
        Self(thread::spawn(move || {
            let requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
            (0..repeat).try_for_each(|_| serve(&block, &requests))
        }))
    }

    pub(super) fn end(self) -> Result<(), String> {
        self.0.join().unwrap_or_else(|_| Err("the server panicked".to_owned()))
    }
}

fn serve(block: &[Line], requests: &Requests) -> Result<(), String> {
    let mut last: Option<Arrived> = None;
    for line in block {
        let words: Vec<_> = line.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["rxreq", ..] => match requests.recv_timeout(PATIENCE) {
                Ok(arrived) => last = Some(arrived),
                Err(RecvTimeoutError::Timeout) => return Err("s1: no request arrived".to_owned()),
                Err(RecvTimeoutError::Disconnected) => return Err("s1: the server ended".to_owned()),
            },
            ["txresp", options @ ..] => {
                let arrived = last.as_ref().ok_or("s1: a response without request")?;
                let is_head = arrived.message.head.start.starts_with("HEAD ");
                let _ = arrived.reply.send(Some(response(options, is_head)?));
            }
            ["expect", left, operator, right] => {
                let arrived = last.as_ref().ok_or("s1: no request yet")?;
                expect(&arrived.message, left, operator, right).map_err(|why| format!("s1: {why}"))?;
            }
            ["close", ..] => {
                if let Some(arrived) = last.take() {
                    let _ = arrived.reply.send(None);
                }
            }
            ["accept" | "expect_close", ..] => {}
            other => return Err(format!("s1: {} cannot be read", other.join(" "))),
        }
    }
    Ok(())
}

pub(super) struct Client;

impl Client {
    pub(super) fn run(block: &[Line], port: u16) -> Result<(), String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        let mut reader = Reader::new(&stream);
        let mut received = Message::default();
        let mut is_head = false;
        for line in block {
            let words: Vec<_> = line.words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["txreq", options @ ..] => {
                    let bytes = request(options)?;
                    is_head = bytes.starts_with(b"HEAD ");
                    (&stream).write_all(&bytes).map_err(|error| error.to_string())?;
                }
                ["rxresp", options @ ..] => {
                    let head = reader.head().ok_or("no response")?;
                    let has_object = !is_head && !options.contains(&"-no_obj");
                    let content = match has_object && !matches!(status(&head), "204" | "304") {
                        true => reader.content(&head, Unframed::UntilClose),
                        false => Content::default(),
                    };
                    received = Message { head, content, has_object };
                }
                ["expect", left, operator, right] => expect(&received, left, operator, right)?,
                other => return Err(format!("{} cannot be read", other.join(" "))),
            }
        }
        Ok(())
    }
}

fn status(head: &Head) -> &str {
    head.start.split(' ').nth(1).unwrap_or_default()
}

struct Options<'a> {
    words: &'a [&'a str],
}

impl<'a> Options<'a> {
    fn has(&self, name: &str) -> bool {
        self.words.contains(&name)
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        self.values(name).last().copied()
    }

    fn values(&self, name: &str) -> Vec<&'a str> {
        self.words.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1]).collect()
    }

    fn body(&self) -> Result<Option<String>, String> {
        match (self.value("-body"), self.value("-bodylen")) {
            (Some(body), _) => Ok(Some(body.to_owned())),
            (None, Some(length)) => {
                let length = length.parse().map_err(|_| format!("{length} is no length"))?;
                Ok(Some(('!'..='~').cycle().take(length).collect()))
            }
            (None, None) => Ok(None),
        }
    }
}

fn request(words: &[&str]) -> Result<Vec<u8>, String> {
    let options = Options { words };
    let method = options.value("-method").or(options.value("-req")).unwrap_or("GET");
    let (url, version) =
        (options.value("-url").unwrap_or("/"), options.value("-proto").unwrap_or("HTTP/1.1"));
    let mut text = format!("{method} {url} {version}\r\n");
    let fields = options.values("-hdr");
    let has_host = fields.iter().any(|field| field.to_ascii_lowercase().starts_with("host:"));
    if !has_host && !options.has("-nohost") {
        text += "Host: 127.0.0.1\r\n";
    }
    for field in fields {
        text = format!("{text}{field}\r\n");
    }
    let body = options.body()?;
    if let Some(body) = &body
        && !options.has("-nolen")
    {
        text = format!("{text}Content-Length: {}\r\n", body.len());
    }
    Ok(format!("{text}\r\n{}", body.unwrap_or_default()).into_bytes())
}

fn response(words: &[&str], is_head: bool) -> Result<Vec<u8>, String> {
    let options = Options { words };
    let (status, reason) =
        (options.value("-status").unwrap_or("200"), options.value("-reason").unwrap_or("OK"));
    let mut text = format!(
        "{} {status} {reason}\r\nDate: {}\r\n",
        options.value("-proto").unwrap_or("HTTP/1.1"),
        date_before_now(0)
    );
    let fields = options.values("-hdr");
    let has = |name: &str| fields.iter().any(|field| field.to_ascii_lowercase().starts_with(name));
    for field in &fields {
        text = format!("{text}{field}\r\n");
    }
    if !has("cache-control:") && !has("expires:") {
        // The default_ttl of Varnish, which the tests expect.
        text += "Cache-Control: max-age=120\r\n";
    }
    let body = options.body()?.unwrap_or_default();
    if !options.has("-nolen") && !matches!(status, "204" | "304") {
        text = format!("{text}Content-Length: {}\r\n", body.len());
    }
    Ok(format!("{text}\r\n{}", if is_head { "" } else { &body }).into_bytes())
}

fn expect(message: &Message, left: &str, operator: &str, right: &str) -> Result<(), String> {
    let own = |word: &str| value(message, word).unwrap_or_else(|| word.to_owned());
    let (found, wanted) = (own(left), own(right));
    let holds = match operator {
        "==" => found == wanted,
        "!=" => found != wanted,
        _ => {
            let number = |text: &str| text.parse::<f64>().map_err(|_| format!("{text} is no number"));
            let (found, wanted) = (number(&found)?, number(&wanted)?);
            match operator {
                "<" => found < wanted,
                ">" => found > wanted,
                "<=" => found <= wanted,
                ">=" => found >= wanted,
                _ => return Err(format!("{operator} is no comparison")),
            }
        }
    };
    holds.then_some(()).ok_or_else(|| format!("{left} is {found:?}, not {operator} {wanted:?}"))
}

/// The value of a name such as `resp.http.etag`.
fn value(message: &Message, name: &str) -> Option<String> {
    let (whose, rest) = name.split_once('.')?;
    if !matches!(whose, "req" | "resp") {
        return None;
    }
    let absent = || "<undef>".to_owned();
    if let Some(field) = rest.strip_prefix("http.") {
        return Some(message.head.get(field).map_or_else(absent, str::to_owned));
    }
    let words: Vec<_> = message.head.start.splitn(3, ' ').collect();
    let word = |at: usize| words.get(at).map_or_else(absent, |word| (*word).to_owned());
    Some(match (whose, rest) {
        ("req", "method") | ("resp", "proto") => word(0),
        ("req", "url") | ("resp", "status") => word(1),
        ("req", "proto") | ("resp", "reason") => word(2),
        (_, "bodylen") if !message.has_object => absent(),
        (_, "bodylen") => message.content.bytes.len().to_string(),
        (_, "body") => String::from_utf8_lossy(&message.content.bytes).into_owned(),
        _ => return None,
    })
}

const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_message_are_compared() {
        let bytes = b"HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 3\r\n\r\nabc";
        let mut reader = Reader::new(&bytes[..]);
        let head = reader.head().unwrap();
        let content = reader.content(&head, Unframed::UntilClose);
        let message = Message { head, content, has_object: true };
        for (left, operator, right) in [
            ("resp.status", "==", "200"),
            ("resp.http.etag", "==", "\"a\""),
            ("resp.http.vary", "==", "<undef>"),
            ("resp.bodylen", "<", "4"),
            ("resp.body", "!=", "abd"),
        ] {
            expect(&message, left, operator, right).unwrap();
        }
        assert!(expect(&message, "resp.status", "==", "304").is_err());
    }
}
