//! Numbers as people read them.

/// A number of things, with spaces between the thousands.
pub fn count(number: u64) -> String {
    grouped(&number.to_string(), ' ')
}

/// Digits with a space between the thousands of the whole part.
pub fn grouped(digits: &str, space: char) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::with_capacity(digits.len() + 4);
    for (index, digit) in digits.char_indices() {
        let begins_three = index > 0 && index < whole && (whole - index).is_multiple_of(3);
        if begins_three && text.ends_with(|before: char| before.is_ascii_digit()) {
            text.push(space);
        }
        text.push(digit);
    }
    text
}

/// "1 request", "2 requests".
pub fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Text from a file or its name in one line: nothing in it moves a cursor, rings a bell or turns the writing round.
pub fn plain(text: &str) -> String {
    let is_control = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart_and_nouns_agree() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!(grouped("12345.6789", ' '), "12 345.6789");
        assert_eq!([plural(1, "request"), plural(2000, "request")], ["1 request", "2 000 requests"]);
    }
}
