//! The string literals of Rust code that users read.

/// Messages with the line of each: literals of at least four words after the start of an error, a
/// log line or an output.
pub(crate) fn messages(code: &str) -> Vec<(usize, String)> {
    let mut messages = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for Literal { before, start, text } in Literals::new(code) {
        if !is_message(before) || super::count(text) < 4 {
            continue;
        }
        line += code[counted..start].matches('\n').count();
        counted = start;
        messages.push((line, plain(text)));
    }
    messages
}

/// Whether the code before a literal opens a message; only the current statement counts.
fn is_message(before: &str) -> bool {
    let statement = before.rsplit([';', '{', '}']).next().unwrap_or(before);
    OPENERS.iter().any(|opener| statement.contains(opener))
        || statement.contains("const ") && statement.trim_end().ends_with(": &str =")
}

/// The text without placeholders and line breaks.
fn plain(literal: &str) -> String {
    let mut text = String::new();
    let mut letters = literal.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' => {
                letters.by_ref().find(|&letter| letter == '}');
                text.push('X');
            }
            '\\' if letters.next_if_eq(&'\n').is_some() => {
                while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
            }
            _ => text.push(letter),
        }
    }
    text
}

/// A string literal, and the code between it and the previous one.
struct Literal<'t> {
    before: &'t str,
    start: usize,
    text: &'t str,
}

/// Reads literals from code; skips comments and characters.
struct Literals<'t> {
    code: &'t str,
    at: usize,
}

impl<'t> Literals<'t> {
    fn new(code: &'t str) -> Self {
        Self { code, at: 0 }
    }

    /// The offset of a text after another offset, or the end of the code.
    fn offset_of(&self, text: &str, from: usize) -> usize {
        self.code[from..].find(text).map_or(self.code.len(), |length| from + length)
    }

    /// The quote that closes the literal after an offset.
    fn closing(&self, from: usize) -> usize {
        let mut quote = self.offset_of("\"", from);
        while quote < self.code.len() {
            let escapes = self.code[from..quote].bytes().rev().take_while(|&byte| byte == b'\\').count();
            if escapes % 2 == 0 {
                break;
            }
            quote = self.offset_of("\"", quote + 1);
        }
        quote
    }

    /// The number of signs around a raw literal that opens at a quote.
    fn raw(&self, quote: usize) -> Option<usize> {
        let before = self.code[..quote].trim_end_matches('#');
        before.ends_with('r').then(|| quote - before.len())
    }
}

impl<'t> Iterator for Literals<'t> {
    type Item = Literal<'t>;

    fn next(&mut self) -> Option<Literal<'t>> {
        let begin = self.at;
        loop {
            let quote = self.at + self.code.get(self.at..)?.find('"')?;
            let before = &self.code[self.at..quote];
            let line = before.rfind('\n').map_or(before, |end| &before[end..]);
            if line.contains("//") {
                self.at = self.offset_of("\n", quote);
            } else if before.ends_with(['\'', '\\']) {
                self.at = quote + 1;
            } else {
                let (end, signs) = match self.raw(quote) {
                    Some(signs) => (self.offset_of(&format!("\"{}", "#".repeat(signs)), quote + 1), signs),
                    None => (self.closing(quote + 1), 0),
                };
                self.at = end + 1 + signs;
                let (before, text) = (&self.code[begin..quote], &self.code[quote + 1..end]);
                return Some(Literal { before, start: quote, text });
            }
        }
    }
}

const OPENERS: [&str; 15] = [
    "#[error(",
    "anyhow!(",
    "bail!(",
    "ensure!(",
    "format!(",
    "print!(",
    "println!(",
    ".context(",
    "write!(",
    "info!(",
    "warn!(",
    "error!(",
    "debug!(",
    "trace!(",
    "Refusal::new(",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_messages_are_found() {
        let code = "fn a() {\n    bail!(\"cannot read the file {path}\");\n    let b = \"not read by any user\";\n}\n\
                    const HELP: &str = \"one two \\\n    three four\";\n#[error(\"the \\\"port\\\" is not free\")]\n";
        let expected =
            [(2, "cannot read the file X"), (5, "one two three four"), (7, "the \\\"port\\\" is not free")];
        assert_eq!(messages(code), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn comments_and_characters_are_no_literals() {
        let code = "// bail!(\"a comment is not code\")\nlet a = ['\"', '\\'', '\\\"'];\nbail!(r#\"say \"four\" words here\"#);";
        assert_eq!(messages(code), [(3, "say \"four\" words here".to_owned())]);
    }

    #[test]
    fn short_literals_are_no_sentences() {
        assert_eq!(messages("bail!(\"no such file\")"), []);
    }
}
