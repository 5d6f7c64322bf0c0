//! Who may use which namespace: tokens, of which only hashes are known here.

use http::{
    HeaderMap, HeaderName, Method, StatusCode, header,
    token::{TokenHash, bearer, digest, hexadecimal},
};

use crate::problem::{Kind, Problem};

/// Namespaces, and whose tokens are good for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The namespaces.
    pub namespaces: Vec<Namespace>,
    /// Tokens that are good for all of them.
    pub operators: Vec<TokenHash>,
}

/// A namespace: keys of its own, and tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    /// As people call it.
    pub name: String,
    /// As URLs and the store's file have it: 32 hexadecimal digits.
    pub id: String,
    /// Tokens that may read and write here.
    pub tokens: Vec<TokenHash>,
    /// Tokens that may only read here.
    pub read_tokens: Vec<TokenHash>,
}

/// What a request is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Reading,
    Writing,
}

impl Use {
    /// Of a request with this method; a bulk read is posted.
    pub(crate) fn of(method: &Method, is_bulk_get: bool) -> Self {
        let is_reading = matches!(*method, Method::GET | Method::HEAD) || is_bulk_get;
        if is_reading { Self::Reading } else { Self::Writing }
    }
}

impl Namespace {
    /// The id of a namespace that was given none: it follows from its name, and stays the same.
    pub fn id_of(name: &str) -> String {
        hexadecimal(&digest(name.as_bytes())[..16])
    }

    fn is_called(&self, name: &[u8]) -> bool {
        self.name.as_bytes() == name || self.id.as_bytes().eq_ignore_ascii_case(name)
    }
}

/// Whose token a request has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller<'a> {
    access: &'a Access,
    token: TokenHash,
}

impl Access {
    /// The namespace of this name or id.
    pub(crate) fn named(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.iter().find(|namespace| namespace.is_called(name.as_bytes()))
    }

    /// Who has this Authorization field.
    pub(crate) fn caller(&self, authorization: Option<&[u8]>) -> Result<Caller<'_>, Problem> {
        let token = authorization.and_then(bearer).ok_or_else(|| {
            Problem::of(Kind::NoToken, "the request has no token: expected Authorization: Bearer TOKEN")
        })?;
        let caller = Caller { access: self, token: TokenHash::of(token) };
        if !caller.is_operator() && caller.namespaces().next().is_none() {
            let message = "no namespace and no [admin] lists this token's SHA-256";
            return Err(Problem::of(Kind::WrongToken, message));
        }
        Ok(caller)
    }

    /// The namespace that a request of the binding is about: the one that `KV-Namespace` names, or the only one that the token is for.
    pub(crate) fn of_binding(
        &self,
        authorization: Option<&[u8]>,
        named: Option<&[u8]>,
        wanted: Use,
    ) -> Result<&Namespace, Problem> {
        let caller = self.caller(authorization)?;
        if let Some(name) = named {
            let found = self.namespaces.iter().find(|namespace| namespace.is_called(name));
            return caller.checked(found, &String::from_utf8_lossy(name), wanted);
        }
        let mut own = caller.namespaces();
        match (own.next(), own.next()) {
            (Some(only), None) => caller.checked(Some(only), &only.name, wanted),
            (None, _) => Err(Problem::new(StatusCode::NOT_FOUND, "there is no namespace for this token")),
            _ => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "this token is for several namespaces: KV-Namespace has to name one",
            )),
        }
    }
}

impl<'a> Caller<'a> {
    fn is_operator(&self) -> bool {
        self.access.operators.contains(&self.token)
    }

    fn may(&self, wanted: Use, namespace: &Namespace) -> bool {
        let is_for_reading = wanted == Use::Reading && namespace.read_tokens.contains(&self.token);
        self.is_operator() || is_for_reading || namespace.tokens.contains(&self.token)
    }

    /// The namespaces that the token is for.
    pub(crate) fn namespaces(self) -> impl Iterator<Item = &'a Namespace> {
        self.access.namespaces.iter().filter(move |namespace| self.may(Use::Reading, namespace))
    }

    /// The namespace of this name or id, if the token is for that use of it.
    pub(crate) fn namespace(&self, name: &str, wanted: Use) -> Result<&'a Namespace, Problem> {
        self.checked(self.access.named(name), name, wanted)
    }

    fn checked(
        &self,
        found: Option<&'a Namespace>,
        name: &str,
        wanted: Use,
    ) -> Result<&'a Namespace, Problem> {
        match found {
            Some(namespace) if self.may(wanted, namespace) => Ok(namespace),
            Some(namespace) if self.may(Use::Reading, namespace) => {
                let message = format!("this token is for reading namespace \"{}\" only", namespace.name);
                Err(Problem::of(Kind::OtherNamespace, message))
            }
            Some(namespace) => {
                let message = format!("this token is not for namespace \"{}\"", namespace.name);
                Err(Problem::of(Kind::OtherNamespace, message))
            }
            None if self.is_operator() => {
                let names: Vec<_> = self.namespaces().map(|namespace| namespace.name.as_str()).collect();
                let message = format!("there is no namespace \"{name}\", only {}", names.join(", "));
                Err(Problem::of(Kind::NoNamespace, message))
            }
            // Which others there are is not for everybody.
            None => Err(Problem::of(Kind::NoNamespace, format!("there is no namespace \"{name}\""))),
        }
    }
}

/// A request's Authorization field.
pub(crate) fn authorization(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(header::AUTHORIZATION).map(|field| field.as_bytes())
}

/// Which namespace a request of the binding is about, where its token does not say so.
pub(crate) const NAMESPACE: HeaderName = HeaderName::from_static("kv-namespace");

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
        Access {
            namespaces: vec![namespace("sessions", &["a", "both"]), namespace("flags", &["b", "both"])],
            operators: vec![TokenHash::of(b"root")],
        }
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
}
