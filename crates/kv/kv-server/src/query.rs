//! Query parameters, as browsers and workerd encode them.

use crate::api_error::ApiError;

/// Decoded names and values of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Parses the query of a URL.
    ///
    /// # Errors
    /// Fails if the percent-encoding is invalid, or the decoded text is not UTF-8.
    pub fn of(query: Option<&str>) -> Result<Self, ApiError> {
        // In a query, unlike in a path, a plus sign is a space.
        let plain = |text: &str| {
            let decoded = kv::decoded(&text.replace('+', "%20"));
            decoded.ok_or_else(|| ApiError::bad(format!("\"{text}\" in the URL cannot be decoded")))
        };
        let parts = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        let pairs = parts.map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((plain(name)?, plain(value)?))
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the first value of this name.
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
