//! The rules that match a request, as a list that another data centre can use too.

use std::fmt::Write as _;

use super::match_result::MatchResult;

/// In the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MatchList {
    pub(super) entries: Vec<Match>,
    /// A request with the same URL and fields from another client may match other rules.
    pub(super) is_client_specific: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) rule: usize,
    pub(super) fit: MatchResult,
}

impl MatchList {
    pub(crate) fn is_client_specific(&self) -> bool {
        self.is_client_specific
    }

    /// The hash of the rules, and the indices of the matching ones; `?` marks rules that match only
    /// some interpretations.
    pub(crate) fn to_field(&self, hash: u64) -> String {
        let mut text = format!("{hash:016x}");
        for (place, Match { rule, fit }) in self.entries.iter().enumerate() {
            text.push(if place == 0 { ' ' } else { ',' });
            let _ = write!(text, "{rule}");
            if *fit == MatchResult::Maybe {
                text.push('?');
            }
        }
        text
    }

    /// `None` if the text is malformed, or for other rules.
    pub(crate) fn from_field(text: &str, hash: u64, rules: usize) -> Option<Self> {
        let (digits, places) = text.split_once(' ').unwrap_or((text, ""));
        if digits.len() != 16 || u64::from_str_radix(digits, 16) != Ok(hash) {
            return None;
        }
        let mut entries: Vec<Match> = Vec::new();
        for place in places.split(',').filter(|_| !places.is_empty()) {
            let (number, fit) = match place.strip_suffix('?') {
                Some(number) => (number, MatchResult::Maybe),
                None => (place, MatchResult::Yes),
            };
            let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
            let rule =
                Some(number).filter(|_| is_number)?.parse::<usize>().ok().filter(|rule| *rule < rules)?;
            if entries.last().is_some_and(|last| last.rule >= rule) {
                return None;
            }
            entries.push(Match { rule, fit });
        }
        Some(Self { entries, is_client_specific: false })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn malformed_lists_are_refused() {
        for (text, is_list) in [
            ("00000000000000ff", true),
            ("00000000000000ff 0,2?,9", true),
            ("00000000000000fe 0", false),
            ("ff 0", false),
            ("00000000000000ff 0,0", false),
            ("00000000000000ff 2,1", false),
            ("00000000000000ff 10", false),
            ("00000000000000ff ,1", false),
            ("00000000000000ff +1", false),
            ("00000000000000ff 1??", false),
            ("", false),
        ] {
            assert_eq!(MatchList::from_field(text, 255, 10).is_some(), is_list, "{text}");
        }
    }

    proptest! {
        #[test]
        fn lists_round_trip(places in prop::collection::btree_map(0_usize..50, any::<bool>(), 0..20), hash: u64) {
            let of = |(&rule, &is_clear): (&usize, &bool)| {
                Match { rule, fit: if is_clear { MatchResult::Yes } else { MatchResult::Maybe } }
            };
            let list = MatchList { entries: places.iter().map(of).collect(), is_client_specific: false };
            prop_assert_eq!(MatchList::from_field(&list.to_field(hash), hash, 50), Some(list));
        }

        #[test]
        fn any_text_is_a_list_or_refused(text in "[0-9a-f]{15,16} ?[0-9,?]{0,10}") {
            let _ = MatchList::from_field(&text, 0, 10);
        }
    }
}
