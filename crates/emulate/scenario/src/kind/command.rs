//! `[[command]]`: any program that measures and prints one JSON value.

use std::{path::PathBuf, sync::Arc, time::Duration};

use claim::{Claim, Evidence, Fold, Object, Path, Query, Source, Subject};
use report::figures::{Column, Figures, Table as Shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toml::Spanned;
use units::Bytes;
use world::Diagnostic;

use crate::{
    check::Check,
    emulator::Peer,
    error::Error,
    folder::{Folder, turn},
    measurement::{Findings, Gaps, Inputs, Measures, ResultEntry, Task},
    program::Job,
};

pub(crate) const SOURCE: Source = Source::new("command");

pub(crate) const NAMES: &str = "or json. and a path in a command's output";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub side: Spanned<String>,
    pub host: Spanned<String>,
    /// "longhaul" is this program, and "{out}" in an argument is the run's folder.
    pub run: Spanned<Vec<String>>,
    #[serde(default = "default_codes")]
    pub codes: Spanned<Vec<u8>>,
    #[serde(default = "crate::measurement::default_duration", with = "units::duration")]
    pub duration: Duration,
    #[serde(default = "default_limit", with = "units::duration")]
    pub timeout: Duration,
    pub limit: Option<Spanned<Bytes>>,
    pub after: Option<Spanned<String>>,
}

fn default_codes() -> Spanned<Vec<u8>> {
    Spanned::new(0..0, vec![0])
}

fn default_limit() -> Duration {
    Duration::from_secs(300)
}

/// A program that measures and prints one JSON value.
#[derive(Debug, Clone)]
pub struct Command {
    /// The measured side.
    pub side: String,
    /// The host in which it runs.
    pub host: String,
    /// The program and its arguments; [`OUT`] in them is the run's folder.
    pub command: Vec<String>,
    /// Exit codes that mean success.
    pub codes: Vec<u8>,
    /// The expected duration.
    pub duration: Duration,
    /// The timeout.
    pub timeout: Duration,
    /// The output limit.
    pub limit: Bytes,
    /// The side whose measurements must end before this measurement begins.
    pub after: Option<Spanned<String>>,
}

/// The JSON output of a command, and the numbers in it that claims are about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandResult {
    /// The measured side.
    pub side: String,
    /// The host in which it ran.
    pub host: String,
    /// The bound of the emulator's error in the times of the output, in ms, over the duration of the command.
    /// Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_error_ms: Option<f64>,
    /// The numbers that claims are about.
    pub figures: Vec<Figure>,
    /// The whole output.
    pub value: Value,
}

/// A number in a command's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Its path: "json.summary.restart_s".
    pub at: String,
    /// The number with its unit, or the reason why it is missing.
    pub text: String,
}

pub(crate) fn check(check: &Check<'_>, tables: &[Table]) -> Result<Vec<Command>, Diagnostic> {
    let mut checked: Vec<Command> = Vec::new();
    for command in tables {
        let side = check.side(&command.side)?;
        check.lasts(command.duration, &command.side)?;
        check.host(&command.host)?;
        let words = check.command(&command.run)?;
        let mistake = |span, message: &str| Err(check.document.mistake(span, message));
        if checked.iter().any(|other| other.side == side) {
            let message = "another command measures this side; give each a different side";
            return mistake(command.side.span(), message);
        }
        if command.codes.get_ref().is_empty() {
            return mistake(
                command.codes.span(),
                "codes is empty, so no exit code would mean success; expected [0] or more codes",
            );
        }
        if command.timeout < command.duration {
            let message = "the timeout is shorter than the duration; raise timeout above duration";
            return mistake(command.side.span(), message);
        }
        checked.push(Command {
            side,
            host: command.host.get_ref().clone(),
            command: words,
            codes: command.codes.get_ref().clone(),
            duration: command.duration,
            timeout: command.timeout,
            limit: check.limit(command.limit.as_ref())?,
            after: command.after.clone(),
        });
    }
    Ok(checked)
}

impl Command {
    fn name(&self) -> String {
        format!("command-{}-from-{}", self.side, self.host)
    }

    fn log(&self, folder: &Folder<'_>) -> PathBuf {
        folder.log(&self.name())
    }

    pub(crate) fn file(&self) -> String {
        format!("{}.json", self.name())
    }
}

impl Measures for Command {
    fn side(&self) -> &str {
        &self.side
    }

    fn hosts(&self) -> Vec<&str> {
        vec![&self.host]
    }

    fn after(&self) -> Option<&Spanned<String>> {
        self.after.as_ref()
    }

    fn lasts(&self) -> Duration {
        self.duration
    }

    fn task(&self, folder: &Folder<'_>, _: Duration, log_limit: Bytes) -> Task {
        let job = Job {
            host: self.host.clone(),
            command: folder.placed(&self.command),
            log: self.log(folder),
            log_limit,
            result: Some((folder.file(&self.file()), self.limit)),
        };
        Task {
            side: self.side.clone(),
            after: self.after.as_ref().map(|after| after.get_ref().clone()),
            job,
            codes: self.codes.clone(),
            timeout: Some(self.timeout),
        }
    }
}

