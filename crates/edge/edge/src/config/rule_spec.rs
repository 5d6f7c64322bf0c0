//! `[[zone.rule]]` in the network's file: conditions, cache settings and actions.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSpec {
    pub(super) path: Option<String>,
    pub(super) host: Option<String>,
    pub(super) scheme: Option<Spanned<String>>,
    pub(super) client: Option<Vec<Spanned<String>>>,
    pub(super) method: Option<Vec<String>>,
    pub(super) status: Option<Vec<u16>>,
    #[serde(default)]
    pub(super) query: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) header: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) cookie: BTreeMap<String, String>,
    pub(super) not: Option<Spanned<ConditionsSpec>>,
    #[serde(default, with = "units::duration::option")]
    pub(super) edge_ttl: Option<Duration>,
    #[serde(default, with = "units::duration::option")]
    pub(super) browser_ttl: Option<Duration>,
    #[serde(default)]
    pub(super) bypass: bool,
    pub(super) key: Option<KeySpec>,
    pub(super) redirect: Option<Spanned<RedirectSpec>>,
    pub(super) respond: Option<Spanned<RespondSpec>>,
    pub(super) rewrite: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) request_headers: ChangesSpec,
    #[serde(default)]
    pub(super) response_headers: ChangesSpec,
    pub(super) cors: Option<Spanned<CorsSpec>>,
}

/// Conditions of which a rule needs the opposite.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionsSpec {
    pub(super) path: Option<String>,
    pub(super) host: Option<String>,
    pub(super) scheme: Option<Spanned<String>>,
    pub(super) client: Option<Vec<Spanned<String>>>,
    pub(super) method: Option<Vec<String>>,
    #[serde(default)]
    pub(super) query: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) header: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) cookie: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeySpec {
    pub(super) query: Option<Vec<String>>,
    #[serde(default)]
    pub(super) query_exclude: Vec<String>,
    #[serde(default)]
    pub(super) sort_query: bool,
    pub(super) host: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) device: bool,
    #[serde(default)]
    pub(super) cookie: Vec<String>,
    #[serde(default)]
    pub(super) header: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RedirectSpec {
    pub(super) to: Spanned<String>,
    pub(super) status: Option<Spanned<u16>>,
    pub(super) keep_query: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RespondSpec {
    pub(super) status: Option<Spanned<u16>>,
    pub(super) body: Option<String>,
    pub(super) body_file: Option<Spanned<PathBuf>>,
    pub(super) content_type: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesSpec {
    #[serde(default)]
    pub(super) set: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) add: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) remove: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorsSpec {
    pub(super) origins: Vec<Spanned<String>>,
    pub(super) methods: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) headers: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) expose: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) credentials: bool,
    #[serde(default, with = "units::duration::option")]
    pub(super) max_age: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HstsSpec {
    #[serde(with = "units::duration")]
    pub(super) max_age: Duration,
    #[serde(default)]
    pub(super) include_subdomains: bool,
    #[serde(default)]
    pub(super) preload: bool,
}
