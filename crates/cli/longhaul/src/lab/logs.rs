//! `longhaul lab logs`: shows the output and the exit status of background programs on a planet.

use std::{collections::BTreeMap, os::fd::AsFd, process::ExitCode};

use clap::Args;
use nix::sys::signal::Signal;
use planet::{End, Log, Piece, Planet, Program};
use units::show;

use super::Which;
use crate::{
    interrupt::{Interrupt, first_ready},
    output::{self, paint, say},
};

/// Show the output of background programs, and how they ended
///
/// Each line begins with the program's number. Programs are started with `longhaul lab exec --detach`.
///
/// Example: longhaul lab logs origin -f
#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// Only programs of this host
    host: Option<String>,
    /// Continue with new output, until Ctrl-C or the end of the planet
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    which: Which,
    /// Print the programs as JSON instead, without their output
    #[arg(long, conflicts_with = "follow")]
    json: bool,
}

impl Logs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let interrupt = self.follow.then(Interrupt::listen).transpose()?;
        let planet = self.which.find()?;
        if let Some(host) = &self.host {
            planet.folder(host)?;
        }
        if self.json {
            let programs = self.programs(&planet)?;
            let programs = programs.iter().map(|program| output::named("longhaul.lab.logs/1", program));
            output::print_json(&programs.collect::<Vec<_>>())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut shown = Shown::default();
        let Some(interrupt) = interrupt else {
            shown.show(&planet, self.programs(&planet)?)?;
            return Ok(ExitCode::SUCCESS);
        };
        let (asked, ended, news) = (interrupt.descriptor()?, planet.watch()?, planet.news()?);
        loop {
            news.take()?;
            let programs = self.programs(&planet)?;
            programs.iter().try_for_each(|program| news.follow(program))?;
            shown.show(&planet, programs)?;
            match first_ready(&[asked.as_fd(), ended.as_fd(), news.as_fd()])? {
                0 => return Ok(ExitCode::SUCCESS),
                1 => break,
                _ => {}
            }
        }
        shown.rest()?;
        say(&format!("planet \"{}\" is gone", planet.name()));
        Ok(ExitCode::SUCCESS)
    }

    fn programs(&self, planet: &Planet) -> anyhow::Result<Vec<Program>> {
        let is_meant = |program: &Program| self.host.as_ref().is_none_or(|host| *host == program.host);
        Ok(planet.programs()?.into_iter().filter(is_meant).collect())
    }
}

#[derive(Default)]
struct Shown(BTreeMap<u64, Shower>);

impl Shown {
    fn show(&mut self, planet: &Planet, programs: Vec<Program>) -> anyhow::Result<()> {
        for program in programs {
            let shower = match self.0.entry(program.number) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(new) => {
                    new.insert(Shower::begin(planet, &program)?)
                }
            };
            shower.go_on()?;
            if let Some(end) = program.end {
                shower.end(&program, end)?;
            }
        }
        Ok(())
    }

    fn rest(&mut self) -> anyhow::Result<()> {
        for shower in self.0.values_mut() {
            shower.go_on()?;
            shower.finish_line()?;
        }
        Ok(())
    }
}

struct Shower {
    number: String,
    log: Log,
    /// An incomplete line.
    line: Vec<u8>,
    has_ended: bool,
}

impl Shower {
    fn begin(planet: &Planet, program: &Program) -> anyhow::Result<Self> {
        let number = paint(&format!("[{}]", program.number), output::CYAN);
        output::print(&format!("{number} {}: {}\n", program.host, program.command.join(" ")))?;
        Ok(Self { number, log: planet.log(program)?, line: Vec::new(), has_ended: false })
    }

    fn go_on(&mut self) -> anyhow::Result<()> {
        let mut buffer = vec![0; BUFFER];
        loop {
            match self.log.read(&mut buffer)? {
                Piece::Text(0) => return Ok(()),
                Piece::Text(length) => self.take(&buffer[..length])?,
                Piece::Gone(bytes) => {
                    self.finish_line()?;
                    output::print(&format!(
                        "{} ({} bytes are gone: a log keeps its last 16 MiB)\n",
                        self.number,
                        show::count(bytes)
                    ))?;
                }
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.line.extend_from_slice(bytes);
        let complete = match self.line.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if self.line.len() > LONGEST_LINE => self.line.len(),
            None => return Ok(()),
        };
        let text: Vec<u8> = self.line.drain(..complete).collect();
        self.print(&text)
    }

    fn finish_line(&mut self) -> anyhow::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.print(&rest)
    }

    fn print(&self, lines: &[u8]) -> anyhow::Result<()> {
        let text = String::from_utf8_lossy(lines);
        output::print(&text.lines().map(|line| format!("{} {line}\n", self.number)).collect::<String>())
    }

    fn end(&mut self, program: &Program, end: End) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        self.finish_line()?;
        let name = program.command.first().map_or("", String::as_str);
        output::print(&format!(
            "{} {name} {} after {}\n",
            self.number,
            outcome(end),
            show::time(program.ran_s)
        ))
    }
}

pub(super) fn outcome(end: End) -> String {
    match end {
        End::Code(code) => format!("ended with {code}"),
        End::Signal(number) => match Signal::try_from(number) {
            Ok(signal) => format!("was ended by {signal}"),
            Err(_) => format!("was ended by signal {number}"),
        },
        End::Unseen => "ended unseen".to_owned(),
    }
}

const BUFFER: usize = 64 << 10;

/// Longer lines are split.
const LONGEST_LINE: usize = 64 << 10;
