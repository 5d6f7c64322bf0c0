//! The parameters of a URL, as browsers and workerd write them.

use crate::problem::Problem;

/// Names and values of a query, decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Of the text behind a URL's question mark.
    ///
    /// # Errors
    /// When it is not percent-encoded as it should be, or stands for something else than UTF-8.
    pub fn of(query: Option<&str>) -> Result<Self, Problem> {
        // A plus sign is a space here, unlike in a path.
        let plain = |text: &str| {
            let decoded = kv::decoded(&text.replace('+', "%20"));
            decoded.ok_or_else(|| Problem::bad(format!("\"{text}\" in the URL cannot be decoded")))
        };
        let parts = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pairs = parts.map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((plain(name)?, plain(value)?))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// The first value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_decoded() {
        let parameters = Parameters::of(Some("prefix=a%2Fb+c&limit=5&limit=6&&flag")).unwrap();
        let get = |name| parameters.get(name);
        assert_eq!((get("prefix"), get("limit"), get("flag")), (Some("a/b c"), Some("5"), Some("")));
        assert_eq!(get("other"), None);
        assert!(Parameters::of(Some("a=%ff")).is_err() && Parameters::of(Some("%2=a")).is_err());
        assert_eq!(Parameters::of(None), Ok(Parameters::default()));
    }
}
