//! What can keep traffic from being made, and what to do about it.

/// Why there was no traffic. Most of it is the kernel's, and what [`tcp::Error`] is for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller: a file with a mistake in it.
    #[error(transparent)]
    Mistake(#[from] document::Mistake),
    /// The caller, the peer or the environment: the kernel could not be asked, or told.
    #[error(transparent)]
    Tcp(#[from] tcp::Error),
}

impl Error {
    /// The remedy, where one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Mistake(_) => None,
            Self::Tcp(error) => error.hint(),
        }
    }
}
