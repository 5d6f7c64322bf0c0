//! `longhaul edge ca`: a private certificate authority and certificates of data centres.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use edge::Certificate;

use crate::output;

/// Sign certificates for data centres with a private authority
///
/// Clients must trust that authority, such as programs with its ca.pem; browsers trust it after ca.pem is
/// installed there.
#[derive(Debug, Subcommand)]
pub(crate) enum Ca {
    New(New),
    Issue(Issue),
}

/// Make an authority: ca.pem, which clients trust, and ca-key.pem, which must stay secret
///
/// Example: longhaul edge ca new authority
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The folder for both files; created if it does not exist
    folder: PathBuf,
    /// Print their paths as JSON
    #[arg(long)]
    json: bool,
}

/// Sign a certificate for a data centre: NAME.pem and NAME-key.pem in the authority's folder
///
/// A running data centre loads a replaced certificate on SIGHUP.
///
/// Example: longhaul edge ca issue authority lhr --for www.shop.example --for 10.0.1.1
#[derive(Debug, Args)]
pub(crate) struct Issue {
    /// The authority's folder
    folder: PathBuf,
    /// The data centre
    name: String,
    /// An additional host name or address of the certificate; may be given several times
    #[arg(long = "for", value_name = "HOST")]
    hosts: Vec<String>,
    /// Validity in days
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// Print the paths of the files as JSON
    #[arg(long)]
    json: bool,
}

impl Ca {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let (written, json) = match self {
            Self::New(New { folder, json }) => (Certificate::create_authority(&folder)?, json),
            Self::Issue(Issue { folder, name, hosts, days, json }) => {
                (Certificate::issue(&folder, &name, &hosts, days)?, json)
            }
        };
        if json {
            output::print_json(&output::named("longhaul.edge.ca/1", written))?;
        } else {
            let Certificate { certificate, key, serial } = written;
            output::print(&format!(
                "certificate  {}\nkey          {}\nserial       {serial}\n",
                certificate.display(),
                key.display()
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
