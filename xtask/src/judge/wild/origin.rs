//! The scripted origin: it serves each request from the script of its token and records it.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::{
    case::Answer,
    clock::{now, wait},
    message::{Content, Head, Reader, Unframed, date_before_now},
};

pub(super) struct Origin {
    pub(super) port: u16,
    scripts: Arc<Mutex<HashMap<String, Script>>>,
}

#[derive(Default)]
struct Script {
    answers: Vec<Answer>,
    asked: Vec<Asked>,
}

#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) head: Head,
    body: Vec<u8>,
    pub(super) answer: usize,
    pub(super) at: Instant,
}

impl Origin {
    pub(super) fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let scripts = Arc::new(Mutex::new(HashMap::new()));
        let shared = Arc::clone(&scripts);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let scripts = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &scripts));
            }
        });
        Ok(Self { port, scripts })
    }

    pub(super) fn learn(&self, token: &str, answers: Vec<Answer>) {
        lock(&self.scripts).insert(token.to_owned(), Script { answers, asked: Vec::new() });
    }

    pub(super) fn asked(&self, token: &str) -> Vec<Asked> {
        lock(&self.scripts).get(token).map(|script| script.asked.clone()).unwrap_or_default()
    }
}

impl Asked {
    pub(super) fn shown(&self, token: &str) -> String {
        let mut line = format!("{} {}", self.method, self.target.replace(token, "T"));
        for name in SHOWN {
            if let Some(value) = self.head.get(name) {
                line = format!("{line} {name}: {value}");
            }
        }
        if !self.body.is_empty() {
            line = format!("{line} with {} bytes", self.body.len());
        }
        line
    }

    pub(super) fn is_conditional(&self) -> bool {
        ["if-none-match", "if-modified-since"].into_iter().any(|name| self.head.get(name).is_some())
    }
}

fn lock(scripts: &Mutex<HashMap<String, Script>>) -> MutexGuard<'_, HashMap<String, Script>> {
    scripts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `w`, digits, `w`.