pub(crate) fn subject(name: &str) -> Option<Result<Subject, String>> {
    let place = |path: Path| {
        let unit = path.unit();
        Subject::new(SOURCE, name, Query::Number { paths: vec![path], fold: Fold::First }, unit)
    };
    name.starts_with("json").then(|| name.parse().map(place))
}

pub(crate) fn read(commands: &[&Command], reading: &Inputs<'_>, gaps: &mut Gaps) -> Result<Findings, Error> {
    let mut found = Findings::default();
    let mut table = Shown::new(
        "The numbers in the commands' output that claims are about",
        COLUMNS
            .map(|(title, is_wide)| {
                let column = Column::text(title);
                if is_wide { column.wide() } else { column }
            })
            .into_iter()
            .chain([Column::number("value")]),
    );
    for command in commands {
        let how =
            format!("{} from {}{}", command.command.join(" "), command.host, turn(command.after.as_ref()));
        found.conditions.push((format!("{}, command", command.side), how));
        let read = printed(command, reading);
        let Some(mut printed) = gaps.tolerate(&format!("{}, command", command.side), read)? else { continue };
        let log = command.log(reading.folder);
        let own_error = reading.emulator.of_whole(reading.layout, &command.host, Peer::ANY, &log, None);
        printed.own_error_ms = own_error.map(|error| error.error_ms);
        let CommandResult { side, host, figures, .. } = &printed;
        for figure in figures {
            table = table.row([side, host, &figure.at, &figure.text].map(String::clone));
        }
        let (side, host) = (side.clone(), host.clone());
        let detail = Arc::new(printed.into_value());
        let mut evidence = Evidence::default();
        evidence.object(Object {
            within: "value",
            own_error,
            ..Object::new(side.as_str(), Arc::clone(&detail))
        });
        found.evidence.push((side.clone(), evidence));
        found.measured.push(ResultEntry { side, host, kind: SOURCE, detail });
    }
    found.figures = (!table.rows.is_empty()).then(|| Figures::new("Commands", "").table(table));
    Ok(found)
}

fn printed(command: &Command, reading: &Inputs<'_>) -> Result<CommandResult, Error> {
    let path = reading.folder.file(&command.file());
    let text = reading.folder.text(&path)?;
    let value = serde_json::from_str(&text).map_err(|source| Error::NotJson { path, source })?;
    Ok(CommandResult::new(&command.side, &command.host, value, reading.claims))
}

impl CommandResult {
    fn new(side: &str, host: &str, value: Value, claims: &[Claim]) -> Self {
        let mut printed = Self {
            side: side.to_owned(),
            host: host.to_owned(),
            own_error_ms: None,
            figures: Vec::new(),
            value,
        };
        let about = claims.iter().filter(|claim| claim.subject.source() == SOURCE && claim.is_about(side));
        for claim in about {
            let Query::Number { paths, .. } = claim.subject.query() else { continue };
            let at = claim.subject.to_string();
            if printed.figures.iter().all(|figure| figure.at != at) {
                let number = paths[0].number(&printed.value);
                let text = number.map_or_else(|why| why, |number| claim.subject.unit().show(number));
                printed.figures.push(Figure { at, text });
            }
        }
        printed
    }

    fn into_value(self) -> Value {
        let Self { side, host, own_error_ms, figures, value } = self;
        let figures =
            figures.into_iter().map(|Figure { at, text }| serde_json::json!({ "at": at, "text": text }));
        let mut object = serde_json::Map::new();
        object.insert("side".to_owned(), side.into());
        object.insert("host".to_owned(), host.into());
        own_error_ms.into_iter().for_each(|ms| drop(object.insert("own_error_ms".to_owned(), ms.into())));
        object.insert("figures".to_owned(), figures.collect());
        object.insert("value".to_owned(), value);
        Value::Object(object)
    }
}

/// Columns before the value, with whether narrow displays hide them.
const COLUMNS: [(&str, bool); 3] = [("command", false), ("host", true), ("figure", false)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_beside_their_side() {
        let claim = |at: &str| Claim {
            text: "x".to_owned(),
            subject: subject(at).unwrap().unwrap(),
            says: claim::Statement::Limit {
                side: "small".to_owned(),
                relation: claim::Relation::Below,
                limit: 5.0,
            },
        };
        let value = serde_json::json!({ "restart_s": 4.5, "more": [1, 2, 3] });
        let claims = ["json.restart_s", "json.more.7", "json.restart_s"].map(claim);
        let printed = CommandResult::new("small", "reader", value, &claims);
        let figures: Vec<_> =
            printed.figures.iter().map(|one| (one.at.as_str(), one.text.as_str())).collect();
        assert_eq!(figures, [("json.restart_s", "4.50 s"), ("json.more.7", "json.more has no 7")]);
        assert_eq!(printed.clone().into_value(), serde_json::to_value(printed).unwrap());
    }
}
