//! Results of claims that must fail in mutants.

use std::fmt;

use report::Report;

pub(super) struct Row {
    pub scenario: String,
    pub without: String,
    pub claim: String,
    pub original: Said,
    pub mutant: Said,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Holds(String),
    Fails(String),
    /// The error of the emulator is too large for a decision.
    Undecided(String),
    NotRun(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It holds in the original, and fails in the mutant.
    Killed,
    Survived,
    /// The machine was too busy in one of the runs.
    Undecided,
    Wrong,
}

impl Row {
    pub(super) fn verdict(&self) -> Verdict {
        match (&self.original, &self.mutant) {
            (Said::Holds(_), Said::Fails(_)) => Verdict::Killed,
            (_, Said::Holds(_)) => Verdict::Survived,
            (Said::Fails(_) | Said::NotRun(_), _) | (_, Said::NotRun(_)) => Verdict::Wrong,
            (Said::Undecided(_), _) | (_, Said::Undecided(_)) => Verdict::Undecided,
        }
    }
}

pub(super) fn said(result: &anyhow::Result<Report>, claim: &str) -> Said {
    let report = match result {
        Ok(report) => report,
        Err(why) => return Said::NotRun(format!("{why:#}")),
    };
    let Some(judged) = report.claims.iter().find(|judged| judged.claim == claim) else {
        return Said::NotRun("the claim was not judged".to_owned());
    };
    let figure = judged.figure.clone();
    match (judged.decided, judged.holds) {
        (false, _) => Said::Undecided(figure),
        (true, true) => Said::Holds(figure),
        (true, false) => Said::Fails(figure),
    }
}

pub(super) fn failed(rows: &[Row]) -> Vec<String> {
    let mutants =
        rows.chunk_by(|one, other| (&one.scenario, &one.without) == (&other.scenario, &other.without));
    let has = |mutant: &[Row], verdict| mutant.iter().any(|row| row.verdict() == verdict);
    let is_shown = |mutant: &&[Row]| {
        has(mutant, Verdict::Killed) && !has(mutant, Verdict::Survived) && !has(mutant, Verdict::Wrong)
    };
    let failed = mutants.filter(|mutant| !is_shown(mutant));
    failed.map(|mutant| format!("{} without {}", mutant[0].scenario, mutant[0].without)).collect()
}

pub(super) fn table(rows: &[Row]) -> String {
    let cells = rows.iter().map(|row| {
        let (original, mutant) = (row.original.word(), row.mutant.word());
        [row.verdict().word(), &row.scenario, original, mutant, &row.without, &row.claim].map(str::to_owned)
    });
    let head = ["mutant", "scenario", "with", "without", "what", "claim"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |line: &[String; 6]| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

impl Said {
    fn word(&self) -> &'static str {
        match self {
            Self::Holds(_) => "holds",
            Self::Fails(_) => "fails",
            Self::Undecided(_) => "undecided",
            Self::NotRun(_) => "not run",
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Holds(why) | Self::Fails(why) | Self::Undecided(why) | Self::NotRun(why)) = self;
        write!(f, "{}: {why}", self.word())
    }
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "SURVIVED",
            Self::Undecided => "undecided",
            Self::Wrong => "WRONG",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(original: Said, mutant: Said) -> Row {
        let [scenario, without, claim] = ["tiers", "tiers", "fewer"].map(str::to_owned);
        Row { scenario, without, claim, original, mutant }
    }

    #[test]
    fn a_mutant_is_killed_where_the_claim_holds_with_and_fails_without() {
        let [holds, fails] = [Said::Holds(String::new()), Said::Fails(String::new())];
        let not_run = Said::NotRun(String::new());
        let undecided = Said::Undecided(String::new());
        for (original, mutant, expected) in [
            (&holds, &fails, Verdict::Killed),
            (&holds, &holds, Verdict::Survived),
            (&fails, &holds, Verdict::Survived),
            (&fails, &fails, Verdict::Wrong),
            (&holds, &not_run, Verdict::Wrong),
            (&not_run, &fails, Verdict::Wrong),
            (&holds, &undecided, Verdict::Undecided),
            (&undecided, &fails, Verdict::Undecided),
        ] {
            assert_eq!(row(original.clone(), mutant.clone()).verdict(), expected, "{original} {mutant}");
        }
        // One killed claim is enough if another cannot be decided, but not if another survives.
        let killed = || row(holds.clone(), fails.clone());
        let (busy, survived) = (row(undecided.clone(), fails.clone()), row(holds.clone(), holds.clone()));
        assert!(failed(&[killed(), row(undecided, not_run.clone())]).len() == 1);
        assert_eq!(failed(&[killed(), busy]), Vec::<String>::new());
        assert_eq!(failed(&[killed(), survived]), ["tiers without tiers"]);
        assert_eq!(failed(&[row(holds.clone(), not_run)]), ["tiers without tiers"]);
        assert_eq!(
            table(&[row(holds.clone(), fails.clone()), row(holds.clone(), holds.clone())]),
            "mutant    scenario  with   without  what   claim\n\
             killed    tiers     holds  fails    tiers  fewer\n\
             SURVIVED  tiers     holds  holds    tiers  fewer\n"
        );
    }
}
