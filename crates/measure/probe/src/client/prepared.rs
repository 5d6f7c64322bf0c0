//! A request that is sent many times, serialized once.

use std::borrow::Cow;

use http_stack::{
    Method,
    http1::{Framing, head::write_request},
};

use super::target::Target;

#[derive(Debug, Clone)]
pub(crate) struct Prepared<'t> {
    pub(crate) target: Cow<'t, Target>,
    pub(crate) lines: Option<Vec<u8>>,
}

impl<'t> Prepared<'t> {
    pub(crate) fn of(target: impl Into<Cow<'t, Target>>) -> Self {
        let target = target.into();
        let is_plain = target.method == Method::GET && target.body.is_empty();
        let lines = is_plain.then(|| {
            let (mut lines, host) = (Vec::with_capacity(LINES), target.origin.authority());
            let Target { method, path, headers, .. } = &*target;
            write_request(&mut lines, method, path.as_str(), &host, headers, Framing::None);
            lines
        });
        Self { target, lines }
    }
}

impl From<Target> for Cow<'_, Target> {
    fn from(target: Target) -> Self {
        Cow::Owned(target)
    }
}

impl<'t> From<&'t Target> for Cow<'t, Target> {
    fn from(target: &'t Target) -> Self {
        Cow::Borrowed(target)
    }
}

const LINES: usize = 256;
