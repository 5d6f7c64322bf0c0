//! A small model of a shared HTTP cache, written from RFC 9111 alone: which parts of which response
//! a client may receive.
//!
//! The model does not cache. It keeps the history of one URL, and [`History::judge`] decides about
//! one received response. Section numbers are those of RFC 9111 unless another RFC is named.

use std::collections::{BTreeMap, BTreeSet};

use super::directives::Directives;

/// Wall-clock time, or a duration, in nanoseconds.
pub(super) type Ns = u64;
/// Names are in lower case; several lines of a field are one value joined with commas.
pub(super) type Fields = BTreeMap<String, String>;
/// Bit N is block N.
pub(super) type Blocks = u64;

/// Without the fields that `Connection` names.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) method: &'static str,
    pub(super) fields: Fields,
    pub(super) has_body: bool,
    /// As a bit.
    pub(super) centre: u8,
    pub(super) began: Ns,
    pub(super) ended: Option<(Ns, Option<u64>)>,
}

#[derive(Debug, Clone)]
pub(super) struct Response {
    pub(super) serial: u64,
    pub(super) request: u64,
    pub(super) method: &'static str,
    pub(super) asked: Fields,
    pub(super) status: u16,
    pub(super) fields: Fields,
    pub(super) representation: Option<u64>,
    pub(super) blocks: Blocks,
    pub(super) requested: Ns,
    pub(super) sent: Ns,
    pub(super) is_complete: bool,
    pub(super) phase: usize,
    pub(super) passed: u8,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Purge {
    pub(super) is_hard: bool,
    pub(super) began: Ns,
    pub(super) ended: Ns,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) status: u16,
    pub(super) serial: Option<u64>,
    pub(super) extra: Option<u64>,
    pub(super) cookie: Option<u64>,
    pub(super) etag: Option<String>,
    pub(super) representation: Option<u64>,
    pub(super) blocks: Blocks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Origin,
    Cache,
    Generated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Use,
    /// Section 4.3.5: the stored response is stale.
    Freshness,
}

#[derive(Debug, Clone)]
struct Stored {
    serials: BTreeSet<u64>,
    status: u16,
    fields: Fields,
    /// Section 4.1.
    selected_by: Vec<Fields>,
    representation: Option<u64>,
    blocks: Blocks,
    last: u64,
}

#[derive(Debug, Default)]
pub(super) struct History {
    obeys_requests: bool,
    requests: BTreeMap<u64, Request>,
    responses: BTreeMap<u64, Response>,
    stored: Vec<Stored>,
    pub(super) purges: Vec<Purge>,
    pub(super) phases: Vec<Ns>,
}

impl History {
    pub(super) fn new(obeys_requests: bool) -> Self {
        Self { obeys_requests, ..Self::default() }
    }

    pub(super) fn request(&mut self, request: Request) {
        self.requests.insert(request.id, request);
    }

    pub(super) fn sent(&self, id: u64) -> Option<&Request> {
        self.requests.get(&id)
    }

    pub(super) fn request_ended(&mut self, id: u64, ended: (Ns, Option<u64>)) {
        if let Some(request) = self.requests.get_mut(&id) {
            request.ended = Some(ended);
        }
    }

    pub(super) fn response(&mut self, response: Response) {
        let mut stored: Vec<_> = self.stored.iter().filter_map(|old| self.updated(old, &response)).collect();
        // Section 3: only GET, and 206 is incomplete (section 3.3).
        if response.method == "GET" && response.status != 304 {
            stored.push(Stored {
                serials: [response.serial].into(),
                status: if response.status == 206 { 200 } else { response.status },
                fields: response.fields.clone(),
                selected_by: vec![response.asked.clone()],
                representation: response.representation,
                blocks: response.blocks,
                last: response.serial,
            });
        }
        let is_new = !matches!(response.status, 206 | 304) && response.method == "GET";
        stored.retain(|stored| self.may_store(&response, stored, is_new));
        for new in stored {
            match self.stored.iter_mut().find(|other| other.is_alike(&new)) {
                Some(other) => other.join(new),
                None => self.stored.push(new),
            }
        }
        self.responses.insert(response.serial, response);
    }

