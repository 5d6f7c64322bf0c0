//! A private certificate authority in a directory, with the certificates that it has issued.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use http_stack::{Serial, server::Authority};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Error, util::private_file};

/// A certificate and its key, as written by `edge ca --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Certificate {
    /// The certificate file, in PEM.
    pub certificate: PathBuf,
    /// The key file, in PEM, readable only by its owner.
    pub key: PathBuf,
    /// The serial number, used for revocation.
    pub serial: String,
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Certificate {
    /// Creates an authority in a directory.
    ///
    /// # Errors
    ///
    /// If the directory already contains an authority, or its files cannot be written.
    pub fn create_authority(folder: &Path) -> Result<Self, Error> {
        let own = Files::for_name(folder, CA_FILE_STEM);
        let taken = [&own.certificate, &own.key].into_iter().find(|file| file.exists());
        if let Some(path) = taken {
            let why =
                "it already exists, and a new one would invalidate its certificates; use another directory";
            return Err(Error::Authority { path: path.clone(), why: why.to_owned() });
        }
        let authority = Authority::make()?;
        fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
        own.write(authority.certificate_pem(), authority.key_pem())
    }

    /// Issues a certificate for a data centre with its name and these host names and addresses.
    ///
    /// # Errors
    ///
    /// If there is no authority, the name is not a valid file name, or a host is not valid in a
    /// certificate.
    pub fn issue(folder: &Path, name: &str, hosts: &[String], days: u32) -> Result<Self, Error> {
        let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
        if name == CA_FILE_STEM
            || !name.bytes().all(is_plain)
            || name.is_empty()
            || name.starts_with(['.', '-'])
        {
            let why = format!(
                "\"{name}\" is not a data centre's name: expected letters, digits, \"-\", \"_\" and \".\", and not \"{CA_FILE_STEM}\""
            );
            return Err(Error::Authority { path: folder.to_owned(), why });
        }
        let own = Files::for_name(folder, CA_FILE_STEM);
        let read = |path: &Path| {
            let unread = |error: io::Error| format!("{error}; `longhaul edge ca new` creates an authority");
            fs::read_to_string(path)
                .map_err(|error| Error::Authority { path: path.to_owned(), why: unread(error) })
        };
        let authority = Authority::read(&read(&own.certificate)?, &read(&own.key)?).map_err(|error| {
            let why = format!("it and its key are not an authority of `longhaul edge ca new`: {error}");
            Error::Authority { path: own.certificate.clone(), why }
        })?;
        // Peers identify a data centre by this name.
        let own = hosts.iter().all(|host| host != name).then(|| name.to_owned());
        let hosts: Vec<_> = hosts.iter().cloned().chain(own).collect();
        let issued = authority.issue(name, &hosts, Some(days))?;
        Files::for_name(folder, name).write(&issued.certificate_pem, &issued.key_pem)
    }
}

impl Files {
    fn for_name(folder: &Path, name: &str) -> Self {
        Self { certificate: folder.join(format!("{name}.pem")), key: folder.join(format!("{name}-key.pem")) }
    }

    fn write(self, certificate: &str, key: &str) -> Result<Certificate, Error> {
        replace(&self.key, key, 0o600)?;
        replace(&self.certificate, certificate, 0o644)?;
        let serial =
            Serial::of_pem(certificate.as_bytes()).map_or_else(String::new, |serial| serial.to_string());
        Ok(Certificate { certificate: self.certificate, key: self.key, serial })
    }
}

fn replace(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    private_file::replace(path, text, mode).map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &io::Error) -> Error {
    Error::Authority { path: path.to_owned(), why: format!("it cannot be written: {error}") }
}

const CA_FILE_STEM: &str = "ca";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use http_stack::server::Identity;

    use super::*;

    #[test]
    fn certificate_can_be_reissued_for_the_same_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("authority");
        let hosts = ["a.example".to_owned(), "10.0.0.1".to_owned()];
        let early = Certificate::issue(&place, "lhr", &hosts, 1).unwrap_err().to_string();
        assert!(early.contains("ca.pem: ") && early.contains("edge ca new"), "{early}");
        let own = Certificate::create_authority(&place).unwrap();
        let again = Certificate::create_authority(&place).unwrap_err().to_string();
        assert!(again.contains("it already exists"), "{again}");
        let issued = Certificate::issue(&place, "lhr", &hosts, 1).unwrap();
        Identity::read(&issued.certificate, &issued.key).unwrap();
        for file in [&own.key, &issued.key] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let before = fs::read(&issued.certificate).unwrap();
        Certificate::issue(&place, "lhr", &hosts, 1).unwrap();
        assert_ne!(fs::read(&issued.certificate).unwrap(), before);
        Identity::read(&issued.certificate, &issued.key).unwrap();
        for name in ["ca", "", "../x", ".x", "-x", "a b"] {
            assert!(Certificate::issue(&place, name, &hosts, 1).is_err(), "{name}");
        }
        assert!(Certificate::issue(&place, "lhr", &["n\u{e4}me".to_owned()], 1).is_err());
        fs::write(&own.key, fs::read(&issued.key).unwrap()).unwrap();
        let wrong = Certificate::issue(&place, "lhr", &hosts, 1).unwrap_err().to_string();
        assert!(wrong.contains("not an authority"), "{wrong}");
    }
}
