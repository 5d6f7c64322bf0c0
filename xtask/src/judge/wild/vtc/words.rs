//! The words of varnishtest's language: commands in lines, with quotes and blocks in braces.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) words: Vec<String>,
    pub(super) block: Option<Vec<Self>>,
}

/// A brace after `server`, `client` or `varnish` begins a block; elsewhere it quotes.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, String> {
    let letters: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut lines = Vec::new();
    let mut line = Line::default();
    while at < letters.len() {
        match letters[at] {
            '\n' => {
                push(&mut lines, &mut line);
                at += 1;
            }
            '\\' if letters.get(at + 1) == Some(&'\n') => at += 2,
            '#' => at += letters[at..].iter().take_while(|letter| **letter != '\n').count(),
            letter if letter.is_whitespace() => at += 1,
            '"' => {
                let (word, end) = quoted(&letters, at + 1)?;
                line.words.push(word);
                at = end;
            }
            '{' => {
                let end = brace(&letters, at)?;
                let inside: String = letters[at + 1..end].iter().collect();
                let is_block = line.words.first().is_some_and(|word| BLOCKS.contains(&word.as_str()));
                match is_block {
                    true if line.words[0] == "varnish" => line.block = Some(own_language(&inside)),
                    true => line.block = Some(self::lines(&inside)?),
                    false => line.words.push(inside),
                }
                at = end + 1;
            }
            _ => {
                let length = letters[at..].iter().take_while(|letter| !letter.is_whitespace()).count();
                line.words.push(letters[at..at + length].iter().collect());
                at += length;
            }
        }
    }
    push(&mut lines, &mut line);
    Ok(lines)
}

fn push(lines: &mut Vec<Line>, line: &mut Line) {
    if !line.words.is_empty() {
        lines.push(std::mem::take(line));
    }
}

/// VCL is not read, only whether there is some counts.
fn own_language(text: &str) -> Vec<Line> {
    let has_some = text.lines().any(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
    if has_some { vec![Line { words: vec!["VCL".to_owned()], block: None }] } else { Vec::new() }
}

fn quoted(letters: &[char], begin: usize) -> Result<(String, usize), String> {
    let mut word = String::new();
    let mut at = begin;
    while let Some(letter) = letters.get(at) {
        match (letter, letters.get(at + 1)) {
            ('"', _) => return Ok((word, at + 1)),
            ('\\', Some('n')) => word.push('\n'),
            ('\\', Some('r')) => word.push('\r'),
            ('\\', Some('t')) => word.push('\t'),
            ('\\', Some('"')) => word.push('"'),
            ('\\', Some('\\')) => word.push('\\'),
            ('\\', _) => return Err("an escape".to_owned()),
            (letter, _) => {
                word.push(*letter);
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    Err("a quote without end".to_owned())
}

fn brace(letters: &[char], begin: usize) -> Result<usize, String> {
    let mut depth = 0;
    for (at, letter) in letters.iter().enumerate().skip(begin) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(at);
        }
    }
    Err("a brace without end".to_owned())
}

const BLOCKS: [&str; 3] = ["server", "client", "varnish"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_quotes_and_blocks_are_read() {
        let text = "server s1 {\n rxreq\n txresp -hdr {ETag: \"a\"} \\\n  -body \"1\\n\" # more\n} -start\nvarnish v1 -vcl+backend { } -start\n";
        let read = lines(text).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].words, ["server", "s1", "-start"]);
        let block = read[0].block.as_ref().unwrap();
        assert_eq!(block[0].words, ["rxreq"]);
        assert_eq!(block[1].words, ["txresp", "-hdr", "ETag: \"a\"", "-body", "1\n"]);
        assert_eq!(read[1].block.as_deref(), Some(&[][..]));
        assert!(lines("client c1 {").is_err());
    }
}
