//! Request smuggling: sends ambiguous messages through this edge and other proxies, and counts the requests
//! that a lenient origin receives.

mod corpus;
mod origin;

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

use self::{
    corpus::corpus,
    origin::{Origin, Prefers},
};
use super::{Ended, data_centre, free_port};
use crate::release;

struct Front {
    name: &'static str,
    port: u16,
    _program: Ended,
}

#[derive(Debug)]
struct Outcome {
    requests: usize,
    statuses: Vec<String>,
}

pub(crate) fn judge() -> anyhow::Result<()> {
    release::build()?;
    let folder = tempfile::tempdir()?;
    let (mut worse, mut fewer, mut compared) = (Vec::new(), 0, 0);
    for prefers in [Prefers::TransferEncoding, Prefers::ContentLength] {
        let origin = Origin::start(prefers)?;
        let fronts = [
            longhaul(folder.path(), origin.port)?,
            nginx(folder.path(), origin.port)?,
            haproxy(folder.path(), origin.port)?,
        ];
        println!(
            "\nan origin that follows {prefers}: requests that it received, and statuses of the responses\n"
        );
        println!("{:52} {:>16} {:>16} {:>16}", "", fronts[0].name, fronts[1].name, fronts[2].name);
        for (name, message) in corpus()? {
            let mut outcomes = Vec::new();
            for front in &fronts {
                outcomes.push(
                    send(front, &origin, &message).with_context(|| format!("{name}, to {}", front.name))?,
                );
            }
            let [ours, nginx, haproxy] = [0, 1, 2].map(|front: usize| outcomes[front].requests);
            let shown = |outcome: &Outcome| format!("{} {}", outcome.requests, outcome.statuses.join(","));
            println!(
                "{name:52} {:>16} {:>16} {:>16}",
                shown(&outcomes[0]),
                shown(&outcomes[1]),
                shown(&outcomes[2])
            );
            compared += 1;
            fewer += usize::from(ours < nginx.min(haproxy));
            if ours > nginx.min(haproxy) && !(LEGAL.contains(&name.as_str()) && ours <= nginx.max(haproxy)) {
                worse.push(format!("{name} ({prefers}): {ours}, nginx {nginx}, HAProxy {haproxy}"));
            }
        }
    }
    println!();
    worse.iter().for_each(|case| println!("more than a peer: {case}"));
    println!(
        "{compared} comparisons: fewer requests than both {fewer} times, more than one of them {} times; not counted, as the RFC \
         allows them and one of both refuses them: {}",
        worse.len(),
        LEGAL.join("; ")
    );
    ensure!(worse.is_empty(), "an origin sees more requests through this edge");
    Ok(())
}

fn send(front: &Front, origin: &Origin, message: &[u8]) -> anyhow::Result<Outcome> {
    origin.forget();
    let mut stream = TcpStream::connect(("127.0.0.1", front.port))?;
    stream.set_read_timeout(Some(SILENCE))?;
    // A proxy that rejects the message may close the connection before all of it is sent.
    let _ = stream.write_all(message);
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => said.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => break,
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
    let text = String::from_utf8_lossy(&said);
    let statuses =
        text.split("HTTP/1.").skip(1).filter_map(|rest| rest.get(2..5)).map(str::to_owned).collect();
    Ok(Outcome { requests: origin.seen(), statuses })
}

fn longhaul(folder: &Path, origin: u16) -> anyhow::Result<Front> {
    let port = free_port()?;
    let network = format!(
        "[network]\nname = \"judged\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:{port}\"]\n\
         [[zone]]\nname = \"all\"\nhosts = [\"*\"]\norigin = [\"http://127.0.0.1:{origin}\"]\n[[zone.rule]]\nbypass = true\n"
    );
    Ok(Front { name: "Longhaul", port, _program: data_centre(super::longhaul(), folder, &network, &[])? })
}

fn nginx(folder: &Path, origin: u16) -> anyhow::Result<Front> {
    let port = free_port()?;
    let place = folder.display();
    let config = format!(
        "daemon off; master_process off; pid {place}/nginx.pid; error_log stderr crit;
events {{ }}
http {{
  access_log off; client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
  fastcgi_temp_path {place}/f; uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 8; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_next_upstream off; }}
  }}
}}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, config)?;
    front("nginx", port, Command::new("nginx").arg("-p").arg(folder).arg("-c").arg(&file))
}

fn haproxy(folder: &Path, origin: u16) -> anyhow::Result<Front> {
    let port = free_port()?;
    let config = format!(
        "defaults\n mode http\n timeout connect 5s\n timeout client 10s\n timeout server 10s\n retries 0\n\
         frontend all\n bind 127.0.0.1:{port}\n default_backend origin\n\
         backend origin\n http-reuse always\n server origin 127.0.0.1:{origin}\n"
    );
    let file = folder.join("haproxy.cfg");
    fs::write(&file, config)?;
    front("HAProxy", port, Command::new("haproxy").arg("-db").arg("-f").arg(&file))
}

#[expect(clippy::disallowed_methods, reason = "a peer does not say when it listens")]
fn front(name: &'static str, port: u16, command: &mut Command) -> anyhow::Result<Front> {
    let program = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let program = Ended(program.with_context(|| format!("{name} cannot be started; is it installed?"))?);
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        ensure!(begin.elapsed() < PATIENCE, "{name} does not listen");
        thread::sleep(SILENCE / 10);
    }
    Ok(Front { name, port, _program: program })
}

/// Valid according to RFC 9110 and 9112, and accepted by at least one peer.
const LEGAL: &[&str] = &[
    "Content-Length with a tab before it",
    "Transfer-Encoding with a trailing tab",
    "a request line with a method in small letters",
    "a request line with TRACE",
    "a request line with an asterisk",
];

const SILENCE: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(10);