    /// After a 304 (section 4.3.4), a 206 (section 3.4) or a response to HEAD (section 4.3.5).
    fn updated(&self, old: &Stored, new: &Response) -> Option<Stored> {
        let is_same = old.representation.is_some() && old.representation == new.representation;
        let is_strong = |fields: &Fields| fields.get("etag").is_some_and(|tag| !tag.starts_with("W/"));
        let updates = match (new.method, new.status) {
            ("GET" | "HEAD", 304) => is_same,
            // The upper tier may send a 304 for a response that it received as a 200.
            ("GET", 200) if new.passed & UPPER != 0 => is_same,
            ("GET", 200 | 206) => is_same && is_strong(&old.fields) && is_strong(&new.fields),
            ("HEAD", 200) => !differs(&new.fields, &old.fields),
            _ => false,
        };
        let mut merged = old.clone();
        merged.fields.remove("age");
        // Section 3.2: not the fields that describe the stored bytes.
        let updating = new.fields.iter().filter(|(name, _)| !name.starts_with("content-"));
        merged.fields.extend(updating.map(|(name, value)| (name.clone(), value.clone())));
        merged.serials.insert(new.serial);
        merged.selected_by.push(new.asked.clone());
        merged.blocks |= new.blocks;
        merged.last = new.serial;
        updates.then_some(merged)
    }

    /// Section 3, judged with the merged header.
    fn may_store(&self, response: &Response, stored: &Stored, is_new: bool) -> bool {
        let request = &self.requests[&response.request];
        let control = Directives::of_response(&stored.fields);
        let is_heuristic =
            matches!(stored.status, 200 | 203 | 204 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501);
        // Section 3.5.
        let is_shared = control.has("public") || control.has("must-revalidate") || control.has("s-maxage");
        let withholds_cookie =
            ["no-cache", "private"].iter().any(|name| control.withholds(name, "set-cookie"));
        // Product decision: a request with a body changes nothing, and a new response with a cookie
        // is for one client.
        let is_personal = is_new && stored.fields.contains_key("set-cookie") && !withholds_cookie;
        if request.has_body || is_personal || self.may_not_store(request) {
            return false;
        }
        let is_forbidden = control.has("no-store") || control.has_alone("private");
        !is_forbidden
            && (!response.asked.contains_key("authorization") || is_shared)
            && (is_heuristic || control.has("public") || lifetime(&stored.fields, stored.status).1)
    }

    /// Section 5.2.1.5.
    fn may_not_store(&self, request: &Request) -> bool {
        self.obeys_requests && Directives::of(request.fields.get("cache-control")).has("no-store")
    }

