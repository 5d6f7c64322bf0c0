//! The `[kv]` section of the network's file: listeners, stores, namespaces and tokens.

use std::{fmt, net::SocketAddr, ops::Range};

use config_file::{Diagnostic, Document, suggestion};
use http_stack::token::{NoHash, TokenHash};
use kv_server::{Address, AddressError, Namespace, Place};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use toml::Spanned;
use units::Bytes;

use super::{DataCentre, Purpose};

/// Configuration of the key-value store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kv {
    /// Data centres with a store.
    pub stores: Vec<Store>,
    /// Maximum bytes of memory in each data centre.
    pub memory: u64,
    /// Maximum bytes of cached values on disk, in data centres with a disk but without a store. By
    /// default a tenth of the size for objects.
    pub disk_size: Option<u64>,
    /// Maximum size of a value in bytes.
    pub largest: u64,
    /// Namespaces.
    pub namespaces: Vec<Namespace>,
}

/// A store of keys and values in a data centre.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Name of the data centre.
    pub data_centre: String,
    /// File or NATS address of the store.
    pub place: Place,
}

impl Kv {
    /// Returns the place of the store in a data centre.
    pub fn place_of(&self, data_centre: &str) -> Option<&Place> {
        self.stores.iter().find(|store| store.data_centre == data_centre).map(|store| &store.place)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KvSpec {
    listen: Option<Listen>,
    listen_tls: Option<Listen>,
    store: Spanned<StoreSpec>,
    #[serde(default = "memory")]
    memory: Spanned<Bytes>,
    disk_size: Option<Spanned<Bytes>>,
    #[serde(default = "largest")]
    largest: Spanned<Bytes>,
    #[serde(default)]
    namespace: Vec<NamespaceSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamespaceSpec {
    name: Spanned<String>,
    id: Option<Spanned<String>>,
    #[serde(default)]
    tokens: Vec<Spanned<String>>,
    #[serde(default)]
    read_tokens: Vec<Spanned<String>>,
}

pub(super) type Listen = Spanned<Vec<SocketAddr>>;

enum StoreSpec {
    Here(String),
    In(Vec<(Spanned<String>, Spanned<String>)>),
}

/// Not `untagged`, because serde would lose the positions of the names.
impl<'de> Deserialize<'de> for StoreSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StoreVisitor;
        impl<'de> Visitor<'de> for StoreVisitor {
            type Value = StoreSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a file, an address such as \"nats://10.0.0.5:4222\", or a table with the data centre, such as { lhr = \"kv.redb\" }",
                )
            }

            fn visit_str<E>(self, place: &str) -> Result<StoreSpec, E> {
                Ok(StoreSpec::Here(place.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StoreSpec, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                // The TOML parser may not keep the order of the file.
                pairs.sort_by_key(|(name, _): &(Spanned<String>, Spanned<String>)| name.span().start);
                Ok(StoreSpec::In(pairs))
            }
        }
        deserializer.deserialize_any(StoreVisitor)
    }
}

fn memory() -> Spanned<Bytes> {
    Spanned::new(0..0, Bytes(kv_server::Config::MEMORY))
}

fn largest() -> Spanned<Bytes> {
    Spanned::new(0..0, Bytes(kv_server::Config::LARGEST))
}

/// Sets the listeners of all data centres. `listen` contains `kv_listen` and `kv_listen_tls` of
/// each.
pub(super) fn read(
    document: &Document,
    purpose: Purpose,
    written: Option<&Spanned<KvSpec>>,
    (centres, listen): (&mut [DataCentre], &[[Option<&Listen>; 2]]),
) -> Result<Option<Kv>, Diagnostic> {
    let Some(written) = written else {
        return match listen.iter().flatten().flatten().next() {
            None => Ok(None),
            Some(listen) => {
                let message = "kv_listen is for the key-value store, but the network has no [kv]";
                Err(document.mistake(listen.span(), message))
            }
        };
    };
    let place = written.span();
    let written = written.get_ref();
    set_listen_addresses(document, place.clone(), written, (&mut *centres, listen))?;
    let stores = stores(document, &written.store, centres)?;
    let are_linked = centres.len() < 2 || centres.iter().all(|centre| centre.link.is_some());
    if purpose == Purpose::Run && !are_linked {
        let message = "data centres reach the store over links, but have none: each needs an address = \"10.0.1.1:4400\" with \
                       link_certificate and link_key, and [network] an authority";
        return Err(document.mistake(written.store.span(), message));
    }
    let Bytes(largest) = *written.largest.get_ref();
    if !(1..=kv_server::Config::LARGEST).contains(&largest) {
        let message = "a value may have from 1 byte to 25MiB: largest = \"25MiB\"";
        return Err(document.mistake(written.largest.span(), message));
    }
    let Bytes(memory) = *written.memory.get_ref();
    if memory < MIN_MEMORY {
        let message = "the store needs 1MiB of memory at least: memory = \"64MB\"";
        return Err(document.mistake(written.memory.span(), message));
    }
    if let Some(size) = &written.disk_size {
        let wrong = |message| Err(document.mistake(size.span(), message));
        if size.get_ref().0 < segment_store::Config::SMALLEST {
            return wrong("values need 1MiB of disk at least: disk_size = \"1GB\"");
        }
        if centres.iter().all(|centre| centre.disk.is_none()) {
            return wrong(
                "disk_size is for values on disk, but no data centre has a disk, the directory for them",
            );
        }
    }
    let disk_size = written.disk_size.as_ref().map(|size| size.get_ref().0);
    if written.namespace.is_empty() {
        let message = "the store has no namespace: [[kv.namespace]] with a name and tokens";
        return Err(document.mistake(place, message));
    }
    let mut namespaces: Vec<Namespace> = Vec::new();
    for one in &written.namespace {
        let read = namespace(document, one)?;
        // Requests use either, so names and ids share one space.
        let is_same = |other: &&Namespace| {
            [&other.name, &other.id]
                .into_iter()
                .any(|known| known.eq_ignore_ascii_case(&read.name) || known.eq_ignore_ascii_case(&read.id))
        };
        if let Some(other) = namespaces.iter().find(is_same) {
            let message =
                format!("namespace \"{}\" has the name or the id of namespace \"{}\"", read.name, other.name);
            return Err(document.mistake(one.id.as_ref().unwrap_or(&one.name).span(), message));
        }
        namespaces.push(read);
    }
    Ok(Some(Kv { stores, memory, disk_size, largest, namespaces }))
}

fn set_listen_addresses(
    document: &Document,
    place: Range<usize>,
    written: &KvSpec,
    (centres, own): (&mut [DataCentre], &[[Option<&Listen>; 2]]),
) -> Result<(), Diagnostic> {
    let for_all = [written.listen.as_ref(), written.listen_tls.as_ref()];
    if let Some(empty) = for_all.into_iter().flatten().find(|listen| listen.get_ref().is_empty()) {
        let message = "the store has no listening address: listen = [\"127.0.0.1:4490\"]";
        return Err(document.mistake(empty.span(), message));
    }
    for (centre, own) in centres.iter_mut().zip(own) {
        if let Some(empty) = own.iter().flatten().find(|listen| listen.get_ref().is_empty()) {
            let message = "kv_listen is empty: expected kv_listen = [\"127.0.0.1:4490\"], or leave it out";
            return Err(document.mistake(empty.span(), message));
        }
        let [clear, tls] = if own.iter().any(Option::is_some) { *own } else { for_all };
        if clear.or(tls).is_none() {
            let message = format!(
                "data centre \"{}\" has no listening address for the store: add [kv] listen = [\"127.0.0.1:4490\"] for all, or kv_listen in its own table",
                centre.name
            );
            return Err(document.mistake(place, message));
        }
        if let Some(tls) = tls.filter(|_| !centre.has_certificate()) {
            let message = format!(
                "data centre \"{}\" serves the store over TLS and needs certificate and key for it, both files in PEM",
                centre.name
            );
            return Err(document.mistake(tls.span(), message));
        }
        let addresses =
            |listen: Option<&Listen>| listen.map_or_else(Vec::new, |listen| listen.get_ref().clone());
        (centre.kv_listen, centre.kv_listen_tls) = (addresses(clear), addresses(tls));
    }
    Ok(())
}

fn stores(
    document: &Document,
    written: &Spanned<StoreSpec>,
    centres: &[DataCentre],
) -> Result<Vec<Store>, Diagnostic> {
    let wrong = |place, message: String| document.mistake(place, message);
    let pairs = match written.get_ref() {
        StoreSpec::Here(text) => {
            let place = place(text).map_err(|why| wrong(written.span(), why))?;
            let [only] = centres else {
                let first = centres.first().map_or("lhr", |centre| centre.name.as_str());
                let message = format!(
                    "the network has {} data centres, and the store needs one of them: store = {{ {first} = \"{}\" }}",
                    centres.len(),
                    if Address::is_meant(text) { "nats://…" } else { text }
                );
                return Err(wrong(written.span(), message));
            };
            return Ok(vec![Store { data_centre: only.name.clone(), place }]);
        }
        StoreSpec::In(pairs) => pairs,
    };
    if pairs.is_empty() {
        return Err(wrong(
            written.span(),
            "the store is in no data centre: store = { lhr = \"kv.redb\" }".to_owned(),
        ));
    }
    if let Some((third, _)) = pairs.get(MAX_STORES) {
        let message =
            format!("at most {MAX_STORES} data centres can have a store: leave \"{}\" out", third.get_ref());
        return Err(wrong(third.span(), message));
    }
    let mut stores = Vec::new();
    for (name, text) in pairs {
        if !centres.iter().any(|centre| centre.name == *name.get_ref()) {
            let similar = suggestion(name.get_ref(), centres.iter().map(|centre| centre.name.as_str()));
            return Err(wrong(
                name.span(),
                format!("the network has no data centre \"{}\"{similar}", name.get_ref()),
            ));
        }
        let place = place(text.get_ref()).map_err(|why| wrong(text.span(), why))?;
        if let Some(stream) = stores.iter().find_map(|other: &Store| same_stream(&other.place, &place)) {
            let message = format!(
                "both stores are the stream {stream} of the same NATS: use servers near the other data centre, or one store with replicas=3"
            );
            return Err(wrong(text.span(), message));
        }
        stores.push(Store { data_centre: name.get_ref().clone(), place });
    }
    Ok(stores)
}

fn same_stream<'p>(one: &'p Place, other: &Place) -> Option<&'p str> {
    let (Place::Nats(one), Place::Nats(other)) = (one, other) else { return None };
    let is_same =
        one.stream == other.stream && one.servers.iter().any(|server| other.servers.contains(server));
    is_same.then_some(one.stream.as_str())
}

