//! Quoting of shell words.

pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('~') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_shell_reads_what_was_meant() {
        assert_eq!(shell_word("scenarios/quick.toml"), "scenarios/quick.toml");
        assert_eq!(shell_word("my world.toml"), "'my world.toml'");
        assert_eq!(shell_word("it's.toml"), "'it'\\''s.toml'");
        assert_eq!(shell_word("zürich.toml"), "zürich.toml");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("$HOME"), "'$HOME'");
        assert_eq!(shell_word("~x"), "'~x'");
    }
}
