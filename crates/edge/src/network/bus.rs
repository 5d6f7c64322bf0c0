//! What a network's file says of its bus: a stream of NATS, through which data centres tell one another of purges as well.

use document::{Document, Mistake};
use jetstream::{Address, NoAddress};
use toml::Spanned;

use super::{DataCentre, Purpose};

/// Checks it.
pub(super) fn read(
    document: &Document,
    purpose: Purpose,
    written: &Spanned<String>,
    centres: &[DataCentre],
) -> Result<Address, Mistake> {
    let wrong = |why: String| document.mistake(written.span(), why);
    let address = Address::read(written.get_ref(), STREAM).map_err(|why| {
        wrong(match why {
            NoAddress::Scheme => "the bus is in NATS: nats://10.0.0.5:4222 or tls://…".to_owned(),
            why => why.to_string(),
        })
    })?;
    let are_linked = centres.len() > 1 && centres.iter().all(|centre| centre.link.is_some());
    if purpose == Purpose::Run && !are_linked {
        let why = "the bus is for purges between data centres that are linked: each needs address, link_certificate and link_key, or leave bus out";
        return Err(wrong(why.to_owned()));
    }
    Ok(address)
}

/// What its stream is called where nobody says it.
const STREAM: &str = "LONGHAUL_PURGES";
