//! The words of a netem line.

use super::NetemError;

pub(super) struct Words<'t> {
    words: std::iter::Peekable<std::str::SplitWhitespace<'t>>,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { words: text.split_whitespace().peekable() }
    }

    pub(super) fn next(&mut self) -> Option<&'t str> {
        self.words.next()
    }

    pub(super) fn skip(&mut self, word: &str) -> bool {
        self.words.next_if(|next| *next == word).is_some()
    }

    pub(super) fn value<V>(
        &mut self,
        option: &'static str,
        expected: &'static str,
        read: fn(&str) -> Option<V>,
    ) -> Result<V, NetemError> {
        let word = self.next().ok_or(NetemError::Missing { option, expected })?;
        read(word).ok_or_else(|| NetemError::Value { option, value: word.to_owned(), expected })
    }

    pub(super) fn optional<V>(
        &mut self,
        option: &'static str,
        expected: &'static str,
        read: fn(&str) -> Option<V>,
    ) -> Result<Option<V>, NetemError> {
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        if self.words.peek().is_some_and(is_number) {
            self.value(option, expected, read).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(super) fn no_correlation(&mut self, option: &'static str) -> Result<(), NetemError> {
        match self.optional(option, super::PERCENT, super::percent)? {
            Some(correlation) if correlation.get() > 0.0 => Err(NetemError::Correlation { option }),
            _ => Ok(()),
        }
    }
}
