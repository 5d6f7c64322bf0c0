//! Problems of a data centre's certificates that do not prevent its start.

use std::path::Path;

use http_stack::server::ServerCertificate;
use rustix::fs::{Access, access};

use crate::{
    config::{Challenge, DataCentre, Network},
    util::{clock, expiry},
};

impl Network {
    /// Returns one sentence per problem with the data centre's certificates. These are not errors,
    /// because the files may exist only on the data centre's machine.
    pub fn objections(&self, centre: &DataCentre) -> Vec<String> {
        let (name, now_s) = (&centre.name, clock::unix_s());
        let mut sentences = Vec::new();
        let mut usable = Vec::new();
        for files in centre.certificate_files() {
            let place = files.certificate.display();
            match ServerCertificate::read(&files.certificate, &files.key) {
                Err(error) => sentences.push(format!("data centre {name}: {error}")),
                Ok(one) => {
                    if let Some(warning) = one.warning(now_s) {
                        sentences.push(format!("data centre {name}, certificate {place}: {warning}"));
                    } else if let Some(days) = expiry::days_if_soon(&one, now_s) {
                        let sentence =
                            format!("data centre {name}, certificate {place}: {}", expiry::sentence(days));
                        sentences.push(sentence);
                    }
                    usable.push(one);
                }
            }
        }
        if !usable.is_empty() || (self.acme.is_some() && !centre.listen_tls.is_empty()) {
            let hosts = self.zones.iter().flat_map(|zone| &zone.hosts).filter(|host| *host != "*");
            for host in hosts.filter(|host| self.acme_hosts().all(|one| one != host.as_str())) {
                // Any label tests the wildcard.
                let tested = host.replacen('*', "www", 1);
                if usable.iter().any(|one| one.is_for(&tested)) {
                    continue;
                }
                let only = centre.certificate_files().next().filter(|_| centre.certificates.is_empty());
                sentences.push(match only {
                    Some(files) => {
                        let place = files.certificate.display();
                        format!("data centre {name}, certificate {place}: it is not for {tested}")
                    }
                    None => format!("data centre {name}: no certificate is for {host}"),
                });
            }
        }
        sentences.extend(self.acme_objection(centre));
        sentences.extend(self.storage_objection(centre));
        sentences
    }

    fn acme_objection(&self, centre: &DataCentre) -> Option<String> {
        let acme = self.acme.as_ref().filter(|_| !centre.listen_tls.is_empty())?;
        let (port, key, listeners) = match acme.challenge {
            Challenge::Http01 => (80, "listen", &centre.listen),
            Challenge::TlsAlpn01 => (443, "listen_tls", &centre.listen_tls),
        };
        listeners.iter().all(|address| address.port() != port).then(|| {
            format!(
                "data centre {}: the ACME server connects to port {port}, which is not in {key}: forward the port to this data centre, or add it",
                centre.name
            )
        })
    }

    fn storage_objection(&self, centre: &DataCentre) -> Option<String> {
        let place = self.acme.as_ref().filter(|_| centre.has_tls())?.place();
        // The directory is created at the first order.
        let existing = place.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
        let error = access(existing, Access::WRITE_OK | Access::EXEC_OK).err()?;
        let place = place.display();
        Some(format!("data centre {}: the ACME storage {place} cannot be written: {error}", centre.name))
    }
}