fn place(text: &str) -> Result<Place, String> {
    if text.is_empty() {
        return Err("the store has no file: store = \"kv.redb\", which is created if necessary".to_owned());
    }
    if !Address::is_meant(text) {
        return Ok(Place::File(text.into()));
    }
    text.parse().map(Place::Nats).map_err(|why: AddressError| why.to_string())
}

fn namespace(document: &Document, written: &NamespaceSpec) -> Result<Namespace, Diagnostic> {
    let name = written.name.get_ref();
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) {
        let message = format!(
            "\"{name}\" is not a namespace's name: expected up to {MAX_NAME_BYTES} letters, digits, \"-\", \"_\" and \".\""
        );
        return Err(document.mistake(written.name.span(), message));
    }
    let id = match &written.id {
        None => Namespace::id_of(name),
        Some(id) => {
            let digits = id.get_ref().to_ascii_lowercase();
            if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                let message = format!(
                    "\"{}\" is not a namespace's id, which has 32 hexadecimal digits; by default it is derived from the name",
                    id.get_ref()
                );
                return Err(document.mistake(id.span(), message));
            }
            digits
        }
    };
    if written.tokens.is_empty() && written.read_tokens.is_empty() {
        let message = format!(
            "namespace \"{name}\" has no tokens, so it is not accessible: `longhaul edge token` creates one, and tokens = [\"…\"] contains its SHA-256"
        );
        return Err(document.mistake(written.name.span(), message));
    }
    let tokens = token_hashes(document, &written.tokens)?;
    let read_tokens = token_hashes(document, &written.read_tokens)?;
    Ok(Namespace { name: name.clone(), id, tokens, read_tokens })
}

pub(super) fn token_hashes(
    document: &Document,
    written: &[Spanned<String>],
) -> Result<Vec<TokenHash>, Diagnostic> {
    let hash = |text: &Spanned<String>| {
        let read = text.get_ref().parse();
        read.map_err(|error: NoHash| document.mistake(text.span(), error.to_string()))
    };
    written.iter().map(hash).collect()
}

/// One for each of two regions.
const MAX_STORES: usize = 2;
const MAX_NAME_BYTES: usize = 64;
const MIN_MEMORY: u64 = 1 << 20;
