//! An origin with a distinct body for each object, some with Content-Length, some chunked.

use std::{
    io::{BufRead, BufReader, BufWriter, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use super::body::{bytes, length};

pub(super) fn start() -> anyhow::Result<u16> {
    let socket = TcpListener::bind("127.0.0.1:0")?;
    let port = socket.local_addr()?.port();
    thread::spawn(move || {
        for connection in socket.incoming().flatten() {
            thread::spawn(move || drop(serve(&connection)));
        }
    });
    Ok(port)
}

fn serve(connection: &TcpStream) -> std::io::Result<()> {
    let (mut reader, mut writer) = (BufReader::new(connection), BufWriter::new(connection));
    loop {
        let (mut object, mut line) = (None, String::new());
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let path = line.strip_prefix("GET /").and_then(|rest| rest.split(' ').next());
            object = object.or(path.and_then(|path| path.parse::<u64>().ok()));
        }
        let Some(object) = object else { return Ok(()) };
        let length = length(object);
        write!(writer, "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nETag: \"{object}\"\r\n")?;
        let is_announced = object % 8 != 0;
        match is_announced {
            true => write!(writer, "Content-Length: {length}\r\n\r\n")?,
            false => write!(writer, "Transfer-Encoding: chunked\r\n\r\n")?,
        }
        for first in (0..length.div_ceil(PIECE)).map(|number| number * PIECE) {
            let piece = bytes(object, first, length.min(first + PIECE));
            if is_announced {
                writer.write_all(&piece)?;
            } else {
                write!(writer, "{:x}\r\n", piece.len())?;
                writer.write_all(&piece)?;
                writer.write_all(b"\r\n")?;
            }
        }
        if !is_announced {
            writer.write_all(b"0\r\n\r\n")?;
        }
        writer.flush()?;
    }
}

const PIECE: u64 = 50_000;
