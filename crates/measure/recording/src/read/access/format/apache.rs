//! Format strings of Apache, and of Tomcat and varnishncsa, which have the same syntax.
//!
//! `%D` is in microseconds, but in Tomcat up to version 9 in milliseconds. `%t` is the begin of the
//! request, but in Tomcat its end. `%I`, `%S` and `%F` differ too.

use super::{super::clock::Clock, Dialect, Field, Kind, Piece, Scale, Stamped, push_text, wrong};
use crate::{Metric, Unit, error::Unknown};

/// `common` is the part of it up to the number of bytes.
pub(super) const COMBINED: &str = "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"";
const COMMON: &str = "%h %l %u %t \"%r\" %>s %b";

pub(super) fn is_likely(text: &str) -> bool {
    let is_directive = |(sign, next): (u8, u8)| {
        sign == b'%' && (next.is_ascii_alphanumeric() || matches!(next, b'>' | b'<' | b'!' | b'{' | b'^'))
    };
    expanded(text) != text || text.bytes().zip(text.bytes().skip(1)).any(is_directive)
}

pub(super) fn expanded(text: &str) -> String {
    let text = text.replace("\\\"", "\"").replace("\\t", "\t");
    let named = |name: &str| text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with(' '));
    if let Some(rest) = named("combined") {
        return format!("{COMBINED}{rest}");
    }
    match named("common") {
        Some(rest) => format!("{COMMON}{rest}"),
        None => text,
    }
}

/// `%x`, `%{argument}x`, with `<`, `>` or a list of statuses before it; `%%` is a percent sign.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Vec<Piece>, Unknown> {
    if ["%ci:%cp", "%HM", "%[", "%TR"].iter().any(|part| text.contains(part)) {
        return Err(wrong(
            text,
            "no format string of HAProxy: its HTTP log (option httplog) is read without one",
        ));
    }
    let mut pieces = Vec::new();
    let mut times = Times { dialect, parts: Vec::new() };
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        push_text(&mut pieces, &rest[..at]);
        let from = &rest[at..];
        if let Some(after) = from.strip_prefix("%%") {
            push_text(&mut pieces, "%");
            rest = after;
            continue;
        }
        let directive = Directive::begin(from)?;
        match directive.code {
            "t" => times.push(&mut pieces, &directive).ok_or_else(|| wrong(from, A_TIME))?,
            _ => {
                let kind = kind(&directive, dialect).ok_or_else(|| wrong(from, A_DIRECTIVE))?;
                pieces.push(Piece::Field(Field { name: directive.text.to_owned(), kind }));
            }
        }
        rest = &from[directive.text.len()..];
    }
    push_text(&mut pieces, rest);
    times.finish(pieces).ok_or_else(|| wrong(text, A_TIME))
}

struct Directive<'t> {
    text: &'t str,
    argument: &'t str,
    code: &'t str,
}

impl<'t> Directive<'t> {
    fn begin(from: &'t str) -> Result<Self, Unknown> {
        let is_modifier = |c: char| matches!(c, '<' | '>' | '!' | ',') || c.is_ascii_digit();
        let mut at = 1 + from[1..].find(|c| !is_modifier(c)).unwrap_or(from.len() - 1);
        let mut argument = "";
        if let Some(inner) = from[at..].strip_prefix('{') {
            let end = inner.find('}').ok_or_else(|| wrong(from, "a } after the argument"))?;
            argument = &inner[..end];
            at += end + 2;
        }
        let rest = &from[at..];
        let length = if rest.starts_with('^') { 3 } else { 1 };
        let code = rest.get(..length).ok_or_else(|| wrong(from, A_DIRECTIVE))?;
        Ok(Self { text: &from[..at + length], argument, code })
    }
}

/// `None` for a letter that none of the servers knows.
fn kind(directive: &Directive<'_>, dialect: Dialect) -> Option<Kind> {
    let label = |name: &str| Some(Kind::Label(name.to_owned()));
    let is_tomcat = matches!(dialect, Dialect::Tomcat9 | Dialect::Tomcat10);
    let argument = directive.argument.to_ascii_lowercase();
    match (directive.code, argument.as_str()) {
        ("D", "") if dialect == Dialect::Tomcat9 => Some(latency(Scale::Default(Unit::Ms))),
        ("D", "") => Some(latency(Scale::Default(Unit::Us))),
        ("T", "") => Some(latency(Scale::Default(Unit::S))),
        ("T", "s") => Some(latency(Scale::Fixed(Unit::S))),
        ("T", "ms") => Some(latency(Scale::Fixed(Unit::Ms))),
        ("T", "us") => Some(latency(Scale::Fixed(Unit::Us))),
        ("T", "ns") => Some(latency(Scale::Fixed(Unit::Ns))),
        ("F", "") if is_tomcat => Some(Kind::Duration(Metric::Ttfb, Scale::Fixed(Unit::Ms))),
        ("^FB", _) => Some(Kind::Duration(Metric::Ttfb, Scale::Fixed(Unit::Us))),
        ("x", "varnish:time_firstbyte") => Some(Kind::Duration(Metric::Ttfb, Scale::Fixed(Unit::S))),
        ("x", "varnish:hitmiss" | "varnish:handling") => Some(Kind::Cache),
        ("s", "") => Some(Kind::Status),
        ("b" | "B", "") => Some(Kind::Bytes),
        ("r", "") => Some(Kind::Request),
        ("U", "") => Some(Kind::Path),
        ("X", "") => Some(Kind::Connection),
        ("h" | "a", _) => label("remote_addr"),
        ("l", "") => label("ident"),
        ("u", "") => label("user"),
        ("m", "") => label("method"),
        ("H", "") => label("protocol"),
        ("q", "") => label("query"),
        ("v" | "V", "") | ("i", "host") => label("host"),
        ("I" | "S", "") if is_tomcat => label(if directive.code == "I" { "thread" } else { "session" }),
        ("A" | "f" | "F" | "I" | "k" | "L" | "O" | "p" | "P" | "R" | "S", "") => label(directive.text),
        ("p" | "P", _) => label(directive.text),
        ("C" | "c" | "e" | "i" | "n" | "o" | "r" | "s" | "x" | "^ti" | "^to", name) if !name.is_empty() => {
            label(name)
        }
        _ => None,
    }
}

