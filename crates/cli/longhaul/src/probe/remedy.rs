//! Remedies for failed requests.

use probe::summary::Summary;

pub(super) fn remedies(summary: &Summary, has_ca: bool) -> Vec<&'static str> {
    let mut known: Vec<_> =
        summary.errors_by_reason.keys().filter_map(|reason| remedy(reason, has_ca)).collect();
    known.dedup();
    known
}

fn remedy(reason: &str, has_ca: bool) -> Option<&'static str> {
    Some(match reason {
        "tls: unknown issuer"
        | "tls: certificate of an authority, not of a server"
        | "tls: certificate not signed by the key of its issuer"
            if has_ca =>
        {
            "the file of --ca holds neither the certificate of the authority that signed the server's nor the server's own; \
             `openssl s_client -connect HOST:PORT -showcerts` shows what the server sends"
        }
        "tls: unknown issuer"
        | "tls: certificate of an authority, not of a server"
        | "tls: certificate not signed by the key of its issuer" => {
            "name the certificate of the authority that signed it, or a self-signed one, with --ca FILE; or a store of your own with \
             SSL_CERT_FILE; for an experiment, --insecure trusts anyone"
        }
        "tls: certificate for another name" => {
            "ask for the server by a name in its certificate; `openssl s_client -connect HOST:PORT | openssl x509 -noout -ext \
             subjectAltName` shows them"
        }
        "tls: bad certificate" => {
            "the certificate breaks a rule of today's web (version 3, a name in subjectAltName, a key and a signature that are \
             long enough); make a new one, or for an experiment trust anyone with --insecure"
        }
        "tls: not TLS" => "nobody speaks TLS there; try http:// or another port",
        "dns: no IPv4 address" | "dns: no IPv6 address" => {
            "the name has addresses of the other family only; leave out -4 and -6, or take the other"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_done_depends_on_what_was_tried() {
        assert!(remedy("tls: unknown issuer", false).is_some_and(|text| text.contains("--ca FILE")));
        assert!(remedy("tls: unknown issuer", true).is_some_and(|text| text.contains("the file of --ca")));
        assert_eq!(remedy("timeout", false), None);
    }
}
