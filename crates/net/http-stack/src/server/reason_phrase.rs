//! A custom reason phrase for responses over HTTP/1.1.

/// The reason phrase of a response, instead of the standard one. Add it to the response's extensions;
/// HTTP/2 and HTTP/3 have no reason phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonPhrase(String);

impl ReasonPhrase {
    /// Takes up to 512 characters of this text. Characters that are not allowed in a status line are
    /// replaced with a question mark.
    pub fn new(text: &str) -> Self {
        let allowed = |letter: char| if letter.is_ascii_graphic() || letter == ' ' { letter } else { '?' };
        Self(text.chars().map(allowed).take(LONGEST).collect())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Far below the limits of clients.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_whatever_the_text() {
        assert_eq!(ReasonPhrase::new("no\r\nx: y ä").as_bytes(), b"no??x: y ?");
        assert_eq!(ReasonPhrase::new(&"a".repeat(1000)).as_bytes().len(), 512);
    }
}
