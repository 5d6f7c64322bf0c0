//! Certificates for clients: loaded from files, selected by name, replaced when the files change, and
//! reported.

pub(crate) mod acme;
pub(crate) mod certificate_file;
pub(crate) mod certificates;
pub(crate) mod watch;

#[cfg(test)]
mod tests;
