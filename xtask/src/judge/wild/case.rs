//! Scripts as data: responses of an origin, requests of clients, and the outcomes that the RFCs allow.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde::Deserialize;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) source: String,
    pub(super) origin: Vec<Answer>,
    pub(super) steps: Vec<Step>,
    pub(super) asked: Vec<usize>,
    pub(super) shown: Vec<String>,
    pub(super) without: Vec<String>,
    each: BTreeMap<String, Answer>,
    each_request: BTreeMap<String, Step>,
}

/// A request beyond the list gets the last applicable entry again.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Answer {
    /// 200 if it is left out. A 304 to a request without conditions becomes a 200.
    pub(super) status: Option<u16>,
    pub(super) fields: Vec<String>,
    /// The number of the request if it is left out.
    pub(super) body: Option<String>,
    pub(super) size: Option<usize>,
    /// It applies to requests whose method and target contain this.
    pub(super) to: String,
    /// It applies to requests with this field.
    pub(super) with: String,
    pub(super) delay_ms: u64,
    /// The number of bytes of the body after which the connection closes.
    pub(super) cut: Option<usize>,
    /// The connection closes without a response.
    pub(super) close: bool,
    pub(super) chunked: bool,
    /// Requests for one range get a 206.
    pub(super) ranges: bool,
    pub(super) each: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Step {
    pub(super) wait_ms: u64,
    pub(super) method: Option<String>,
    pub(super) path: Option<String>,
    pub(super) host: Option<String>,
    pub(super) fields: Vec<String>,
    pub(super) body: Option<String>,
    pub(super) chunked: bool,
    /// The number of clients that send it concurrently, each `stagger_ms` later than the previous client.
    pub(super) visitors: Option<usize>,
    pub(super) stagger_ms: Option<u64>,
    /// Any if it is empty.
    pub(super) status: Vec<u16>,
    /// Any if it is empty.
    pub(super) body_is: Vec<String>,
    pub(super) body_has_not: Vec<String>,
    /// Each is `Name: value`.
    pub(super) has: Vec<String>,
    /// Each is `Name` or `Name: value`.
    pub(super) has_not: Vec<String>,
    pub(super) asked: Vec<usize>,
    each: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

pub(super) fn read(text: &str) -> anyhow::Result<Vec<Case>> {
    let file: File = toml::from_str(text)?;
    let mut cases = Vec::new();
    for case in file.case {
        let named = case.name.clone();
        cases.extend(case.variants().with_context(|| format!("case {named}"))?);
    }
    Ok(cases)
}

impl Case {
    pub(super) fn lacks(&self, server: &str) -> bool {
        self.without.iter().any(|name| name == server)
    }

    fn variants(self) -> anyhow::Result<Vec<Self>> {
        ensure!(!self.source.is_empty() && !self.about.is_empty(), "it needs `about` and `source`");
        ensure!(!self.steps.is_empty(), "it has no steps");
        let answers: Vec<_> = match self.each.is_empty() {
            true => vec![(String::new(), Answer::default())],
            false => self.each.clone().into_iter().collect(),
        };
        let requests: Vec<_> = match self.each_request.is_empty() {
            true => vec![(String::new(), Step::default())],
            false => self.each_request.clone().into_iter().collect(),
        };
        let mut variants = Vec::new();
        for (answer_name, answer) in &answers {
            for (request_name, request) in &requests {
                let mut case = self.clone();
                for part in [request_name, answer_name].into_iter().filter(|part| !part.is_empty()) {
                    case.name = format!("{}/{part}", case.name);
                }
                case.origin.iter_mut().filter(|own| own.each).for_each(|own| own.merge(answer));
                case.steps.iter_mut().filter(|own| own.each).for_each(|own| own.merge(request));
                variants.push(case);
            }
        }
        Ok(variants)
    }
}

impl Answer {
    fn merge(&mut self, variant: &Self) {
        self.status = self.status.or(variant.status);
        self.fields.extend(variant.fields.iter().cloned());
        self.body = self.body.take().or_else(|| variant.body.clone());
        self.cut = self.cut.or(variant.cut);
        self.close |= variant.close;
        self.chunked |= variant.chunked;
        self.delay_ms = self.delay_ms.max(variant.delay_ms);
    }
}

impl Step {
    fn merge(&mut self, variant: &Self) {
        self.method = self.method.take().or_else(|| variant.method.clone());
        self.path = self.path.take().or_else(|| variant.path.clone());
        self.fields.extend(variant.fields.iter().cloned());
        self.body = self.body.take().or_else(|| variant.body.clone());
        self.chunked |= variant.chunked;
        self.body_is.extend(variant.body_is.iter().cloned());
        self.status.extend(variant.status.iter().copied());
    }

    pub(super) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or("GET")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_answers_and_requests_are_multiplied() {
        let text = "[[case]]\nname = 'a'\nabout = 'b'\nsource = 'RFC'\norigin = [{ each = true, status = 304 }]\n\
                    steps = [{ each = true }]\n\
                    each = { x = { fields = ['A: 1'], status = 200 }, y = {} }\n\
                    each_request = { p = { method = 'HEAD' }, q = {} }\n";
        let cases = read(text).unwrap();
        let names: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["a/p/x", "a/q/x", "a/p/y", "a/q/y"]);
        assert_eq!(cases[0].origin[0].status, Some(304));
        assert_eq!(cases[0].origin[0].fields, ["A: 1"]);
        assert_eq!((cases[0].steps[0].method(), cases[1].steps[0].method()), ("HEAD", "GET"));
    }
}
