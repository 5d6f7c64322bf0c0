//! Errors of traffic generation, and hints.

/// The reason why no traffic was generated. Most errors are from the kernel, as [`tcp::Error`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file given by the caller contains a mistake.
    #[error(transparent)]
    Mistake(#[from] config_file::Diagnostic),
    /// A system call failed, because of the caller, the peer or the environment.
    #[error(transparent)]
    Tcp(#[from] tcp::Error),
}

impl Error {
    /// The remedy, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Mistake(_) => None,
            Self::Tcp(error) => error.hint(),
        }
    }
}
