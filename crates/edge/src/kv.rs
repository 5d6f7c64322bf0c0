//! The key-value store of a data centre, if its network's file has one: from what the file says to what the crate `values` serves.

use std::sync::Arc;

use kv::StoreName;
use values::{Access, Config, Service};

use crate::{Error, Network};

/// Opens it. Blocks.
pub(crate) fn open(network: &Network, centre: &str) -> Result<Option<Arc<Service>>, Error> {
    let Some(kv) = &network.kv else { return Ok(None) };
    // A data centre's name has the letters of a store's, and may be longer.
    let start = centre.get(..centre.len().min(64)).unwrap_or("store");
    let name = StoreName::new(start).expect("a data centre's name has no other letters");
    let config = Config { path: kv.store.clone(), name, memory: kv.memory, largest: kv.largest };
    Ok(Some(Arc::new(Service::open(config, access(network))?)))
}

/// Who may use it, as this network's file says.
pub(crate) fn access(network: &Network) -> Access {
    let namespaces = network.kv.as_ref().map_or_else(Vec::new, |kv| kv.namespaces.clone());
    Access { namespaces, operators: network.tokens.clone() }
}