    pub(super) fn judge(&self, id: u64, received: &Received) -> Result<Source, String> {
        let request = &self.requests[&id];
        let is_own = |serial: &u64| self.responses.get(serial).is_some_and(|own| own.request == id);
        // A cookie belongs to the client whose request caused it.
        if let Some(cookie) = received.cookie.filter(|cookie| !is_own(cookie)) {
            return Err(format!("the cookie of response {cookie}"));
        }
        let Some(serial) = received.serial else {
            return match received.representation {
                Some(_) => Err("a body without its fields".into()),
                None => Ok(Source::Generated),
            };
        };
        let own: Vec<_> = self.responses.values().filter(|own| own.request == id).collect();
        if !is_own(&serial) {
            self.some_stored(request, &own, |stored| field(stored, "x-serial") == Some(serial))
                .map_err(|why| format!("the fields of response {serial}: {why}"))?;
        }
        if let Some(extra) = received.extra.filter(|extra| !is_own(extra)) {
            let representation = self.responses.get(&serial).and_then(|response| response.representation);
            self.some_stored(request, &own, |stored| {
                let control = Directives::of_response(&stored.fields);
                // Sections 5.2.2.4 and 5.2.2.7: such fields require validation or are not for a
                // shared cache.
                let is_withheld =
                    ["no-cache", "private"].iter().any(|name| control.withholds(name, "x-extra"));
                field(stored, "x-extra") == Some(extra)
                    && !is_withheld
                    && (field(stored, "x-serial") == Some(serial) || stored.representation == representation)
            })
            .or_else(|why| if self.is_of_lower_tier(extra, representation) { Ok(()) } else { Err(why) })
            .map_err(|why| format!("a field of response {extra}: {why}"))?;
        }
        let Some(representation) = received.representation else {
            return Ok(if is_own(&serial) { Source::Origin } else { Source::Cache });
        };
        let is_of_it = |stored: &Stored| stored.representation == Some(representation);
        let described = self.responses.get(&serial).and_then(|response| response.representation);
        let is_merged =
            self.stored.iter().any(|stored| is_of_it(stored) && field(stored, "x-serial") == Some(serial));
        if described != Some(representation) && !is_merged {
            return Err(format!("the fields of response {serial} with another body, {representation}"));
        }
        let of_own = own.iter().filter(|own| own.representation == Some(representation));
        let missing = received.blocks & !of_own.fold(0, |all, own| all | own.blocks);
        if missing == 0 {
            return Ok(if is_own(&serial) { Source::Origin } else { Source::Cache });
        }
        let usable = self
            .stored
            .iter()
            .filter(|stored| is_of_it(stored) && self.use_of(stored, request, &own).is_ok());
        if missing & !usable.fold(0, |all, stored| all | stored.blocks) == 0 {
            return Ok(Source::Cache);
        }
        self.some_stored(request, &own, |stored| is_of_it(stored) && stored.blocks & missing != 0)
            .map_err(|why| format!("bytes of body {representation}: {why}"))
            .and_then(|()| Err(format!("bytes of body {representation} that no usable response carried")))
    }

    /// A lower tier may add this field: it confirms its stored response with a 304 to another
    /// request.
    fn is_of_lower_tier(&self, extra: u64, representation: Option<u64>) -> bool {
        let is_withheld = |stored: &Stored| {
            let control = Directives::of_response(&stored.fields);
            ["no-cache", "private"].iter().any(|name| control.withholds(name, "x-extra"))
        };
        self.tiers() & UPPER != 0
            && representation.is_some()
            && self.stored.iter().any(|stored| {
                field(stored, "x-extra") == Some(extra)
                    && stored.representation == representation
                    && !is_withheld(stored)
            })
    }