fn latency(scale: Scale) -> Kind {
    Kind::Duration(Metric::Latency, scale)
}

/// Some are written as several directives: `%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t`.
struct Times {
    dialect: Dialect,
    parts: Vec<(usize, Written)>,
}

struct Written {
    name: String,
    pattern: String,
    stamped: Stamped,
}

impl Times {
    fn push(&mut self, pieces: &mut Vec<Piece>, directive: &Directive<'_>) -> Option<()> {
        let is_tomcat = matches!(self.dialect, Dialect::Tomcat9 | Dialect::Tomcat10);
        let (stamped, pattern) = match directive.argument {
            "begin" => (Some(Stamped::Start), ""),
            "end" => (Some(Stamped::End), ""),
            other => match other.split_once(':') {
                Some(("begin", pattern)) => (Some(Stamped::Start), pattern),
                Some(("end", pattern)) => (Some(Stamped::End), pattern),
                _ => (None, other),
            },
        };
        let stamped = stamped.unwrap_or(if is_tomcat { Stamped::End } else { Stamped::Start });
        let pattern = match pattern {
            "" => "[%d/%b/%Y:%H:%M:%S %z]".to_owned(),
            "sec" => "%s".to_owned(),
            "msec" => "%Q".to_owned(),
            "usec" => "%J".to_owned(),
            "msec_frac" | "usec_frac" => "%f".to_owned(),
            pattern if is_tomcat && !pattern.contains('%') => java(pattern)?,
            pattern => pattern.to_owned(),
        };
        // A part that is not a whole time belongs to the one before it.
        let text = match pieces.last() {
            Some(Piece::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let before = pieces.len() - usize::from(!text.is_empty());
        if let Some((index, written)) = self.parts.last_mut()
            && *index + 1 == before
            && Clock::new(&pattern, "").is_none()
        {
            written.pattern += &text.replace('%', "%%");
            written.pattern += &pattern;
            written.name += &text;
            written.name += directive.text;
            pieces.truncate(before);
            return Some(());
        }
        self.parts.push((pieces.len(), Written { name: directive.text.to_owned(), pattern, stamped }));
        // Only its place, until its end is known.
        pieces.push(Piece::Field(Field { name: directive.text.to_owned(), kind: Kind::Path }));
        Some(())
    }

    fn finish(self, mut pieces: Vec<Piece>) -> Option<Vec<Piece>> {
        for (index, Written { name, pattern, stamped }) in self.parts {
            let is_default = pattern.starts_with('[');
            let example = if is_default { "[10/Oct/2000:13:55:36 -0700]" } else { &pattern };
            let kind = match Clock::new(&pattern, example) {
                Some(clock) => Kind::Time { clock, stamped, is_best: false },
                // A day without its time, or the reverse.
                None => Kind::Label(name.clone()),
            };
            *pieces.get_mut(index)? = Piece::Field(Field { name, kind });
        }
        Some(pieces)
    }
}

/// Converts Java's `SimpleDateFormat` to strftime.
fn java(pattern: &str) -> Option<String> {
    let mut result = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'')?;
            result.push_str(&quoted[..end]);
            rest = &quoted[end + 1..];
            continue;
        }
        let length = rest.find(|c| c != first).unwrap_or(rest.len());
        result.push_str(match &rest[..length] {
            "yyyy" | "uuuu" => "%Y",
            "MM" => "%m",
            "MMM" => "%b",
            "dd" => "%d",
            "HH" => "%H",
            "mm" => "%M",
            "ss" => "%S",
            "SSS" => "%f",
            "Z" | "X" | "XX" | "XXX" => "%z",
            letters if first.is_ascii_alphabetic() || letters.contains('%') => return None,
            text => text,
        });
        rest = &rest[length..];
    }
    Some(result)
}

const A_TIME: &str =
    "a pattern of %Y %m %b %d %H %M %S %T %F %z %s, or sec, msec, usec, msec_frac or usec_frac";

const A_DIRECTIVE: &str = "a directive of Apache's LogFormat, Tomcat's AccessLogValve or varnishncsa, such as %h, %t, %>s \
                           or %D";
