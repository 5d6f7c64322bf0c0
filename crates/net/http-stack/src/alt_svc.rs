//! Alt-Svc fields (RFC 7838): the alternative services of an origin, limited to HTTP/3.

use std::time::Duration;

/// The HTTP/3 part of an Alt-Svc field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AltSvc {
    /// `clear`: all earlier alternatives are invalid.
    Clear,
    /// An HTTP/3 alternative.
    Http3 {
        /// The host, if the field names one; otherwise the host of the origin.
        host: Option<String>,
        /// The UDP port.
        port: u16,
        /// How long the alternative may be cached (`ma`).
        max_age: Duration,
    },
}

impl AltSvc {
    /// Returns the first HTTP/3 service of a field, or [`Self::Clear`]. `None` if the field contains neither, or if a
    /// syntax error precedes it.
    ///
    /// ```
    /// use http_stack::alt_svc::AltSvc;
    /// let max_age = std::time::Duration::from_secs(86_400);
    /// let said = AltSvc::parse(r#"h2="alt.example:8000", h3=":443"; ma=86400"#);
    /// assert_eq!(said, Some(AltSvc::Http3 { host: None, port: 443, max_age }));
    /// ```
    pub fn parse(field: &str) -> Option<Self> {
        let mut rest = field.trim();
        if rest == "clear" {
            return Some(Self::Clear);
        }
        loop {
            let (service, after) = Service::parse(rest)?;
            if service.protocol == "h3" {
                let (host, port) = service.authority.rsplit_once(':')?;
                let host = host.trim_start_matches('[').trim_end_matches(']');
                return Some(Self::Http3 {
                    host: (!host.is_empty()).then(|| host.to_ascii_lowercase()),
                    port: port.parse().ok().filter(|&port| port > 0)?,
                    max_age: service.max_age,
                });
            }
            rest = after.strip_prefix(',')?.trim_start();
        }
    }
}

struct Service<'f> {
    protocol: &'f str,
    authority: &'f str,
    max_age: Duration,
}

impl<'f> Service<'f> {
    fn parse(field: &'f str) -> Option<(Self, &'f str)> {
        let (protocol, rest) = field.split_once('=')?;
        let (authority, mut rest) = value(rest)?;
        let mut service = Self { protocol: protocol.trim(), authority, max_age: DAY };
        while let Some(parameter) = rest.strip_prefix(';') {
            let (name, after) = parameter.split_once('=')?;
            let (content, after) = value(after)?;
            if name.trim().eq_ignore_ascii_case("ma") {
                service.max_age = content.parse().ok().map(Duration::from_secs)?;
            }
            rest = after;
        }
        Some((service, rest))
    }
}

fn value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (value, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => text.split_at(text.find([',', ';']).unwrap_or(text.len())),
    };
    Some((value.trim(), rest.trim_start()))
}

/// The default of `ma` (section 3.1).
const DAY: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    fn http3(host: Option<&str>, port: u16, seconds: u64) -> Option<AltSvc> {
        Some(AltSvc::Http3 { host: host.map(str::to_owned), port, max_age: Duration::from_secs(seconds) })
    }

    #[test]
    fn fields_as_servers_write_them() {
        for (field, said) in [
            (r#"h3=":443"; ma=2592000,h3-29=":443"; ma=2592000"#, http3(None, 443, 2_592_000)),
            (r#"h3-29=":443"; ma=5, h3=":8443""#, http3(None, 8443, 86_400)),
            (r#"h3="Alt.example:443";persist=1;ma=60"#, http3(Some("alt.example"), 443, 60)),
            (r#"h2="a,b;c:1", h3="[2001:db8::1]:443";ma="7""#, http3(Some("2001:db8::1"), 443, 7)),
            (" clear ", Some(AltSvc::Clear)),
        ] {
            assert_eq!(AltSvc::parse(field), said, "{field}");
        }
    }

    #[test]
    fn others_say_nothing() {
        for field in [
            "",
            "h3",
            "h3=",
            r#"h3=":0""#,
            r#"h3=":99999""#,
            r#"h3="443"#,
            r#"h2=":443""#,
            r#"h3=":1";ma=x"#,
            ";,=",
        ] {
            assert_eq!(AltSvc::parse(field), None, "{field}");
        }
    }
}
