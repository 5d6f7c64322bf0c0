//! The known name nearest to a misspelt one.

/// The member of `known` with the smallest edit distance from `word`, at most a third of its
/// length.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let limit = word.chars().count().div_ceil(3);
    known
        .into_iter()
        .map(|name| (edits(word, name), name))
        .filter(|&(edits, _)| edits <= limit)
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, name)| name)
}

/// Levenshtein distance of the lower-case forms.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_misspelt_city() {
        let cities = ["london", "lisbon", "frankfurt", "newyork"];
        assert_eq!(nearest("lodnon", cities), Some("london"));
        assert_eq!(nearest("Frankfrt", cities), Some("frankfurt"));
        assert_eq!(nearest("atlantis", cities), None);
        assert_eq!(nearest("", cities), None);
    }
}
