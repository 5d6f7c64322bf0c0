//! Access control: which token may use which namespace. Only hashes of tokens are stored.

use std::{iter, sync::LazyLock};

use http_stack::{
    HeaderMap, HeaderName, Method, StatusCode, header,
    token::{TokenHash, bearer, digest, hexadecimal},
};

use crate::api_error::{ApiError, Kind};

/// Namespaces, and the tokens that may use them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// Namespaces of the network's file.
    namespaces: Vec<Namespace>,
    /// For operators only. `None` until the store has listed them.
    made: Option<Vec<Namespace>>,
    /// Operator tokens, valid in all namespaces.
    operators: Vec<TokenHash>,
}

/// A namespace with its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// The name.
    pub name: String,
    /// The id in URLs and in the store: 32 hexadecimal digits.
    pub id: String,
    /// Tokens with read and write access.
    pub tokens: Vec<TokenHash>,
    /// Bulk reads use POST.
    pub read_tokens: Vec<TokenHash>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Reading,
    Writing,
}

impl Use {
    pub(crate) fn of(method: &Method, is_bulk_get: bool) -> Self {
        let is_reading = matches!(*method, Method::GET | Method::HEAD) || is_bulk_get;
        if is_reading { Self::Reading } else { Self::Writing }
    }
}

impl Namespace {
    /// Returns the default id of a namespace, which is derived from its name.
    pub fn id_of(name: &str) -> String {
        hexadecimal(&digest(name.as_bytes())[..16])
    }

    pub(crate) fn made(id: String, name: String) -> Self {
        Self { name, id, tokens: Vec::new(), read_tokens: Vec::new() }
    }

    fn is_called(&self, name: &[u8]) -> bool {
        self.name.as_bytes() == name || self.id.as_bytes().eq_ignore_ascii_case(name)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller<'a> {
    access: &'a Access,
    token: TokenHash,
}

impl Access {
    /// Namespaces and operator tokens of the network's file.
    pub fn of_file(namespaces: Vec<Namespace>, operators: Vec<TokenHash>) -> Self {
        Self { namespaces, made: None, operators }
    }

    /// Ids and names of the network's file take precedence.
    pub(crate) fn with_made(self, made: Option<Vec<Namespace>>) -> Self {
        let is_in_file = |one: &Namespace| {
            let is_one = |known: &Namespace| known.is_called(one.id.as_bytes()) || known.name == one.name;
            self.namespaces.iter().any(is_one)
        };
        let made = made.map(|all| all.into_iter().filter(|one| !is_in_file(one)).collect());
        Self { made, ..self }
    }

    pub(crate) fn made(&self) -> Option<&[Namespace]> {
        self.made.as_deref()
    }

    fn all(&self) -> impl Iterator<Item = &Namespace> {
        self.namespaces.iter().chain(self.made.iter().flatten())
    }

    pub(crate) fn named(&self, name: &[u8]) -> Option<&Namespace> {
        self.all().find(|namespace| namespace.is_called(name))
    }

    /// For a request of another data centre, including [`CATALOGUE`].
    pub(crate) fn of_id(&self, id: &[u8]) -> Option<&Namespace> {
        iter::once(&*CATALOGUE).chain(self.all()).find(|namespace| namespace.id.as_bytes() == id)
    }

    pub(crate) fn is_operator(&self, authorization: Option<&[u8]>) -> bool {
        self.caller(authorization).is_ok_and(|caller| caller.is_operator())
    }

    pub(crate) fn caller(&self, authorization: Option<&[u8]>) -> Result<Caller<'_>, ApiError> {
        let token = authorization.and_then(bearer).ok_or_else(|| {
            ApiError::of(Kind::NoToken, "the request has no token: expected Authorization: Bearer TOKEN")
        })?;
        let caller = Caller { access: self, token: TokenHash::of(token) };
        if !caller.is_operator() && caller.namespaces().next().is_none() {
            let message = "no namespace and no [admin] lists this token's SHA-256";
            return Err(ApiError::of(Kind::WrongToken, message));
        }
        Ok(caller)
    }

    /// The namespace in `KV-Namespace`, otherwise the only namespace of the token.
    pub(crate) fn of_binding(
        &self,
        authorization: Option<&[u8]>,
        named: Option<&[u8]>,
        wanted: Use,
    ) -> Result<&Namespace, ApiError> {
        let caller = self.caller(authorization)?;
        if let Some(name) = named {
            return caller.checked(self.named(name), &String::from_utf8_lossy(name), wanted);
        }
        // Otherwise creating a namespace would break a binding that sends no `KV-Namespace`.
        let mut own = self.namespaces.iter().filter(|namespace| caller.may(Use::Reading, namespace));
        match (own.next(), own.next()) {
            (Some(only), None) => caller.checked(Some(only), &only.name, wanted),
            (None, _) => Err(ApiError::new(StatusCode::NOT_FOUND, "there is no namespace for this token")),
            _ => Err(ApiError::new(
                StatusCode::BAD_REQUEST,
                "this token is for several namespaces: name one in KV-Namespace",
            )),
        }
    }
}

impl<'a> Caller<'a> {
    pub(crate) fn is_operator(&self) -> bool {
        self.access.operators.contains(&self.token)
    }

    fn may(&self, wanted: Use, namespace: &Namespace) -> bool {
        let is_for_reading = wanted == Use::Reading && namespace.read_tokens.contains(&self.token);
        self.is_operator() || is_for_reading || namespace.tokens.contains(&self.token)
    }

