//! What a network's file says of its key-value store: where it listens, where it lies, its namespaces and their tokens.

use std::{net::SocketAddr, path::PathBuf};

use document::{Document, Mistake};
use http::token::{NoHash, TokenHash};
use serde::Deserialize;
use toml::Spanned;
use units::Bytes;
use values::Namespace;

use super::DataCentre;

/// A key-value store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kv {
    /// Where it is asked, in clear text.
    pub listen: Vec<SocketAddr>,
    /// Its file.
    pub store: PathBuf,
    /// Bytes of memory that it may take.
    pub memory: u64,
    /// Bytes that a value may have.
    pub largest: u64,
    /// Its namespaces.
    pub namespaces: Vec<Namespace>,
}

/// `[kv]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    listen: Spanned<Vec<SocketAddr>>,
    store: Spanned<PathBuf>,
    #[serde(default = "memory")]
    memory: Spanned<Bytes>,
    #[serde(default = "largest")]
    largest: Spanned<Bytes>,
    #[serde(default)]
    namespace: Vec<WrittenNamespace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenNamespace {
    name: Spanned<String>,
    id: Option<Spanned<String>>,
    #[serde(default)]
    tokens: Vec<Spanned<String>>,
}

fn memory() -> Spanned<Bytes> {
    Spanned::new(0..0, Bytes(values::Config::MEMORY))
}

fn largest() -> Spanned<Bytes> {
    Spanned::new(0..0, Bytes(values::Config::LARGEST))
}

/// Checks it.
pub(super) fn read(
    document: &Document,
    written: &Spanned<Written>,
    centres: &[DataCentre],
) -> Result<Kv, Mistake> {
    let place = written.span();
    let written = written.get_ref();
    if centres.len() > 1 {
        let message = format!(
            "[kv] is for a network of one data centre so far, and this one has {}: give the store a network's file of its own",
            centres.len()
        );
        return Err(document.mistake(place, message));
    }
    if written.listen.get_ref().is_empty() {
        let message = "the store listens nowhere: listen = [\"127.0.0.1:4490\"]";
        return Err(document.mistake(written.listen.span(), message));
    }
    if written.store.get_ref().as_os_str().is_empty() {
        let message = "the store has no file: store = \"kv.redb\", which is made if it is not there";
        return Err(document.mistake(written.store.span(), message));
    }
    let Bytes(largest) = *written.largest.get_ref();
    if !(1..=values::Config::LARGEST).contains(&largest) {
        let message = "a value may have from 1 byte to 25MiB: largest = \"25MiB\"";
        return Err(document.mistake(written.largest.span(), message));
    }
    let Bytes(memory) = *written.memory.get_ref();
    if memory < LEAST_MEMORY {
        let message = "the store needs 1MiB of memory at least: memory = \"64MB\"";
        return Err(document.mistake(written.memory.span(), message));
    }
    if written.namespace.is_empty() {
        let message = "the store has no namespace: [[kv.namespace]] with a name and tokens";
        return Err(document.mistake(place, message));
    }
    let mut namespaces: Vec<Namespace> = Vec::new();
    for one in &written.namespace {
        let read = namespace(document, one)?;
        // Requests name either, so that one's name must not be another's id.
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
    Ok(Kv {
        listen: written.listen.get_ref().clone(),
        store: written.store.get_ref().clone(),
        memory,
        largest,
        namespaces,
    })
}

fn namespace(document: &Document, written: &WrittenNamespace) -> Result<Namespace, Mistake> {
    let name = written.name.get_ref();
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(is_plain) {
        let message = format!(
            "\"{name}\" is not a namespace's name: expected up to {LONGEST_NAME} letters, digits, \"-\", \"_\" and \".\""
        );
        return Err(document.mistake(written.name.span(), message));
    }
    let id = match &written.id {
        None => Namespace::id_of(name),
        Some(id) => {
            let digits = id.get_ref().to_ascii_lowercase();
            if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                let message = format!(
                    "\"{}\" is not a namespace's id, which has 32 hexadecimal digits; without one it follows from the name",
                    id.get_ref()
                );
                return Err(document.mistake(id.span(), message));
            }
            digits
        }
    };
    if written.tokens.is_empty() {
        let message = format!(
            "namespace \"{name}\" has no tokens, so that nobody can use it: `longhaul edge token` makes one, and tokens = [\"…\"] has its SHA-256"
        );
        return Err(document.mistake(written.name.span(), message));
    }
    let tokens = token_hashes(document, &written.tokens)?;
    Ok(Namespace { name: name.clone(), id, tokens })
}

/// Hashes of tokens, as `longhaul edge token` prints them.
pub(super) fn token_hashes(
    document: &Document,
    written: &[Spanned<String>],
) -> Result<Vec<TokenHash>, Mistake> {
    let hash = |text: &Spanned<String>| {
        let read = text.get_ref().parse();
        read.map_err(|error: NoHash| document.mistake(text.span(), error.to_string()))
    };
    written.iter().map(hash).collect()
}

const LONGEST_NAME: usize = 64;
const LEAST_MEMORY: u64 = 1 << 20;
