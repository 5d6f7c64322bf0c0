//! Errors in a netem line.

/// An invalid netem line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetemError {
    /// No option has this name.
    #[error("netem has no option \"{word}\"; {hint}")]
    Unknown {
        /// The given word.
        word: String,
        /// A suggestion.
        hint: String,
    },
    /// An option lacks its value.
    #[error("{option} has no value; expected {expected}")]
    Missing {
        /// The option.
        option: &'static str,
        /// The expected value.
        expected: &'static str,
    },
    /// An option has an invalid value.
    #[error("{option} cannot be \"{value}\"; expected {expected}")]
    Value {
        /// The option.
        option: &'static str,
        /// The given text.
        value: String,
        /// The expected form.
        expected: &'static str,
    },
    /// An option requires another option.
    #[error("{option} needs {needs}")]
    Needs {
        /// The option.
        option: &'static str,
        /// The missing feature.
        needs: &'static str,
    },
    /// An option is given twice.
    #[error("{option} is given twice; write it once")]
    Twice {
        /// The option.
        option: &'static str,
    },
    /// netem supports correlated draws; a link draws independently.
    #[error(
        "the correlation of {option} is not supported; leave it out, or write loss gemodel for losses in bursts"
    )]
    Correlation {
        /// The option.
        option: &'static str,
    },
    /// netem supports the option, a link does not.
    #[error("{what} is not supported; {instead}")]
    Unsupported {
        /// The given text.
        what: &'static str,
        /// The replacement.
        instead: &'static str,
    },
}

impl NetemError {
    pub(super) fn unknown<'n>(word: &str, known: impl Iterator<Item = &'n str> + Clone) -> Self {
        let hint = match units::nearest(word, known.clone()) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None => format!("expected one of {}", known.collect::<Vec<_>>().join(", ")),
        };
        Self::Unknown { word: word.to_owned(), hint }
    }
}
