//! Random scripts: one URL, a few users, random requests and origin responses. The edge must follow the model. The first step at which a
//! peer differs has a signature that the list of differences explains.

use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    case::Answer,
    client::{Request, Response, ask},
    clock::{now, wait},
    difference::{Explanations, RANDOM},
    model::{ANSWERS, AnswerKind, Given, Method, REQUESTS, RequestKind, Reuse, Taken, broken_rule},
    parallel::{on_each, side_by_side},
    servers::Server,
    summary::{PEERS, Summary},
};

struct Script {
    seed: u64,
    answers: Vec<&'static AnswerKind>,
    steps: Vec<Step>,
}

struct Step {
    request: &'static RequestKind,
    user: usize,
    /// Whether objects with a lifetime of a second become stale before it.
    is_later: bool,
}

struct Record {
    /// `new`, `old`, or `checked`, which is old with a request at the origin.
    action: String,
    /// The action without the status, but for a 304.
    kind: String,
    answer: Option<usize>,
    broken: Option<&'static str>,
}

pub(super) fn run(
    servers: &[Server; 3],
    seed: u64,
    count: usize,
    explanations: &mut Explanations,
    summary: &mut Summary,
) {
    let scripts: Vec<_> = (seed..).take(count).map(Script::new).collect();
    let played = side_by_side(&scripts, |_, script| on_each(servers, |server| Some(script.play(server))));
    for (script, records) in scripts.iter().zip(&played) {
        summary.add_script();
        let [Some(edge), peers @ ..] = records else {
            summary.breaks(format!("the script of seed {}: the requests to the edge failed", script.seed));
            continue;
        };
        let mut is_shown = false;
        for (at, record) in edge.iter().enumerate() {
            if let Some(rule) = record.broken {
                summary.breaks(format!("seed {}, step {}: {rule}", script.seed, at + 1));
                is_shown = true;
            }
        }
        for (at, peer) in peers.iter().enumerate() {
            let Some(peer) = peer else { continue };
            match script.signature(edge, peer) {
                None => summary.is_same(at),
                Some(signature) => is_shown |= !summary.differs(&signature, at, explanations),
            }
        }
        if is_shown {
            script.show(records);
        }
    }
}

impl Script {
    fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |limit: usize| {
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            usize::try_from(random.next_u64() % limit).unwrap_or_default()
        };
        let answers = (0..16).map(|_| &ANSWERS[below(ANSWERS.len())]).collect();
        let step =
            |_| Step { request: &REQUESTS[below(REQUESTS.len())], user: below(3), is_later: below(4) == 0 };
        Self { seed, answers, steps: (0..8).map(step).collect() }
    }

    fn answers(&self) -> Vec<Answer> {
        let answer = |kind: &&AnswerKind| Answer {
            status: Some(kind.status),
            fields: kind.fields.iter().map(|field| (*field).to_owned()).collect(),
            body: Some("{n} of {f:x-user}".to_owned()),
            ..Answer::default()
        };
        self.answers.iter().map(answer).collect()
    }

    fn play(&self, server: &Server) -> Vec<Record> {
        let token = format!("w9{:06}w", self.seed % 1_000_000);
        server.origin.learn(&token, self.answers());
        let begin = now();
        let mut records = Vec::new();
        for step in &self.steps {
            if step.is_later {
                wait(LATER);
            }
            let before = server.origin.asked(&token).len();
            let at = begin.elapsed().as_secs_f64();
            let response = step.ask(server, &token);
            wait(SETTLED);
            let asked = server.origin.asked(&token);
            let given: Vec<_> = asked
                .iter()
                .enumerate()
                .map(|(number, asked)| {
                    let kind = self.answers[number.min(self.answers.len() - 1)];
                    Given {
                        // A 304 to a request without condition is a 200 with the same fields.
                        kind: if kind.reuse == Reuse::Confirms && !asked.is_conditional() {
                            &ANSWERS[0]
                        } else {
                            kind
                        },
                        user: asked
                            .head
                            .get("x-user")
                            .and_then(|user| user.parse().ok())
                            .unwrap_or(usize::MAX),
                        is_authorized: asked.head.get("authorization").is_some(),
                        method: match asked.method.as_str() {
                            "GET" => Method::Get,
                            "HEAD" => Method::Head,
                            _ => Method::Post,
                        },
                        at: asked.at.duration_since(begin).as_secs_f64(),
                    }
                })
                .collect();
            let answer = answer(&response);
            let kind = match answer {
                _ if response.status == 0 => "none",
                None if given.len() > before => "asked",
                None => "not asked",
                Some(answer) if answer >= before => "new",
                Some(_) if given.len() > before => "checked",
                Some(_) => "old",
            };
            let taken = answer.map(|answer| Taken { answer, user: step.user, before, at });
            records.push(Record {
                action: format!("{} {kind}", response.status),
                answer,
                kind: if response.status == 304 { format!("304 {kind}") } else { kind.to_owned() },
                broken: taken.and_then(|taken| broken_rule(&given, taken)),
            });
        }
        records
    }

    fn signature(&self, edge: &[Record], peer: &[Record]) -> Option<String> {
        let mut steps = self.steps.iter().zip(edge.iter().zip(peer));
        let (step, (edge, peer)) =
            steps.find(|(_, (edge, peer))| edge.action != peer.action || edge.answer != peer.answer)?;
        Some(match peer.broken {
            Some(rule) => format!("{RANDOM}{rule}"),
            None => format!("{RANDOM}{}: edge {}, peer {}", step.request.name, edge.kind, peer.kind),
        })
    }

    fn show(&self, records: &[Option<Vec<Record>>; 3]) {
        eprintln!("\nthe script of seed {}", self.seed);
        let names: Vec<_> = self.answers.iter().map(|kind| kind.name).collect();
        eprintln!("  answers: {}", names.join(", "));
        for (at, step) in self.steps.iter().enumerate() {
            let later = if step.is_later { "later, " } else { "" };
            eprint!("  {later}user {}: {}", step.user, step.request.name);
            for (name, records) in ["edge"].into_iter().chain(PEERS).zip(records) {
                let Some(record) = records.as_ref().and_then(|records| records.get(at)) else { continue };
                let number = record.answer.map(|answer| format!(" {}", answer + 1)).unwrap_or_default();
                eprint!(" | {name} {}{number}", record.action);
            }
            eprintln!();
        }
    }
}

impl Step {
    fn ask(&self, server: &Server, token: &str) -> Response {
        let user = self.user.to_string();
        let mut fields = vec![format!("X-User: {user}")];
        fields.extend(self.request.fields.iter().map(|field| field.replace("{i}", &user)));
        let request = Request {
            method: self.request.method,
            target: &format!("/{token}/x"),
            host: "plain.test",
            fields: &fields,
            body: self.request.body,
            is_chunked: false,
        };
        ask(server.port, &request)
    }
}

fn answer(response: &Response) -> Option<usize> {
    let number: usize = response.body().split_once(" of ")?.0.parse().ok()?;
    number.checked_sub(1)
}

/// Longer than a lifetime of one second, for servers that count whole seconds too.
const LATER: Duration = Duration::from_millis(2200);

/// After which a request in the background has reached the origin.
const SETTLED: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_script_each_time() {
        let shown = |seed| {
            let script = Script::new(seed);
            let answers: Vec<_> = script.answers.iter().map(|kind| kind.name).collect();
            let steps: Vec<_> = script.steps.iter().map(|step| (step.request.name, step.user)).collect();
            (answers, steps)
        };
        assert_eq!(shown(5), shown(5));
        assert_ne!(shown(5), shown(6));
    }
}
