//! JSON that is put together of texts which are JSON already: metadata and values stay as their writers wrote them.

use kv::ListedKey;

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

/// Keys in a list, with what is said of each; `metadata` adds JSON that is what the store has, or stands for it.
pub(crate) fn keys(to: &mut String, keys: &[ListedKey], metadata: impl Fn(&mut String, &str)) {
    between(to, LIST, keys, |to, key| {
        to.push_str("{\"name\":");
        text(to, &key.name);
        if let Some(expiration) = key.expiration {
            to.push_str(&format!(",\"expiration\":{}", expiration.0));
        }
        if let Some(says) = &key.metadata {
            to.push_str(",\"metadata\":");
            metadata(to, says.as_str());
        }
        to.push('}');
    });
}

pub(crate) const LIST: (char, char) = ('[', ']');
pub(crate) const OBJECT: (char, char) = ('{', '}');
