//! Splits a shell command line into words, with quotes and backslashes.

/// The last word is the incomplete one; it is empty after a blank. An open quote ends with the
/// line.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut characters = line.chars();
    let mut is_between = true;
    while let Some(c) = characters.next() {
        let last = words.last_mut().expect("there is a first word");
        match (c, quote) {
            (' ' | '\t' | '\n', None) => {
                if !is_between {
                    words.push(String::new());
                }
                is_between = true;
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => last.extend(characters.next()),
            (c, _) => last.push(c),
        }
        is_between = false;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_those_of_the_shell() {
        assert_eq!(words("longhaul lab ex"), ["longhaul", "lab", "ex"]);
        assert_eq!(words("longhaul  lab "), ["longhaul", "lab", ""]);
        assert_eq!(words("a 'b c' \"d 'e\" f\\ g h=i:j"), ["a", "b c", "d 'e", "f g", "h=i:j"]);
        assert_eq!(words("a 'b c"), ["a", "b c"]);
        assert_eq!(words("a '' b"), ["a", "", "b"]);
        assert_eq!(words(""), [""]);
        assert_eq!(words("a \\"), ["a", ""]);
    }
}
