//! Revoked certificates, by serial number or by name.

use std::{fmt, str::FromStr};

use rustls::pki_types::{CertificateDer, pem::PemObject};
use webpki::EndEntityCert;

/// The revoked certificates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Revoked {
    /// The revoked serial numbers.
    pub serials: Vec<Serial>,
    /// The revoked names.
    pub names: Vec<String>,
}

/// The serial number of a certificate, without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serial(Vec<u8>);

/// The text is not a serial number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSerial;

impl fmt::Display for NoSerial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected up to 20 bytes in hexadecimal, as `openssl x509 -noout -serial -in FILE` prints them",
        )
    }
}

impl FromStr for Serial {
    type Err = NoSerial;

    fn from_str(text: &str) -> Result<Self, NoSerial> {
        let digits: String = text.chars().filter(|letter| *letter != ':').collect();
        let is_hex = !digits.is_empty() && digits.bytes().all(|letter| letter.is_ascii_hexdigit());
        let digits = digits.trim_start_matches('0');
        if !is_hex || digits.len() > 2 * LONGEST {
            return Err(NoSerial);
        }
        let even = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
        let byte = |at| u8::from_str_radix(&even[at..at + 2], 16).map_err(|_| NoSerial);
        (0..even.len()).step_by(2).map(byte).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl Serial {
    /// The serial number of a certificate; `None` if it cannot be parsed.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = EndEntityCert::try_from(certificate).ok()?;
        let start = certificate.serial().iter().position(|byte| *byte != 0)?;
        Some(Self(certificate.serial()[start..].to_vec()))
    }

    /// The serial number of the first certificate in a PEM text; `None` if there is no certificate.
    pub fn of_pem(pem: &[u8]) -> Option<Self> {
        Self::of(&CertificateDer::from_pem_slice(pem).ok()?)
    }
}

impl Revoked {
    /// An unparsable certificate counts as revoked.
    pub(super) fn has(&self, certificate: &CertificateDer<'_>) -> bool {
        if self.serials.is_empty() && self.names.is_empty() {
            return false;
        }
        let Some(serial) = Serial::of(certificate) else { return true };
        let is_named = |name: &str| self.names.iter().any(|revoked| revoked.eq_ignore_ascii_case(name));
        self.serials.contains(&serial) || super::names(certificate).iter().any(|name| is_named(name))
    }
}

/// Bytes of a serial number (RFC 5280 section 4.1.2.2).
const LONGEST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_number_is_hexadecimal() {
        for text in ["0f3a", "F3A", "00:0F:3a"] {
            assert_eq!(text.parse::<Serial>().unwrap().to_string(), "0F3A", "{text}");
        }
        let longest = "f".repeat(40);
        assert!(longest.parse::<Serial>().is_ok() && format!("00{longest}").parse::<Serial>().is_ok());
        for text in ["", "lhr", "0x12", "-1", &format!("1{longest}"), "\u{fc}\u{fc}"] {
            assert_eq!(text.parse::<Serial>(), Err(NoSerial), "{text}");
        }
    }
}
