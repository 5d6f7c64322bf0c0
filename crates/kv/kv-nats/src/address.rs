//! Addresses of streams:
//! `nats://user:password@10.0.0.5:4222,10.0.0.6/STREAM?replicas=3&creds=nats.creds`.

use std::{fmt, path::PathBuf, str::FromStr};

use percent_encoding::percent_decode_str;

/// The address of a stream.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// Hosts and ports of servers of one cluster.
    pub servers: Vec<String>,
    /// Whether TLS is required. Otherwise TLS is used if the server requires it.
    pub needs_tls: bool,
    /// The user name and password, or the token.
    pub user: Option<User>,
    /// A credentials file as made by `nsc`.
    pub credentials: Option<PathBuf>,
    /// A PEM file with the root certificates of the servers, in addition to those of the system.
    pub authority: Option<PathBuf>,
    /// The name of the stream.
    pub stream: String,
    /// The number of replicas of a new stream.
    pub replicas: usize,
}

/// The authentication of a client.
#[derive(Clone, PartialEq, Eq)]
pub enum User {
    /// A name and a password.
    Named(String, String),
    /// A token.
    Token(String),
}

/// Why a text is not a valid address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The scheme is unknown.
    #[error("a store is a file, or in NATS: nats://10.0.0.5:4222 or tls://…")]
    Scheme,
    /// There is no server.
    #[error("the address names no server: nats://10.0.0.5:4222")]
    NoServer,
    /// A server or its port is invalid.
    #[error(
        "\"{0}\" is not a server and its port: 10.0.0.5:4222, and [2001:db8::5]:4222 for an IPv6 address"
    )]
    Server(String),
    /// Several users are given.
    #[error("one user is for all servers of a cluster: write it once, before the first")]
    SecondUser,
    /// The name of the stream is invalid.
    #[error("\"{0}\" is not a stream's name: up to 64 letters, digits, \"-\" and \"_\"")]
    Stream(String),
    /// A setting is unknown.
    #[error(
        "\"{0}\" is not a setting: an address has replicas, creds and ca, as in ?replicas=3&creds=nats.creds"
    )]
    Setting(String),
    /// The number of replicas is not 1, 3 or 5.
    #[error("a stream is on 1, 3 or 5 servers: replicas={0} is not possible")]
    Replicas(String),
    /// Percent-encoded text is not UTF-8.
    #[error("the percent-encoded text in the address is not UTF-8")]
    NotText,
}

impl Address {
    /// Whether a text is intended as an address, valid or not, rather than as a file name.
    pub fn is_meant(text: &str) -> bool {
        text.contains("://")
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::read(text, STREAM)
    }
}

impl Address {
    /// Parses an address; `stream_if_none` is the default name of the stream.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn read(text: &str, stream_if_none: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = text.split_once("://").ok_or(AddressError::Scheme)?;
        let needs_tls = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(AddressError::Scheme),
        };
        let (place, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, stream) = place.split_once('/').unwrap_or((place, ""));
        let (mut servers, mut user) = (Vec::new(), None);
        for (number, host) in hosts.split(',').enumerate() {
            // Some configurations list each server of a cluster with credentials.
            let host = host.rsplit_once('@').map_or(Ok(host), |(who, host)| {
                if number > 0 {
                    return Err(AddressError::SecondUser);
                }
                user = Some(match who.split_once(':') {
                    Some((name, password)) => User::Named(decoded(name)?, decoded(password)?),
                    None => User::Token(decoded(who)?),
                });
                Ok(host)
            })?;
            servers.push(server(host)?);
        }
        let stream = if stream.is_empty() { stream_if_none } else { stream };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if stream.len() > 64 || !stream.bytes().all(is_plain) {
            return Err(AddressError::Stream(stream.to_owned()));
        }
        let mut address = Self {
            servers,
            needs_tls,
            user,
            credentials: None,
            authority: None,
            stream: stream.to_owned(),
            replicas: 1,
        };
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let value = decoded(value)?;
            match name {
                "replicas" => match value.as_str() {
                    "1" => address.replicas = 1,
                    "3" => address.replicas = 3,
                    "5" => address.replicas = 5,
                    _ => return Err(AddressError::Replicas(value)),
                },
                "creds" if !value.is_empty() => address.credentials = Some(value.into()),
                "ca" if !value.is_empty() => address.authority = Some(value.into()),
                _ => return Err(AddressError::Setting(setting.to_owned())),
            }
        }
        Ok(address)
    }
}

