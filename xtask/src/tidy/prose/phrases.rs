//! Matches the phrases of `xtask/tidy/phrases.txt`, which describes their syntax.

use std::collections::HashMap;

/// All phrases, by their first word.
pub(crate) struct Phrases {
    groups: Vec<Group>,
    by_word: HashMap<&'static str, Vec<Phrase>>,
}

/// The name of a group, and the advice for its phrases.
struct Group {
    name: &'static str,
    advice: &'static str,
}

struct Phrase {
    group: usize,
    begins_clause: bool,
    /// Words that must not precede.
    not_after: Vec<&'static str>,
    /// The words after the first one.
    rest: Vec<Part>,
}

enum Part {
    Any,
    OneOf(Vec<&'static str>),
    NoneOf(Vec<&'static str>),
    Punctuation,
}

/// A phrase in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) offset: usize,
    pub(crate) end: usize,
    pub(crate) name: &'static str,
    pub(crate) advice: &'static str,
}

impl Phrases {
    pub(crate) fn new() -> Self {
        let mut phrases = Self { groups: Vec::new(), by_word: HashMap::new() };
        let lines = FILE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            match line.split_once(": ") {
                Some((name, advice)) => phrases.groups.push(Group { name, advice }),
                None => phrases.add(line),
            }
        }
        phrases
    }

    fn add(&mut self, line: &'static str) {
        let group = self.groups.len().saturating_sub(1);
        let mut parts = line.split_whitespace().peekable();
        let begins_clause = parts.next_if_eq(&"^").is_some();
        let not_after = parts.next_if(|part| part.starts_with('!')).map(words);
        let first = parts.next().map(words);
        let rest: Vec<_> = parts.collect();
        for word in first.unwrap_or_default() {
            self.by_word.entry(word).or_default().push(Phrase {
                group,
                begins_clause,
                not_after: not_after.clone().unwrap_or_default(),
                rest: rest.iter().copied().map(Part::new).collect(),
            });
        }
    }

    /// The hits in a text, in the order of the text. Hits of one group do not overlap.
    pub(crate) fn hits(&self, text: &str) -> Vec<Hit> {
        let words = Word::all(text);
        let mut free = vec![0; self.groups.len()];
        let mut hits = Vec::new();
        for (at, word) in words.iter().enumerate() {
            for phrase in self.by_word.get(word.text).into_iter().flatten() {
                if at < free[phrase.group] {
                    continue;
                }
                let Some(end) = phrase.end(&words, at) else { continue };
                free[phrase.group] = end;
                let Group { name, advice } = self.groups[phrase.group];
                let last = &words[end - 1];
                hits.push(Hit { offset: word.offset, end: last.offset + last.text.len(), name, advice });
            }
        }
        hits
    }
}

impl Phrase {
    /// The index of the word after the phrase, if the phrase starts with this word.
    fn end(&self, words: &[Word], first: usize) -> Option<usize> {
        let word = &words[first];
        let is_after = |not: &&str| word.is_joined && first > 0 && words[first - 1].text == *not;
        if self.begins_clause && !word.begins_clause || self.not_after.iter().any(is_after) {
            return None;
        }
        let mut at = first + 1;
        for part in &self.rest {
            let next = words.get(at).filter(|word| word.is_joined);
            let (matches, length) = match part {
                Part::Any => (next.is_some(), 1),
                Part::OneOf(all) => (next.is_some_and(|next| all.contains(&next.text)), 1),
                Part::NoneOf(all) => (next.is_none_or(|next| !all.contains(&next.text)), 0),
                Part::Punctuation => (words[at - 1].is_before_punctuation, 0),
            };
            if !matches {
                return None;
            }
            at += length;
        }
        Some(at)
    }
}

impl Part {
    fn new(text: &'static str) -> Self {
        match (text, text.strip_prefix('!')) {
            ("*", _) => Self::Any,
            ("$", _) => Self::Punctuation,
            (_, Some(_)) => Self::NoneOf(words(text)),
            _ => Self::OneOf(words(text)),
        }
    }
}

fn words(text: &'static str) -> Vec<&'static str> {
    text.trim_start_matches('!').split('|').collect()
}

/// A word of a text.
struct Word<'t> {
    text: &'t str,
    offset: usize,
    /// Only a space separates it from the previous word.
    is_joined: bool,
    begins_clause: bool,
    is_before_punctuation: bool,
}

impl<'t> Word<'t> {
    fn all(text: &'t str) -> Vec<Self> {
        let bytes = text.as_bytes();
        let mut words = Vec::new();
        let mut at = 0;
        let mut end = usize::MAX;
        while at < bytes.len() {
            let start = at;
            while at < bytes.len() && is_in_word(bytes[at]) {
                at += 1;
            }
            if at == start {
                at += 1;
                continue;
            }
            let before = &bytes[..start];
            words.push(Self {
                text: &text[start..at],
                offset: start,
                is_joined: end.checked_add(1) == Some(start) && before.ends_with(b" "),
                begins_clause: matches!(before, [] | [.., b'.' | b':' | b';' | b',' | b'(', b' ']),
                is_before_punctuation: matches!(bytes.get(at), Some(b'.' | b',' | b';')),
            });
            end = at;
        }
        words
    }
}

const fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\''
}

const FILE: &str = include_str!("../../../tidy/phrases.txt");

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, String)> {
        let hits = Phrases::new().hits(text);
        hits.into_iter().map(|hit| (hit.name, text[hit.offset..hit.end].to_owned())).collect()
    }

    #[test]
    fn phrase_is_found() {
        assert_eq!(found("A list of what is stored."), [("prep-what", "of what is".to_owned())]);
        assert_eq!(found("Then, what the peer sent"), [("what-clause", "what the".to_owned())]);
        assert_eq!(found("how the cache is filled"), [("how-far", "how the cache is".to_owned())]);
        assert_eq!(found("reads both as well."), [("archaic", "as well".to_owned())]);
    }

    #[test]
    fn plain_sentence_has_no_hit() {
        assert_eq!(found("The cache stores the response, and the client receives it."), []);
        assert_eq!(found("Does this say what-is, of\u{a0}what is or is_told?").len(), 1, "only `say`");
    }

    #[test]
    fn conditions_around_a_phrase_hold() {
        assert_eq!(found("it comes from here").len(), 0);
        assert_eq!(found("it comes late").len(), 1);
        assert_eq!(found("all at once").len(), 0);
        assert_eq!(found("two at once").len(), 1);
        assert_eq!(found("as well as").len(), 0);
        assert_eq!(found("shows what is new").len(), 0, "not the start of a clause");
    }

    #[test]
    fn hits_of_a_group_do_not_overlap() {
        assert_eq!(found("the other one"), [("that-one", "the other one".to_owned())]);
    }

    #[test]
    fn each_group_has_a_phrase() {
        let phrases = Phrases::new();
        for (index, group) in phrases.groups.iter().enumerate() {
            let of_group = |phrase: &Phrase| phrase.group == index;
            assert!(phrases.by_word.values().flatten().any(of_group), "{}", group.name);
        }
    }
}
