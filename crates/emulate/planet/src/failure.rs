//! The serialized form of an [`Error`] that one process of a planet sends to another.

use std::io;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Needs};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failure {
    NameTaken { name: String },
    System { operation: String, needs: Option<Needs>, os_error: Option<i32>, text: String },
    Other { text: String },
}

impl Failure {
    pub(crate) fn into_error(self, planet: &str) -> Error {
        match self {
            Self::NameTaken { name } => Error::NameTaken { name },
            Self::System { operation, needs, os_error, text } => {
                let source = os_error.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error);
                Error::System { operation, needs, source }
            }
            Self::Other { text } => Error::Gone { name: planet.to_owned(), detail: format!(": {text}") },
        }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        match error {
            Error::NameTaken { name } => Self::NameTaken { name: name.clone() },
            Error::System { operation, needs, source } => Self::System {
                operation: operation.clone(),
                needs: *needs,
                os_error: source.raw_os_error(),
                text: source.to_string(),
            },
            other => Self::Other { text: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(error: &Error) -> Error {
        let line = serde_json::to_string(&Failure::from(error)).unwrap();
        serde_json::from_str::<Failure>(&line).unwrap().into_error("lab")
    }

    #[test]
    fn the_remedy_survives_the_way() {
        let source = io::Error::from_raw_os_error(libc::EPERM);
        let error = Error::System {
            operation: "make a user namespace".to_owned(),
            needs: Some(Needs::Namespaces),
            source,
        };
        assert_eq!((told(&error).to_string(), told(&error).hint()), (error.to_string(), error.hint()));
        let taken = Error::NameTaken { name: "lab".to_owned() };
        assert_eq!(told(&taken).hint(), taken.hint());
    }

    #[test]
    fn what_ends_a_planet_is_told_with_its_name() {
        let told = told(&Error::Abandoned).to_string();
        assert_eq!(
            told,
            "planet \"lab\" ended unexpectedly: the program that started this process went away"
        );
    }
}
