//! Formats figures for sentences.

pub(super) use units::show::{plural, rate, share, time};

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an amount is not negative")]
pub(super) fn bytes(bytes: impl Into<f64>) -> String {
    units::show::bytes(bytes.into().round() as u64)
}

pub(super) fn with_article(figure: &str) -> String {
    let first = figure.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    let is_vowel = first.starts_with('8') || matches!(first, "11" | "18");
    format!("{} {figure}", if is_vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::with_article;

    #[test]
    fn an_eight_and_an_eleven_begin_with_a_vowel() {
        let read = ["80.5 KB", "8.20 MB", "11.2 KB", "18.0 KB", "110 KB", "1.80 MB"].map(with_article);
        assert_eq!(read, ["an 80.5 KB", "an 8.20 MB", "an 11.2 KB", "an 18.0 KB", "a 110 KB", "a 1.80 MB"]);
    }
}
