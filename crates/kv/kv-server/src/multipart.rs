//! An incremental parser of `multipart/form-data` bodies (RFC 7578). It buffers no more than one
//! piece of the body.

use http_stack::Bytes;

/// A parser of a form.
#[derive(Debug)]
pub struct Multipart {
    /// A line break, two dashes and the boundary.
    delimiter: Vec<u8>,
    input: Vec<u8>,
    state: State,
}

/// A part of the parsed form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The start of a part, with its name.
    Part(String),
    /// The next piece of the current part's body.
    Data(Bytes),
    /// The end of the form.
    End,
}

/// The reason why a body is not a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoForm {
    /// A boundary is not followed by a line break.
    #[error("the form has unexpected data after a boundary")]
    Boundary,
    /// A part's header is too long, or has no name.
    #[error("a part of the form has no name: expected Content-Disposition: form-data; name=\"value\"")]
    Head,
    /// There is no boundary at the start.
    #[error("the form does not begin with its boundary")]
    Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    BehindDelimiter,
    Head,
    Data,
    End,
}

/// Returns the boundary in a Content-Type.
pub fn boundary(kind: &str) -> Option<&str> {
    let parameter = kind.split(';').skip(1).map(str::trim).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then_some(value.trim())
    })?;
    let boundary = parameter.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(parameter);
    (1..=LONGEST_BOUNDARY).contains(&boundary.len()).then_some(boundary)
}

impl Multipart {
    /// Creates a parser for this boundary.
    pub fn new(boundary: &str) -> Self {
        // The first boundary may lack a line break before it.
        Self {
            delimiter: [b"\r\n--", boundary.as_bytes()].concat(),
            input: b"\r\n".to_vec(),
            state: State::Start,
        }
    }

    /// Adds input.
    pub fn add(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Returns the next event; `None` if more input is needed.
    ///
    /// # Errors
    /// Fails if the input is not a form.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: None is not the end")]
    pub fn next(&mut self) -> Result<Option<Event>, NoForm> {
        loop {
            match self.state {
                State::Start => {
                    let Some(at) = find(&self.input, &self.delimiter) else {
                        return if self.input.len() > LONGEST_START { Err(NoForm::Start) } else { Ok(None) };
                    };
                    self.take(at + self.delimiter.len());
                    self.state = State::BehindDelimiter;
                }
                State::BehindDelimiter => {
                    let spaces = self.input.iter().take_while(|byte| b" \t".contains(byte)).count();
                    if spaces > LONGEST_BOUNDARY {
                        return Err(NoForm::Boundary);
                    }
                    match self.input.get(spaces..spaces + 2) {
                        None => return Ok(None),
                        Some(b"--") => self.state = State::End,
                        Some(b"\r\n") => {
                            // The same line break may end an empty header.
                            self.take(spaces);
                            self.state = State::Head;
                        }
                        Some(_) => return Err(NoForm::Boundary),
                    }
                }
                State::Head => {
                    let Some(end) = find(&self.input, b"\r\n\r\n") else {
                        return if self.input.len() > LONGEST_HEAD { Err(NoForm::Head) } else { Ok(None) };
                    };
                    let name = name(&self.input[..end]).ok_or(NoForm::Head)?;
                    self.take(end + 4);
                    self.state = State::Data;
                    return Ok(Some(Event::Part(name)));
                }
                State::Data => {
                    if let Some(at) = find(&self.input, &self.delimiter) {
                        let data = Bytes::copy_from_slice(&self.input[..at]);
                        self.take(at + self.delimiter.len());
                        self.state = State::BehindDelimiter;
                        if data.is_empty() {
                            continue;
                        }
                        return Ok(Some(Event::Data(data)));
                    }
                    // The end of the input may be the beginning of a delimiter.
                    let sure = self.input.len().saturating_sub(self.delimiter.len() - 1);
                    if sure == 0 {
                        return Ok(None);
                    }
                    let data = Bytes::copy_from_slice(&self.input[..sure]);
                    self.take(sure);
                    return Ok(Some(Event::Data(data)));
                }
                State::End => return Ok(Some(Event::End)),
            }
        }
    }

    fn take(&mut self, bytes: usize) {
        self.input.drain(..bytes);
    }
}

fn name(head: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(head).ok()?;
    let line = text.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let parameter = line.split(';').skip(1).map(str::trim).find_map(|part| part.strip_prefix("name="))?;
    Some(parameter.trim_matches('"').to_owned())
}

fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    let (&first, rest) = part.split_first()?;
    let mut from = 0;
    loop {
        let at = from + whole.get(from..)?.iter().position(|&byte| byte == first)?;
        if whole[at + 1..].starts_with(rest) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// RFC 2046 section 5.1.1.
const LONGEST_BOUNDARY: usize = 70;
const LONGEST_HEAD: usize = 4096;
/// The preamble before the first boundary, which is ignored.
const LONGEST_START: usize = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(form: &[u8], piece: usize) -> Result<Vec<(String, Vec<u8>)>, NoForm> {
        let mut multipart = Multipart::new("b0");
        let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
        let mut pieces = form.chunks(piece);
        loop {
            match multipart.next()? {
                Some(Event::Part(name)) => parts.push((name, Vec::new())),
                Some(Event::Data(data)) => parts.last_mut().unwrap().1.extend_from_slice(&data),
                Some(Event::End) => return Ok(parts),
                None => match pieces.next() {
                    Some(piece) => multipart.add(piece),
                    None => return Ok(vec![("broken off".into(), vec![])]),
                },
            }
        }
    }

    proptest! {
        #[test]
        fn a_form_is_read_alike_in_whatever_pieces_it_comes(
            value in prop::collection::vec(prop::sample::select(b"\r\n-b0x".to_vec()), 0..60),
            piece in 1..50_usize,
        ) {
            prop_assume!(find(&value, b"\r\n--b0").is_none());
            let mut form = b"--b0\r\nContent-Disposition: form-data; name=\"value\"; filename=\"a\"\r\nX: y\r\n\r\n".to_vec();
            form.extend_from_slice(&value);
            form.extend_from_slice(b"\r\n--b0 \r\ncontent-disposition: form-data; name=metadata\r\n\r\n{}\r\n--b0--\r\n");
            let expected = vec![("value".to_owned(), value), ("metadata".to_owned(), b"{}".to_vec())];
            prop_assert_eq!(read(&form, piece), Ok(expected));
        }

        #[test]
        fn any_bytes_are_a_form_or_not(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1..50_usize) {
            let _ = read(&bytes, piece);
        }
    }

    #[test]
    fn what_is_no_form_is_refused() {
        assert_eq!(read(b"--b0!\r\n", 100), Err(NoForm::Boundary));
        assert_eq!(read(b"--b0\r\nX: y\r\n\r\n", 100), Err(NoForm::Head));
        assert_eq!(read(&[b'x'; 5000], 100), Err(NoForm::Start));
        assert_eq!(read(b"--b0--", 100), Ok(vec![]));
        assert_eq!(boundary("multipart/form-data; charset=x; Boundary=\"a b\""), Some("a b"));
        assert_eq!(boundary("multipart/form-data; boundary="), None);
        assert_eq!(boundary("multipart/form-data"), None);
    }
}
