//! State of the certificates for clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of a certificate for clients.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CertificateStatus {
    /// DNS names in the certificate, or the host that waits for its first certificate.
    pub names: Vec<String>,
    /// Path of the file.
    pub file: String,
    /// Where the certificate is from.
    pub source: CertificateSource,
    /// Name of the issuer. Absent without a usable certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// End of the validity, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after_s: Option<u64>,
    /// Seconds until the end of the validity. Negative for an expired certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_s: Option<i64>,
    /// Seconds until the next order at the ACME server. Absent for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_order_in_s: Option<i64>,
    /// Reason why the current file, or an order at the ACME server, cannot be used. The old certificate
    /// stays in use. Absent while it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where a certificate is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CertificateSource {
    /// Files of the operator.
    File,
    /// An ACME server.
    Acme,
}
