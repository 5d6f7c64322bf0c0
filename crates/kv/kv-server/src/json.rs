//! Builds JSON from parts that are already JSON, so that metadata and values are preserved byte by
//! byte.

use kv::ListedKey;

pub(crate) fn text(to: &mut String, text: &str) {
    // Serialising a string cannot fail.
    to.push_str(&serde_json::to_string(text).unwrap_or_default());
}

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

/// `metadata` appends a key's metadata, which are JSON.
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
