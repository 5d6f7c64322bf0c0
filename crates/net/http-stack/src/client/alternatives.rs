//! The HTTP/3 alternatives that origins announce (Alt-Svc), with their lifetimes, and those that failed.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper::{HeaderMap, header};

use crate::{
    Origin,
    alt_svc::AltSvc,
    clock::{Clock, nanos},
    limits,
};

pub(crate) struct Alternatives {
    clock: Clock,
    known: Mutex<HashMap<Origin, Known>>,
}

/// `host` is `None` for the origin's host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alternative {
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
}

impl Alternative {
    pub(crate) fn of(&self, origin: &Origin) -> Origin {
        let host = self.host.clone().unwrap_or_else(|| origin.host.clone());
        Origin { host, port: self.port, ..origin.clone() }
    }
}

struct Known {
    alternative: Alternative,
    until: u64,
    /// Not tried before this time, in nanoseconds of the client's clock.
    broken_until: u64,
}

impl Alternatives {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, known: Mutex::default() }
    }

    pub(crate) fn learn(&self, origin: &Origin, headers: &HeaderMap) {
        let mut fields = headers.get_all(header::ALT_SVC).iter().filter_map(|field| field.to_str().ok());
        let Some(said) = fields.find_map(AltSvc::parse) else { return };
        let mut known = self.known();
        match said {
            AltSvc::Clear => drop(known.remove(origin)),
            AltSvc::Http3 { host, port, max_age } => {
                let alternative = Alternative { host, port };
                let until = self.clock.now().saturating_add(nanos(max_age));
                let has_room = known.len() < limits::ORIGINS;
                match known.get_mut(origin) {
                    Some(before) if before.alternative == alternative => before.until = until,
                    Some(before) => *before = Known { alternative, until, broken_until: 0 },
                    None if has_room => {
                        known.insert(origin.clone(), Known { alternative, until, broken_until: 0 });
                    }
                    None => {}
                }
            }
        }
    }

    pub(crate) fn of(&self, origin: &Origin) -> Option<Alternative> {
        let now = self.clock.now();
        let known = self.known();
        let known = known.get(origin).filter(|known| known.until > now && known.broken_until <= now)?;
        Some(known.alternative.clone())
    }

    pub(crate) fn failed(&self, origin: &Origin) {
        if let Some(known) = self.known().get_mut(origin) {
            known.broken_until = self.clock.now().saturating_add(nanos(BROKEN));
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Origin, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a broken alternative is not tried: Chrome's initial delay.
const BROKEN: Duration = Duration::from_secs(300);
