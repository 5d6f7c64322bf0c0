//! Parses a format string: the text between variables, and the meaning of each variable.

use super::clock::Clock;
use crate::{Metric, Unit, error::Unknown};

mod apache;
pub(super) mod envoy;
pub(super) mod nginx;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Field(Field),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Time { clock: Clock, stamped: Stamped, is_best: bool },
    Duration(Metric, Scale),
    Durations(Metric, Scale),
    Status,
    Bytes,
    Requests,
    Request,
    Path,
    Cache,
    Tier,
    // Apache's: "X" is aborted.
    Connection,
    Flags,
    Label(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Fixed(Unit),
    /// Unless the user gives one.
    Default(Unit),
    /// Seconds, which a fraction must prove.
    Proven,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamped {
    Start,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Nginx,
    Envoy,
    Apache,
    /// Up to version 9, whose `%D` is in milliseconds.
    Tomcat9,
    /// From version 10 on, whose `%D` is in microseconds.
    Tomcat10,
    Varnish,
    Traefik,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parsed {
    pub dialect: Dialect,
    pub pieces: Vec<Piece>,
    /// Whether a unit is the default of one server where another has a different one.
    pub is_unit_doubtful: bool,
}

pub(super) fn parse(text: &str) -> Result<Parsed, Unknown> {
    let (dialect, text) = dialect_of(text)?;
    pieces(dialect, &text)
}

/// Like `parse`, for a format that may lack a duration.
pub(super) fn parse_requests(text: &str) -> Result<Parsed, Unknown> {
    let (dialect, text) = dialect_of(text)?;
    all_pieces(dialect, &text)
}

pub(super) fn pieces(dialect: Dialect, text: &str) -> Result<Parsed, Unknown> {
    let parsed = all_pieces(dialect, text)?;
    if !kinds(&parsed.pieces).any(|kind| matches!(kind, Kind::Duration(..) | Kind::Durations(..))) {
        return Err(wrong(text, A_DURATION));
    }
    Ok(parsed)
}

fn all_pieces(dialect: Dialect, text: &str) -> Result<Parsed, Unknown> {
    let text = text.strip_suffix("\\n").unwrap_or(text).trim_end_matches(['\r', '\n']);
    let mut pieces = match dialect {
        Dialect::Nginx => nginx::parse(text)?,
        Dialect::Envoy => envoy::parse(text)?,
        _ => apache::parse(text, dialect)?,
    };
    if !pieces.iter().any(|piece| matches!(piece, Piece::Field(_))) {
        return Err(wrong(text, A_FORMAT));
    }
    apart(&mut pieces, text)?;
    choose(&mut pieces);
    let is_unit_doubtful = dialect == Dialect::Apache
        && kinds(&pieces).any(|kind| matches!(kind, Kind::Duration(_, Scale::Default(Unit::Us))))
        // Tomcat has no "%>s".
        && !text.contains("%>s");
    Ok(Parsed { dialect, pieces, is_unit_doubtful })
}

fn dialect_of(text: &str) -> Result<(Dialect, String), Unknown> {
    let named = [
        ("nginx", Dialect::Nginx, nginx::COMBINED),
        ("envoy", Dialect::Envoy, envoy::DEFAULT),
        ("istio", Dialect::Envoy, envoy::ISTIO),
        ("apache", Dialect::Apache, apache::COMBINED),
        ("tomcat9", Dialect::Tomcat9, apache::COMBINED),
        ("tomcat10", Dialect::Tomcat10, apache::COMBINED),
        ("varnishncsa", Dialect::Varnish, apache::COMBINED),
    ];
    for (name, dialect, format) in named {
        if text == name {
            // The default of the last four has no duration.
            let is_timed = matches!(dialect, Dialect::Nginx | Dialect::Envoy);
            let format = if is_timed { format.to_owned() } else { format!("{format} %D") };
            return Ok((dialect, format));
        }
        if let Some(format) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) {
            let is_like_apache = !matches!(dialect, Dialect::Nginx | Dialect::Envoy);
            let format = if is_like_apache { apache::expanded(format) } else { format.to_owned() };
            return Ok((dialect, format));
        }
    }
    if text == "tomcat" || text.starts_with("tomcat:") {
        return Err(wrong(
            text,
            "tomcat9, whose %D is in milliseconds, or tomcat10 (and later), whose %D is in microseconds",
        ));
    }
    let is_envoy =
        text.bytes().zip(text.bytes().skip(1)).any(|(sign, next)| sign == b'%' && next.is_ascii_uppercase());
    let is_nginx = text.contains('$') && !text.contains("%{");
    Ok(match () {
        () if is_nginx => (Dialect::Nginx, text.to_owned()),
        () if is_envoy && envoy::is_likely(text) => (Dialect::Envoy, text.to_owned()),
        () if apache::is_likely(text) => {
            let is_varnish = ["%{Varnish:", "%{VCL_Log:", "%{VSL:"].iter().any(|part| text.contains(part));
            let dialect = if is_varnish { Dialect::Varnish } else { Dialect::Apache };
            (dialect, apache::expanded(text))
        }
        () => (Dialect::Nginx, text.to_owned()),
    })
}

fn kinds(pieces: &[Piece]) -> impl Iterator<Item = &Kind> {
    pieces.iter().filter_map(|piece| if let Piece::Field(field) = piece { Some(&field.kind) } else { None })
}

fn choose(pieces: &mut [Piece]) {
    let has_ttfb = kinds(pieces).any(|kind| matches!(kind, Kind::Duration(Metric::Ttfb, _)));
    let finest_time = kinds(pieces)
        .filter_map(
            |kind| if let Kind::Time { clock, .. } = kind { Some(clock.resolution_ns()) } else { None },
        )
        .min();
    let finest_latency = kinds(pieces).filter_map(latency_unit).max_by_key(|unit| unit.per_second());
    let (mut is_first_time, mut has_latency) = (true, false);
    for piece in pieces {
        let Piece::Field(field) = piece else { continue };
        match &mut field.kind {
            Kind::Time { clock, is_best, .. } => {
                *is_best = is_first_time && Some(clock.resolution_ns()) == finest_time;
                is_first_time &= !*is_best;
            }
            // A sample's ttfb is the sum of its phases if it has a wait, and this wait is not the
            // whole ttfb.
            kind @ Kind::Duration(Metric::Wait, _) if has_ttfb => {
                *kind = Kind::Label("x-envoy-upstream-service-time".to_owned());
            }
            // A format may have both %T and %D.
            kind if latency_unit(kind).is_some() => {
                if has_latency || latency_unit(kind) != finest_latency {
                    *kind = Kind::Label(field.name.clone());
                } else {
                    has_latency = true;
                }
            }
            _ => {}
        }
    }
}

fn latency_unit(kind: &Kind) -> Option<Unit> {
    match kind {
        Kind::Duration(Metric::Latency, Scale::Fixed(unit) | Scale::Default(unit)) => Some(*unit),
        _ => None,
    }
}

fn wrong(rest: &str, expected: &'static str) -> Unknown {
    let short: String = rest.chars().take(SHOWN).collect();
    let dots = if short.len() < rest.len() { "..." } else { "" };
    Unknown { what: "part of the log format, from", found: format!("{short}{dots}"), expected }
}

/// Variables without text between them cannot be told apart: labels become one, anything else is
/// refused.
fn apart(pieces: &mut Vec<Piece>, text: &str) -> Result<(), Unknown> {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces.drain(..) {
        let (Some(Piece::Field(before)), Piece::Field(field)) = (merged.last_mut(), &piece) else {
            merged.push(piece);
            continue;
        };
        let is_label = |kind: &Kind| matches!(kind, Kind::Label(_) | Kind::Path);
        // The end of these two is known.
        let ends_itself = matches!(before.kind, Kind::Time { .. } | Kind::Durations(..));
        if is_label(&before.kind) && is_label(&field.kind) {
            before.name += &field.name;
            // The query after a path is not part of it.
            if before.kind != Kind::Path {
                before.kind = Kind::Label(before.name.clone());
            }
        } else if ends_itself {
            merged.push(piece);
        } else {
            let at = text.find(&field.name).unwrap_or(0);
            return Err(wrong(&text[at..], "some text between two variables, such as a blank"));
        }
    }
    *pieces = merged;
    Ok(())
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

const A_FORMAT: &str = "nginx, envoy, istio, apache, tomcat9, tomcat10, varnishncsa, or a format such as \
                        \"$msec $status $request_time\" or \"%t %>s %D\"";

const A_DURATION: &str = "a time that requests took, such as $request_time, %DURATION% or %D";

const A_TIME: &str = "a pattern of %Y %m %b %d %H %M %S %T %F %z %f %s, with a whole date and time";

const SHOWN: usize = 60;

#[cfg(test)]
mod tests;
