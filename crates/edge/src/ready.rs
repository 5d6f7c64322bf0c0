//! A stored response written out: what changes from one second to the next is written behind the rest.

use std::{
    io::Write as _,
    sync::{
        OnceLock,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Release},
        },
    },
    time::Duration,
};

use cache::{CacheStatus, Coding, Terms, Time};
use http::{Body, Bytes, Response, header};

/// A response as bytes.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The status line and all fields that stay as they are.
    head: Vec<u8>,
    /// Cache-Status until the seconds that are left.
    told: Vec<u8>,
    /// How long browsers are told that it is fresh, if the zone's rule says so.
    browser_ttl: Option<Duration>,
    body: Bytes,
}

impl Ready {
    /// From the response that a hit was answered with. `None` if it does not say what a hit on this body says.
    pub(crate) fn new(response: &Response<Body>, body: Bytes, browser_ttl: Option<Duration>) -> Option<Self> {
        let status = response.status();
        let length = response.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if length != Some(&body.len().to_string()) {
            return None;
        }
        let mut head = Vec::with_capacity(512);
        let reason = status.canonical_reason().unwrap_or_default();
        let _ = write!(head, "HTTP/1.1 {} {reason}\r\n", status.as_u16());
        let mut told = None;
        for (name, value) in response.headers() {
            match *name {
                header::AGE => continue,
                header::CACHE_CONTROL if browser_ttl.is_some() => continue,
                CacheStatus::FIELD => {
                    let until = without_number(value.as_bytes());
                    told = until.ends_with(b"; hit; ttl=").then(|| [b"cache-status: ", until].concat());
                    continue;
                }
                _ => {}
            }
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        Some(Self { head, told: told?, browser_ttl, body })
    }

    /// Whether it is what a rule with this says.
    pub(crate) fn is_for(&self, browser_ttl: Option<Duration>) -> bool {
        self.browser_ttl == browser_ttl
    }

    pub(crate) fn body(&self) -> Bytes {
        self.body.clone()
    }

    /// Writes the status line and all fields.
    pub(crate) fn write(&self, terms: &Terms, now: Time, to: &mut Vec<u8>) {
        let age = terms.age(now).as_secs();
        to.extend_from_slice(&self.head);
        let _ = write!(to, "age: {age}\r\n");
        to.extend_from_slice(&self.told);
        let _ = write!(to, "{}\r\n", terms.seconds_left(now));
        if let Some(ttl) = self.browser_ttl {
            let _ = write!(to, "cache-control: max-age={}\r\n", ttl.as_secs() + age);
        }
    }
}

fn without_number(text: &[u8]) -> &[u8] {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    &text[..text.len() - digits]
}

/// What is answered at once with an object while that stands.
#[derive(Debug, Default)]
pub(crate) struct Serving {
    /// Which of what was made of it holds.
    version: AtomicU64,
    /// As it came, and in each coding by its place in [`Coding::ALL`].
    ready: [OnceLock<Box<Ready>>; 1 + Coding::ALL.len()],
}

impl Serving {
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Acquire)
    }

    /// Nothing that was made of it holds any longer.
    pub(crate) fn retire(&self) {
        self.version.fetch_add(1, Release);
    }

    pub(crate) fn ready(&self, coding: Option<Coding>) -> Option<&Ready> {
        self.place(coding).get().map(|ready| &**ready)
    }

    pub(crate) fn ready_or(
        &self,
        coding: Option<Coding>,
        make: impl FnOnce() -> Option<Ready>,
    ) -> Option<&Ready> {
        let place = self.place(coding);
        if place.get().is_none()
            && let Some(ready) = make()
        {
            let _ = place.set(Box::new(ready));
        }
        place.get().map(|ready| &**ready)
    }

    fn place(&self, coding: Option<Coding>) -> &OnceLock<Box<Ready>> {
        &self.ready[coding.map_or(0, |coding| 1 + coding as usize)]
    }
}

/// A copy of an object is another one.
impl Clone for Serving {
    fn clone(&self) -> Self {
        Self::default()
    }
}
