//! A response's reason in its handler's own words, for clients that show it: over HTTP/1.1 it stands behind the status.

/// What stands behind the status in place of the usual phrase. To be put among a response's extensions; HTTP/2 and HTTP/3 have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// Up to 512 characters of this text. What a first line cannot have becomes a question mark.
    pub fn new(text: &str) -> Self {
        let allowed = |letter: char| if letter.is_ascii_graphic() || letter == ' ' { letter } else { '?' };
        Self(text.chars().map(allowed).take(LONGEST).collect())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Far from what a client's first line may have.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_whatever_the_text() {
        assert_eq!(Reason::new("no\r\nx: y ä").as_bytes(), b"no??x: y ?");
        assert_eq!(Reason::new(&"a".repeat(1000)).as_bytes().len(), 512);
    }
}