fn token(target: &str) -> Option<&str> {
    target.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| {
        let digits = word.strip_prefix('w').and_then(|rest| rest.strip_suffix('w'));
        digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

fn serve(mut stream: &TcpStream, scripts: &Mutex<HashMap<String, Script>>) -> io::Result<()> {
    let mut reader = Reader::new(stream);
    while let Some(head) = reader.head() {
        let Content { bytes: body, .. } = reader.content(&head, Unframed::Empty);
        let mut words = head.start.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let asked = Asked {
            method: method.to_owned(),
            target: target.to_owned(),
            head: head.clone(),
            body,
            answer: 0,
            at: now(),
        };
        let answered = token(target).and_then(|token| note(scripts, token, asked));
        let Some((answer, asked, number)) = answered else {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        };
        wait(Duration::from_millis(answer.delay_ms));
        let (bytes, is_last) = response(&answer, &asked, number);
        stream.write_all(&bytes)?;
        if is_last {
            // A server that reads now sees the first bytes without the end.
            wait(CUT_AFTER);
            break;
        }
    }
    stream.shutdown(Shutdown::Both)
}

fn note(
    scripts: &Mutex<HashMap<String, Script>>,
    token: &str,
    mut asked: Asked,
) -> Option<(Answer, Asked, usize)> {
    let mut scripts = lock(scripts);
    let script = scripts.get_mut(token)?;
    let line = format!("{} {}", asked.method, asked.target);
    let fits = |answer: &Answer| {
        (answer.to.is_empty() || line.contains(&answer.to))
            && (answer.with.is_empty() || asked.head.get(&answer.with).is_some())
    };
    let is_special = |answer: &Answer| !answer.to.is_empty() || !answer.with.is_empty();
    let of_kind = |special: bool| -> Vec<usize> {
        let numbered = script.answers.iter().enumerate();
        numbered
            .filter(|(_, answer)| is_special(answer) == special && fits(answer))
            .map(|(at, _)| at)
            .collect()
    };
    let special = of_kind(true);
    let chosen = if special.is_empty() { of_kind(false) } else { special };
    let before = script.asked.iter().filter(|asked| chosen.contains(&asked.answer)).count();
    asked.answer = *chosen.get(before).or(chosen.last())?;
    script.asked.push(asked.clone());
    let mut answer = script.answers[asked.answer].clone();
    if answer.status == Some(304) && !asked.is_conditional() {
        let first = script.answers.first().cloned().unwrap_or_default();
        answer.status = Some(200);
        answer.body = answer.body.or(first.body);
        answer.size = answer.size.or(first.size);
    }
    Some((answer, asked, script.asked.len()))
}

fn response(answer: &Answer, asked: &Asked, number: usize) -> (Vec<u8>, bool) {
    if answer.close {
        return (Vec::new(), true);
    }
    let filled = |text: &str| fill(text, asked, number);
    let mut status = answer.status.unwrap_or(200);
    let mut body: Vec<u8> = match answer.size {
        Some(size) => (0..=250).cycle().take(size).collect(),
        None => filled(answer.body.as_deref().unwrap_or("{n}")).into_bytes(),
    };
    let mut head = String::new();
    if answer.ranges && status == 200 {
        let whole = body.len();
        if let Some((first, last)) = asked.head.get("range").and_then(|range| bounds(range, whole)) {
            status = 206;
            body = body[first..=last].to_vec();
            head = format!("Content-Range: bytes {first}-{last}/{whole}\r\n");
        }
    }
    head =
        format!("HTTP/1.1 {status} Scripted\r\nDate: {}\r\nX-Origin: {number}\r\n{head}", date_before_now(0));
    for field in &answer.fields {
        head = format!("{head}{}\r\n", filled(field));
    }
    let has_body = !matches!(status, 204 | 304);
    if has_body {
        head += &match answer.chunked {
            true => "Transfer-Encoding: chunked\r\n".to_owned(),
            false => format!("Content-Length: {}\r\n", body.len()),
        };
    }
    let mut bytes = format!("{head}\r\n").into_bytes();
    if !has_body || asked.method == "HEAD" {
        return (bytes, false);
    }
    let kept = answer.cut.unwrap_or(body.len()).min(body.len());
    let is_last = answer.cut.is_some();
    if answer.chunked {
        bytes.extend(format!("{:x}\r\n", body.len()).bytes());
        bytes.extend(&body[..kept]);
        if !is_last {
            bytes.extend(b"\r\n0\r\n\r\n");
        }
    } else {
        bytes.extend(&body[..kept]);
    }
    (bytes, is_last)
}

fn bounds(range: &str, whole: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let end = whole.checked_sub(1)?;
    let (first, last) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(end)),
        (Ok(first), Err(_)) if last.is_empty() => (first, end),
        (Err(_), Ok(suffix)) if first.is_empty() => (whole.saturating_sub(suffix), end),
        _ => return None,
    };
    (first <= last).then_some((first, last))
}

/// `{n}` the number of the request, `{method}`, `{target}`, `{body}`, `{f:name}` a field,
/// `{ago:seconds}` a date.
fn fill(text: &str, asked: &Asked, number: usize) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled += before;
        let Some((name, after)) = after.split_once('}') else { break };
        filled += &match name.split_once(':') {
            Some(("f", field)) => asked.head.values(field).collect::<Vec<_>>().join("+"),
            Some(("ago", seconds)) => date_before_now(seconds.parse().unwrap_or_default()),
            _ => match name {
                "n" => number.to_string(),
                "t" => token(&asked.target).unwrap_or_default().to_owned(),
                "method" => asked.method.clone(),
                "target" => asked.target.clone(),
                "body" => String::from_utf8_lossy(&asked.body).into_owned(),
                _ => String::new(),
            },
        };
        rest = after;
    }
    filled + rest
}

/// Between the last byte of a response that is cut and the end of its connection.
const CUT_AFTER: Duration = Duration::from_millis(200);

const SHOWN: [&str; 4] = ["if-none-match", "if-modified-since", "range", "if-range"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_wherever_it_is() {
        assert_eq!(token("/static/../account?w12w"), Some("w12w"));
        assert_eq!(token("/w3w/x"), Some("w3w"));
        assert_eq!(token("/www/wxw"), None);
    }

    #[test]
    fn ranges_have_bounds() {
        assert_eq!(bounds("bytes=2-4", 10), Some((2, 4)));
        assert_eq!(bounds("bytes=-3", 10), Some((7, 9)));
        assert_eq!(bounds("bytes=5-", 10), Some((5, 9)));
        assert_eq!(bounds("bytes=10-", 10), None);
    }
}