    pub(crate) fn namespaces(self) -> impl Iterator<Item = &'a Namespace> {
        self.access.all().filter(move |namespace| self.may(Use::Reading, namespace))
    }

    pub(crate) fn namespace(&self, name: &str, wanted: Use) -> Result<&'a Namespace, ApiError> {
        self.checked(self.access.named(name.as_bytes()), name, wanted)
    }

    fn checked(
        &self,
        found: Option<&'a Namespace>,
        name: &str,
        wanted: Use,
    ) -> Result<&'a Namespace, ApiError> {
        match found {
            Some(namespace) if self.may(wanted, namespace) => Ok(namespace),
            Some(namespace) if self.may(Use::Reading, namespace) => {
                let message = format!("this token is for reading namespace \"{}\" only", namespace.name);
                Err(ApiError::of(Kind::OtherNamespace, message))
            }
            Some(namespace) => {
                let message = format!("this token is not for namespace \"{}\"", namespace.name);
                Err(ApiError::of(Kind::OtherNamespace, message))
            }
            None if self.is_operator() && self.access.made.is_none() => {
                let message = format!(
                    "whether there is a namespace \"{name}\" is not known: the list of namespaces has not been read from the store yet"
                );
                Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message))
            }
            None if self.is_operator() => {
                let mut names: Vec<_> =
                    self.namespaces().map(|one| one.name.as_str()).take(MOST_NAMED + 1).collect();
                if names.len() > MOST_NAMED {
                    names[MOST_NAMED] = "others";
                }
                let message = format!("there is no namespace \"{name}\", only {}", names.join(", "));
                Err(ApiError::of(Kind::NoNamespace, message))
            }
            // Only operators may see the names of other namespaces.
            None => Err(ApiError::of(Kind::NoNamespace, format!("there is no namespace \"{name}\""))),
        }
    }
}

pub(crate) fn authorization(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(header::AUTHORIZATION).map(|field| field.as_bytes())
}

pub(crate) const NAMESPACE: HeaderName = HeaderName::from_static("kv-namespace");

/// The namespace whose keys are the namespaces created over the API. No name maps to its id, and no
/// token is valid for it.
pub(crate) static CATALOGUE: LazyLock<Namespace> =
    LazyLock::new(|| Namespace::made(Namespace::id_of(""), String::new()));

const MOST_NAMED: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        let namespace = |name: &str, tokens: &[&str]| Namespace {
            name: name.into(),
            id: Namespace::id_of(name),
            tokens: tokens.iter().map(|token| TokenHash::of(token.as_bytes())).collect(),
            read_tokens: vec![TokenHash::of(format!("{name} reader").as_bytes())],
        };
        let namespaces = vec![namespace("sessions", &["a", "both"]), namespace("flags", &["b", "both"])];
        let made = Namespace::made(Namespace::id_of("made"), "made".into());
        let same = Namespace::made(Namespace::id_of("other"), "flags".into());
        Access::of_file(namespaces, vec![TokenHash::of(b"root")]).with_made(Some(vec![made, same]))
    }

    #[test]
    fn a_token_chooses_its_namespace_and_no_other() {
        let access = access();
        let using = |wanted, field: &str, named: Option<&str>| {
            let found = access.of_binding(Some(field.as_bytes()), named.map(str::as_bytes), wanted);
            found.map(|namespace| namespace.name.as_str()).map_err(|problem| problem.status.as_u16())
        };
        let of = |field: &str, named: Option<&str>| using(Use::Writing, field, named);
        assert_eq!(of("Bearer a", None), Ok("sessions"));
        assert_eq!(of("bearer b", Some("flags")), Ok("flags"));
        assert_eq!(of("Bearer b", Some(&Namespace::id_of("flags").to_uppercase())), Ok("flags"));
        assert_eq!(of("Bearer both", None), Err(400));
        assert_eq!(of("Bearer both", Some("flags")), Ok("flags"));
        assert_eq!(of("Bearer root", Some("sessions")), Ok("sessions"));
        assert_eq!(of("Bearer root", None), Err(400));
        assert_eq!((of("Bearer root", Some("made")), of("Bearer a", Some("made"))), (Ok("made"), Err(403)));
        assert_eq!(of("Bearer root", Some(&Namespace::id_of("other"))), Err(404));
        assert_eq!(of("Bearer a", Some("flags")), Err(403));
        assert_eq!(of("Bearer a", Some("flag")), Err(404));
        assert_eq!(of("Bearer c", None), Err(401));
        assert_eq!(of("Basic a", None), Err(401));
        assert!(access.of_binding(None, None, Use::Reading).is_err());
        let reader = "Bearer sessions reader";
        assert_eq!(using(Use::Reading, reader, None), Ok("sessions"));
        assert_eq!(using(Use::Reading, reader, Some("flags")), Err(403));
        assert_eq!((of(reader, None), of(reader, Some("sessions"))), (Err(403), Err(403)));
    }

    #[test]
    fn a_name_is_not_denied_before_the_store_was_asked_for_what_was_made() {
        let access = access();
        let status = |access: &Access, token: &[u8]| {
            let asked = access.of_binding(Some(token), Some(b"none"), Use::Reading);
            asked.map_err(|problem| problem.status.as_u16()).map(|namespace| namespace.name.clone())
        };
        assert_eq!(status(&access, b"Bearer root"), Err(404));
        let unknown = access.clone().with_made(None);
        assert_eq!((status(&unknown, b"Bearer root"), status(&unknown, b"Bearer a")), (Err(503), Err(404)));
    }
}