/// Omits the credentials, because addresses are logged.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.needs_tls { "tls" } else { "nats" };
        write!(f, "{scheme}://{}/{}", self.servers.join(","), self.stream)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

fn server(text: &str) -> Result<String, AddressError> {
    if text.is_empty() {
        return Err(AddressError::NoServer);
    }
    let wrong = || AddressError::Server(text.to_owned());
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (inside, behind) = rest.split_once(']').ok_or_else(wrong)?;
            inside.parse::<std::net::Ipv6Addr>().map_err(|_| wrong())?;
            let port =
                if behind.is_empty() { None } else { Some(behind.strip_prefix(':').ok_or_else(wrong)?) };
            (&text[..inside.len() + 2], port)
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[:]".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_plain) {
        return Err(wrong());
    }
    let port: u16 = port.map_or(Ok(PORT), str::parse).map_err(|_| wrong())?;
    Ok(format!("{host}:{port}"))
}

fn decoded(text: &str) -> Result<String, AddressError> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| AddressError::NotText)?;
    Ok(text.into_owned())
}

const STREAM: &str = "LONGHAUL_KV";
const PORT: u16 = 4222;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_says_where_who_and_which_stream() {
        let address: Address = "nats://10.0.0.5".parse().unwrap();
        assert_eq!((address.servers, address.stream.as_str()), (vec!["10.0.0.5:4222".into()], "LONGHAUL_KV"));
        let address: Address =
            "tls://a%40b:p%3Aw@n1:1,[::1],n3:3/OWN?replicas=3&creds=a%20b.creds&ca=ca.pem".parse().unwrap();
        assert_eq!(address.servers, ["n1:1", "[::1]:4222", "n3:3"]);
        assert!(address.needs_tls && address.user == Some(User::Named("a@b".into(), "p:w".into())));
        assert_eq!((address.replicas, address.credentials), (3, Some("a b.creds".into())));
        assert_eq!(address.authority, Some("ca.pem".into()));
        let address: Address = "nats://t0ken@n1".parse().unwrap();
        assert!(address.user == Some(User::Token("t0ken".into())));
        assert_eq!(format!("{address} {address:?}"), "nats://n1:4222/LONGHAUL_KV nats://n1:4222/LONGHAUL_KV");
    }

    #[test]
    fn a_mistake_gets_a_sentence() {
        for (text, part) in [
            ("http://a", "a file, or in NATS"),
            ("nats://", "names no server"),
            ("nats://a,,b", "names no server"),
            ("nats://a:b", "\"a:b\" is not a server"),
            ("nats://a:70000", "is not a server"),
            ("nats://[::1", "is not a server"),
            ("nats://[::1]4222", "is not a server"),
            ("nats://a b", "is not a server"),
            ("nats://x@a,y@b", "write it once"),
            ("nats://a/b.c", "\"b.c\" is not a stream's name"),
            ("nats://a?replicas=2", "replicas=2"),
            ("nats://a?size=2", "\"size=2\" is not a setting"),
            ("nats://a?creds=", "\"creds=\" is not a setting"),
            ("nats://%ff@a", "not UTF-8"),
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_not(text in "(nats://)?[a-z@:,/?&=%\\[\\].0-9]{0,40}") {
            let _ = text.parse::<Address>();
        }
    }
}
