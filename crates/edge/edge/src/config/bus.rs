//! The `bus` key of `[network]`: a NATS stream that also carries purges between data centres.

use config_file::{Diagnostic, Document};
use kv_nats::{Address, AddressError};
use toml::Spanned;

use super::{DataCentre, Purpose};

pub(super) fn read(
    document: &Document,
    purpose: Purpose,
    written: &Spanned<String>,
    centres: &[DataCentre],
) -> Result<Address, Diagnostic> {
    let wrong = |why: String| document.mistake(written.span(), why);
    let address = Address::read(written.get_ref(), STREAM).map_err(|why| {
        wrong(match why {
            AddressError::Scheme => {
                "the bus needs a NATS address: nats://10.0.0.5:4222 or tls://…".to_owned()
            }
            why => why.to_string(),
        })
    })?;
    let are_linked = centres.len() > 1 && centres.iter().all(|centre| centre.link.is_some());
    if purpose == Purpose::Run && !are_linked {
        let why = "the bus requires links between all data centres: each needs address, link_certificate and link_key, or leave bus out";
        return Err(wrong(why.to_owned()));
    }
    Ok(address)
}

const STREAM: &str = "LONGHAUL_PURGES";
