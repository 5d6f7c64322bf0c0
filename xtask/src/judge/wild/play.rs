//! Plays a script against one server, and records the traffic of its clients and its origin.

use std::{thread, time::Duration};

use super::{
    case::{Case, Step},
    client::{Request, Response, ask},
    clock::wait,
    servers::Server,
};

#[derive(Debug, Clone, Default)]
pub(super) struct Transcript {
    pub(super) responses: Vec<String>,
    /// A line for each request at the origin, sorted.
    pub(super) asked: Vec<String>,
    pub(super) forbidden: Vec<String>,
}

impl Transcript {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.responses == other.responses && self.asked == other.asked
    }
}

pub(super) fn play(case: &Case, server: &Server, token: &str) -> Transcript {
    server.origin.learn(token, case.origin.clone());
    let mut transcript = Transcript::default();
    for (at, step) in case.steps.iter().enumerate() {
        if step.wait_ms > 0 {
            wait(Duration::from_millis(step.wait_ms));
            continue;
        }
        let mut lines = Vec::new();
        for (visitor, response) in responses(step, server.port, token).iter().enumerate() {
            lines.push(response.shown(&case.shown).replace(token, "T"));
            for fault in faults(step, response, visitor, token) {
                transcript.forbidden.push(format!("step {}: {fault}", at + 1));
            }
        }
        transcript.responses.extend(lines.into_iter().map(|line| format!("{} {line}", at + 1)));
        if !step.asked.is_empty() {
            wait(SETTLED);
            let asked = server.origin.asked(token).len();
            if !step.asked.contains(&asked) {
                let fault =
                    format!("step {}: the origin received {asked} requests, not {:?}", at + 1, step.asked);
                transcript.forbidden.push(fault);
            }
        }
    }
    wait(SETTLED);
    let asked = server.origin.asked(token);
    if !case.asked.is_empty() && !case.asked.contains(&asked.len()) {
        transcript.forbidden.push(format!(
            "the origin received {} requests, not {:?}",
            asked.len(),
            case.asked
        ));
    }
    transcript.asked = asked.iter().map(|asked| asked.shown(token)).collect();
    transcript.asked.sort();
    transcript
}

fn responses(step: &Step, port: u16, token: &str) -> Vec<Response> {
    let visitors = step.visitors.unwrap_or(1);
    let stagger = Duration::from_millis(step.stagger_ms.unwrap_or(100));
    thread::scope(|scope| {
        let mut asking = Vec::new();
        for visitor in 0..visitors {
            if visitor > 0 {
                wait(stagger);
            }
            asking.push(scope.spawn(move || request(step, port, token, visitor)));
        }
        asking.into_iter().map(|asking| asking.join().unwrap_or_default()).collect()
    })
}

fn request(step: &Step, port: u16, token: &str, visitor: usize) -> Response {
    let filled = |text: &str| fill(text, token, visitor);
    let fields: Vec<_> = step.fields.iter().map(|field| filled(field)).collect();
    let body = step.body.as_deref().map(filled);
    ask(
        port,
        &Request {
            method: step.method(),
            target: &filled(step.path.as_deref().unwrap_or("/{t}/x")),
            host: step.host.as_deref().unwrap_or("plain.test"),
            fields: &fields,
            body: body.as_deref(),
            is_chunked: step.chunked,
        },
    )
}

fn fill(text: &str, token: &str, visitor: usize) -> String {
    text.replace("{t}", token).replace("{i}", &visitor.to_string())
}

fn faults(step: &Step, response: &Response, visitor: usize, token: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let filled = |text: &String| fill(text, token, visitor);
    if !step.status.is_empty() && !step.status.contains(&response.status) {
        faults.push(format!("status {}, not {:?}", response.status, step.status));
    }
    let body = response.body();
    let allowed: Vec<_> = step.body_is.iter().map(filled).collect();
    if !allowed.is_empty() && !allowed.contains(&body) {
        faults.push(format!("body {body:?}, not {allowed:?}"));
    }
    for text in step.body_has_not.iter().map(filled).filter(|text| body.contains(text)) {
        faults.push(format!("body {body:?} has {text:?}"));
    }
    let has = |field: &str| match field.split_once(": ") {
        Some((name, value)) => response.head.values(name).any(|own| own == value),
        None => response.head.get(field).is_some(),
    };
    for field in step.has.iter().map(filled).filter(|field| !has(field)) {
        faults.push(format!("no {field}"));
    }
    for field in step.has_not.iter().map(filled).filter(|field| has(field)) {
        faults.push(format!("has {field}"));
    }
    faults
}

/// After which a request in the background has reached the origin.
const SETTLED: Duration = Duration::from_millis(400);