    fn some_stored(
        &self,
        request: &Request,
        own: &[&Response],
        fits: impl Fn(&Stored) -> bool,
    ) -> Result<(), String> {
        let mut why = "it may not be stored".to_owned();
        for stored in self.stored.iter().filter(|stored| fits(stored)) {
            match self.use_of(stored, request, own) {
                Ok(()) => return Ok(()),
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }

    /// Section 4, validated or not.
    fn use_of(&self, stored: &Stored, request: &Request, own: &[&Response]) -> Result<(), String> {
        // Section 4.3: the origin has just confirmed it for this request.
        let is_validated = own.iter().any(|own| {
            let confirms = match own.method {
                "HEAD" => matches!(own.status, 200 | 304),
                _ => matches!(own.status, 206 | 304),
            };
            confirms && own.representation.is_some() && own.representation == stored.representation
        });
        if is_validated { Ok(()) } else { self.may_reuse(stored, request, own) }
    }

    /// Section 4.
    fn may_reuse(&self, stored: &Stored, request: &Request, own: &[&Response]) -> Result<(), String> {
        let because = |why: &str| Err(why.to_owned());
        let control = Directives::of_response(&stored.fields);
        if !matches!(request.method, "GET" | "HEAD") || request.has_body {
            return because("the request is not for a cache");
        }
        // Section 4.1.
        if !is_selected(stored, &request.fields) {
            return because("Vary selects another response");
        }
        let end = self.end_of(stored, request);
        if let Some((End::Use, why)) = end {
            return Err(why);
        }
        // Section 5.2.2.4.
        if control.has_alone("no-cache") {
            return because("no-cache");
        }
        let wishes = if self.obeys_requests {
            Directives::of(request.fields.get("cache-control"))
        } else {
            Directives::default()
        };
        let last = &self.responses[&stored.last];
        // Section 4.2.3, a lower bound: network time counts as zero.
        let told = stored.fields.get("age").and_then(|age| age.parse::<u64>().ok()).unwrap_or(0);
        let age = told * SECOND + request.began.saturating_sub(last.sent);
        let (lifetime, _) = lifetime(&stored.fields, stored.status);
        let left = lifetime.saturating_sub(age);
        let is_failed =
            |response: &&Response| matches!(response.status, 500 | 502 | 503 | 504) || !response.is_complete;
        let has_failed = own.iter().any(&is_failed)
            || self.responses.values().filter(is_failed).any(|failed| failed.sent >= request.began);
        // Section 5.2.1: preferences of the client, if the origin can respond.
        let is_unwanted = wishes.has("no-cache")
            || wishes.seconds("max-age").is_some_and(|most| age > most)
            || wishes.seconds("min-fresh").is_some_and(|least| left < least);
        if is_unwanted && !has_failed {
            return because("the request's Cache-Control");
        }
        let purged = self.purges.iter().filter(|purge| is_purged(purge, last, request));
        let is_purged = purged.clone().count() > 0;
        if purged.clone().any(|purge| purge.is_hard) {
            return because("it was purged");
        }
        if left > 0 && !is_purged && end.is_none() {
            return Ok(());
        }
        // Section 4.2.4: stale responses require permission. RFC 5861 gives it, and section 5.2.2.2
        // forbids it.
        if control.has("must-revalidate") || control.has("proxy-revalidate") {
            return because("it is stale, and has to be revalidated");
        }
        let stale_for = purged.map(|purge| request.began.saturating_sub(purge.ended)).max();
        let stale_for = stale_for.unwrap_or(age.saturating_sub(lifetime));
        let is_within = |name: &str| control.seconds(name).is_some_and(|window| stale_for <= window);
        if has_failed && is_within("stale-if-error") {
            return Ok(());
        }
        if is_purged {
            return because("it was purged softly");
        }
        if let Some((_, why)) = end {
            return Err(why);
        }
        let max_stale = wishes.has("max-stale")
            && !control.has("s-maxage")
            && wishes.seconds("max-stale").is_none_or(|most| stale_for <= most);
        if is_within("stale-while-revalidate") || max_stale { Ok(()) } else { because("it is stale") }
    }

    fn end_of(&self, stored: &Stored, request: &Request) -> Option<(End, String)> {
        let known = self.known_at(&self.responses[&stored.last])?;
        let newer = self.responses.values().filter(|newer| {
            let began = self.requests[&newer.request].began;
            !stored.serials.contains(&newer.serial)
                && known <= began
                && self.known_at(newer).is_some_and(|at| at <= request.began)
                // A lower tier may receive it again from the upper tier, which has received no
                // newer one.
                && newer.passed & UPPER == UPPER & self.tiers()
                && newer.passed & request.centre != 0
        });
        let ends = newer.filter_map(|newer| {
            let why = || format!("response {} to {} is newer: {}", newer.serial, newer.method, newer.status);
            self.ends(newer, stored).map(|end| (end, why()))
        });
        ends.min_by_key(|(end, _)| *end)
    }

    fn ends(&self, newer: &Response, stored: &Stored) -> Option<End> {
        let request = &self.requests[&newer.request];
        let is_same = newer.representation == stored.representation;
        match (newer.method, newer.status) {
            // Section 4.4: a non-error response.
            ("POST" | "PUT" | "DELETE", 200..=399) => Some(End::Use),
            ("POST" | "PUT" | "DELETE", _) => None,
            _ if request.has_body || !newer.is_complete || !is_selected(stored, &newer.asked) => None,
            (_, 412 | 416 | 429 | 500..) => None,
            // Sections 4.3.4 and 3.4: it describes one representation.
            (_, 206 | 304) if !is_same => None,
            // Section 3.5: a response to one user changes nothing for others.
            (_, 206 | 304) if newer.asked.contains_key("authorization") => None,
            // Section 5.2.1.5: no part of it may be stored, so it does not update stored responses.
            (_, 206 | 304) if self.may_not_store(request) => None,
            ("HEAD", 304) => None,
            // Section 4.3.5, with the same exception if the representation is not known to differ.
            ("HEAD", 200..=299)
                if newer.asked.contains_key("authorization") && !differs(&newer.fields, &stored.fields) =>
            {
                None
            }
            ("HEAD", 200..=299) => Some(End::Freshness),
            // Section 4: the most recent response applies.
            _ => Some(End::Use),
        }
    }

    fn known_at(&self, response: &Response) -> Option<Ns> {
        let ended = self.requests[&response.request].ended;
        let ended = ended.filter(|(_, serial)| *serial == Some(response.serial)).map(|(ended, _)| ended);
        ended.or_else(|| self.phases.get(response.phase).copied())
    }

    fn tiers(&self) -> u8 {
        self.responses.values().fold(0, |all, response| all | response.passed)
    }
}

impl Stored {
    fn is_alike(&self, other: &Self) -> bool {
        self.last == other.last
            && self.representation == other.representation
            && self.status == other.status
            && self.fields == other.fields
    }

    fn join(&mut self, other: Self) {
        self.serials.extend(other.serials);
        self.blocks |= other.blocks;
        for asked in other.selected_by {
            if !self.selected_by.contains(&asked) {
                self.selected_by.push(asked);
            }
        }
    }
}

/// Section 4.3.5: whether a response to HEAD shows that the stored response is of another
/// representation.
fn differs(head: &Fields, stored: &Fields) -> bool {
    ["etag", "last-modified", "content-length"]
        .iter()
        .any(|&name| head.contains_key(name) && head.get(name) != stored.get(name))
}

/// Section 4.1.
fn is_selected(stored: &Stored, fields: &Fields) -> bool {
    let vary = stored.fields.get("vary").map_or("", |value| value);
    let mut names =
        vary.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty());
    let names: Vec<_> = names.by_ref().collect();
    !names.iter().any(|name| name == "*")
        && stored.selected_by.iter().any(|other| names.iter().all(|name| other.get(name) == fields.get(name)))
}

fn is_purged(purge: &Purge, response: &Response, request: &Request) -> bool {
    response.requested < purge.began && purge.ended <= request.began
}

fn field(stored: &Stored, name: &str) -> Option<u64> {
    stored.fields.get(name)?.parse().ok()
}

/// Section 4.2.1. Also returns whether the lifetime is explicit.
fn lifetime(fields: &Fields, status: u16) -> (Ns, bool) {
    let control = Directives::of_response(fields);
    let explicit = control.seconds("s-maxage").or_else(|| control.seconds("max-age"));
    if let Some(lifetime) = explicit {
        return (lifetime, true);
    }
    // RFC 9213, section 2.1: a targeted field takes precedence over Expires.
    let expires = fields.get("expires").filter(|_| !fields.contains_key("cdn-cache-control"));
    if let Some(expires) = expires {
        // The test's origin sends seconds after Date in a second field.
        let seconds = fields.get("x-expires-in").and_then(|seconds| seconds.parse::<u64>().ok());
        return (if expires == "0" { 0 } else { seconds.unwrap_or(0) * SECOND }, true);
    }
    // Section 4.2.2: a heuristic needs Last-Modified, which is years ago here.
    let is_heuristic = matches!(status, 200 | 203 | 204 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501);
    let has_date = fields.contains_key("last-modified");
    (if has_date && (is_heuristic || control.has("public")) { YEAR } else { 0 }, false)
}

pub(super) const UPPER: u8 = 2;
pub(super) const SECOND: Ns = 1_000_000_000;
const YEAR: Ns = 365 * 24 * 3600 * SECOND;
