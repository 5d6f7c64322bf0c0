//! Reasons for clients to reject a usable certificate.

/// Why clients reject a certificate, whatever its issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CertWarning {
    /// The certificate has expired.
    #[error("it has expired")]
    Expired,
    /// The certificate is not valid yet.
    #[error("it is not valid yet")]
    NotValidYet,
}
