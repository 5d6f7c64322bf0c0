//! Responses to HTTP-01 challenges (RFC 8555 section 8.3). A data centre also answers for others that
//! share its storage.

use std::{fs, path::Path};

use http_stack::{Body, Response, header};
use tokio::task::spawn_blocking;

use crate::config::Network;

pub(crate) const PREFIX: &str = "/.well-known/acme-challenge/";

/// `None` if the path is not that of a pending challenge. The origin may have a challenge with this path.
pub(crate) async fn respond(network: &Network, path: &str) -> Option<Response<Body>> {
    let token = path.strip_prefix(PREFIX).filter(|token| is_token(token))?;
    let file = network.acme.as_ref()?.challenges().join(token);
    let proof = spawn_blocking(move || read(&file)).await.ok().flatten()?;
    let mut response = Response::new(Body::whole(proof));
    let text = header::HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    Some(response)
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let size = fs::metadata(file).ok().filter(fs::Metadata::is_file)?.len();
    if size > LONGEST_PROOF { None } else { fs::read(file).ok() }
}

/// Tokens are in base64url (RFC 8555 section 8.1), so no token is a path.
pub(super) fn is_token(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
    !text.is_empty() && text.len() <= LONGEST_TOKEN && text.bytes().all(is_letter)
}

const LONGEST_TOKEN: usize = 128;
const LONGEST_PROOF: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_no_path() {
        assert!(is_token("evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr_oA"));
        for text in ["", "a/b", "..", "a.pem", "%2e%2e", &"a".repeat(129)] {
            assert!(!is_token(text), "{text}");
        }
    }
}
