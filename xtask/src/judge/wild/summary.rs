//! The result of a differential run, as text and as JSON.

use serde_json::json;

use super::{
    case::Case,
    difference::{Explanations, Kind},
    play::Transcript,
};

pub(super) const PEERS: [&str; 2] = ["nginx", "varnish"];

#[derive(Debug, Default)]
pub(super) struct Summary {
    cases: usize,
    scripts: usize,
    same: [usize; 2],
    explained: [usize; 2],
    unexplained: Vec<String>,
    forbidden: Vec<String>,
    unused: Vec<String>,
}

impl Summary {
    pub(super) fn add(
        &mut self,
        case: &Case,
        transcripts: &[Option<Transcript>; 3],
        explanations: &mut Explanations,
        is_verbose: bool,
    ) {
        self.cases += 1;
        let [edge, peers @ ..] = transcripts;
        let Some(edge) = edge else {
            self.forbidden.push(case.name.clone());
            return eprintln!("\n{}: the requests to the edge failed", case.name);
        };
        let mut is_shown = is_verbose;
        if !edge.forbidden.is_empty() {
            self.forbidden.push(case.name.clone());
            is_shown = true;
        }
        for (at, peer) in peers.iter().enumerate() {
            let Some(peer) = peer else { continue };
            if edge.is_same(peer) {
                self.same[at] += 1;
            } else {
                is_shown |= !self.differs(&case.name, at, explanations);
            }
        }
        if is_shown {
            show(case, transcripts);
        }
    }

    pub(super) fn add_script(&mut self) {
        self.scripts += 1;
    }

    pub(super) fn is_same(&mut self, peer: usize) {
        self.same[peer] += 1;
    }

    pub(super) fn differs(&mut self, name: &str, peer: usize, explanations: &mut Explanations) -> bool {
        let is_explained = explanations.explain(name, PEERS[peer]);
        match is_explained {
            true => self.explained[peer] += 1,
            false => self.unexplained.push(format!("{name}, {}", PEERS[peer])),
        }
        is_explained
    }

    pub(super) fn breaks(&mut self, name: String) {
        self.forbidden.push(name);
    }

    pub(super) fn unused(&mut self, explanations: &Explanations, kind: Kind) {
        let unused = explanations.unused(kind);
        self.unused.extend(unused.iter().map(|entry| format!("{}, {}", entry.case, entry.server)));
    }

    pub(super) fn is_good(&self) -> bool {
        self.unexplained.is_empty() && self.forbidden.is_empty() && self.unused.is_empty()
    }

    pub(super) fn show(&self, is_json: bool) {
        if is_json {
            let value = json!({
                "cases": self.cases,
                "scripts": self.scripts,
                "same": { PEERS[0]: self.same[0], PEERS[1]: self.same[1] },
                "explained": { PEERS[0]: self.explained[0], PEERS[1]: self.explained[1] },
                "unexplained": self.unexplained,
                "forbidden": self.forbidden,
                "unused": self.unused,
            });
            return println!("{value:#}");
        }
        println!();
        for (title, found) in [
            ("against a rule", &self.forbidden),
            ("not explained", &self.unexplained),
            ("entry of the list that no longer applies", &self.unused),
        ] {
            found.iter().for_each(|name| println!("{title}: {name}"));
        }
        println!("\n{:22} {:>8} {:>8}", "", PEERS[0], PEERS[1]);
        println!("{:22} {:>8} {:>8}", "same as the edge", self.same[0], self.same[1]);
        println!("{:22} {:>8} {:>8}", "explained", self.explained[0], self.explained[1]);
        let unexplained =
            PEERS.map(|peer| self.unexplained.iter().filter(|name| name.ends_with(peer)).count());
        println!("{:22} {:>8} {:>8}", "not explained", unexplained[0], unexplained[1]);
        println!(
            "{} cases, {} random scripts; the edge against a rule: {}; entries that no longer apply: {}",
            self.cases,
            self.scripts,
            self.forbidden.len(),
            self.unused.len()
        );
    }
}

fn show(case: &Case, transcripts: &[Option<Transcript>; 3]) {
    eprintln!("\n{}: {} ({})", case.name, case.about, case.source);
    for (name, transcript) in ["edge"].into_iter().chain(PEERS).zip(transcripts) {
        let Some(transcript) = transcript else { continue };
        eprintln!("  {name}: {}", transcript.responses.join(" | "));
        eprintln!("    origin: {}", transcript.asked.join(" | "));
        transcript.forbidden.iter().for_each(|fault| eprintln!("    against the rule: {fault}"));
    }
}
