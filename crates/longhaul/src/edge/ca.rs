//! `longhaul edge ca`: an authority of the operator's own, and the certificates of data centres.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use edge::Certificate;

use crate::output;

/// Sign certificates for data centres with an authority of your own
///
/// For visitors who trust that authority, such as your own programs; browsers trust it when its ca.pem is installed there.
#[derive(Debug, Subcommand)]
pub(crate) enum Ca {
    New(New),
    Issue(Issue),
}

/// Make an authority: ca.pem, which others trust, and ca-key.pem, which nobody else may have
///
/// Example: longhaul edge ca new authority
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The folder for both files, made if it is not there
    folder: PathBuf,
    /// Print where they are as JSON
    #[arg(long)]
    json: bool,
}

/// Sign a certificate for a data centre: NAME.pem and NAME-key.pem in the authority's folder
///
/// A data centre that runs shows another certificate under the same name after SIGHUP.
///
/// Example: longhaul edge ca issue authority lhr --for www.shop.example --for 10.0.1.1
#[derive(Debug, Args)]
pub(crate) struct Issue {
    /// The authority's folder
    folder: PathBuf,
    /// The data centre
    name: String,
    /// A host name or an address that it is for, besides NAME; may be given several times
    #[arg(long = "for", value_name = "HOST")]
    hosts: Vec<String>,
    /// How long it is good, in days
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// Print where its files are as JSON
    #[arg(long)]
    json: bool,
}

impl Ca {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let (written, json) = match self {
            Self::New(New { folder, json }) => (Certificate::of_new_authority(&folder)?, json),
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
