//! JSON that is put together of texts which are JSON already: metadata and values stay as their writers wrote them.

/// Adds a text as JSON.
pub(crate) fn text(to: &mut String, text: &str) {
    // A text is always JSON.
    to.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Parts with commas between them and brackets around.
pub(crate) fn between<T>(
    to: &mut String,
    (open, close): (char, char),
    parts: impl IntoIterator<Item = T>,
    mut add: impl FnMut(&mut String, T),
) {
    to.push(open);
    for (number, part) in parts.into_iter().enumerate() {
        if number > 0 {
            to.push(',');
        }
        add(to, part);
    }
    to.push(close);
}

pub(crate) const LIST: (char, char) = ('[', ']');
pub(crate) const OBJECT: (char, char) = ('{', '}');
