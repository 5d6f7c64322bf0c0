//! Reads lines by a format string.

use std::{borrow::Cow, collections::BTreeSet};

use super::{
    Parser, Problem, Taken,
    fields::{Escapes, Fields, departs, list, take_value},
    format::{Dialect, Field, Kind, Parsed, Piece},
};

impl Parsed {
    fn escapes(&self) -> Escapes {
        match self.dialect {
            Dialect::Nginx => Escapes::Hex,
            Dialect::Envoy | Dialect::Traefik => Escapes::None,
            _ => Escapes::Backslash,
        }
    }
}

impl Parser for Cow<'_, Parsed> {
    fn names(&self) -> Option<BTreeSet<String>> {
        (self.dialect != Dialect::Traefik).then(|| Parsed::names(self))
    }

    fn warnings(&self, _: &Fields<'_>) -> Vec<String> {
        let doubt = "%D is read as microseconds, as Apache and Tomcat 10 write it. Up to version 9, Tomcat writes milliseconds: \
                     then give tomcat9:FORMAT, or --unit ms.";
        if self.is_unit_doubtful { vec![doubt.to_owned()] } else { Vec::new() }
    }

    fn take(&mut self, line: &[u8], found: &mut Fields<'_>) -> Result<Taken, Problem> {
        found.escapes = self.escapes();
        let mut at = 0;
        let mut before = None;
        for (index, piece) in self.pieces.iter().enumerate() {
            let rest = &line[at..];
            match piece {
                Piece::Text(text) => {
                    if !rest.starts_with(text.as_bytes()) {
                        let behind = before
                            .map_or_else(|| "at the line's start".to_owned(), |name| format!("after {name}"));
                        return Err(departs(at, rest, format!("{text:?} {behind}")));
                    }
                    at += text.len();
                }
                Piece::Field(field) => {
                    found.at = at;
                    let next = self.pieces.get(index + 1);
                    at += take_field(field, rest, next, found)
                        .map_err(|expected| departs(at, rest, expected))?;
                    before = Some(field.name.as_str());
                }
            }
        }
        match line.len() - at {
            0 => Ok(Taken::Request),
            _ => Err(departs(at, &line[at..], "the end of the line".to_owned())),
        }
    }
}

/// Its value goes into `found`; an error is what was expected.
fn take_field(
    field: &Field,
    rest: &[u8],
    next: Option<&Piece>,
    found: &mut Fields<'_>,
) -> Result<usize, String> {
    let name = &field.name;
    match &field.kind {
        // These may contain the text that follows them, so their own grammar ends them.
        Kind::Time { clock, stamped, is_best } => {
            if rest.first() == Some(&b'-') && !clock.may_begin_with_minus() {
                return Ok(1);
            }
            let (ns, length) =
                clock.read(rest).ok_or_else(|| format!("a time such as {} for {name}", clock.example()))?;
            if *is_best {
                found.time = Some((ns, *stamped));
                found.resolution_ns = clock.resolution_ns();
            }
            Ok(length)
        }
        Kind::Durations(metric, scale) => {
            let expected = || format!("seconds, perhaps several such as \"0.1, 0.2\", or \"-\" for {name}");
            let (sum, length) = list(rest).ok_or_else(expected)?;
            if let Some(sum) = sum {
                let unit = found.unit(*scale, &rest[..length]);
                found.duration(*metric, unit.milliseconds(sum).ok_or_else(expected)?);
            }
            Ok(length)
        }
        _ => {
            let length = match next {
                // A request without quotes around it contains blanks.
                Some(Piece::Text(text)) if field.kind == Kind::Request && text.starts_with(' ') => {
                    let protocol = memchr::memmem::find(rest, b" HTTP/").map_or(0, |at| at + 1);
                    end(&rest[protocol..], text, found.escapes).map(|length| protocol + length)
                }
                Some(Piece::Text(text)) => end(rest, text, found.escapes),
                _ => Some(rest.len()),
            };
            let length = length.ok_or_else(|| match next {
                Some(Piece::Text(text)) => format!("{text:?} somewhere after {name}"),
                _ => name.clone(),
            })?;
            take_value(field, &rest[..length], found)?;
            Ok(length)
        }
    }
}

/// Before the text that follows it. A quote after a backslash is a part of the value.
fn end(rest: &[u8], text: &str, escapes: Escapes) -> Option<usize> {
    let mut ends = memchr::memmem::find_iter(rest, text.as_bytes());
    if escapes != Escapes::Backslash || !text.starts_with('"') {
        return ends.next();
    }
    ends.find(|&at| rest[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0)
}
