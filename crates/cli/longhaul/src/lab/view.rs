//! `longhaul lab view`: shows a running planet on the terminal.

mod braille;
mod flow;
mod frame;
mod map;
mod terminal;

use std::{
    io::{self, IsTerminal},
    os::fd::AsFd,
    process::ExitCode,
};

use anyhow::bail;
use clap::Args;
use planet::{Planet, Status, cli_documents};
use report::terminal::table::Line;
use terminal_size::terminal_size_of;
use world::Layout;

use self::{
    flow::Window,
    terminal::{Event, Terminal, ticks},
};
use super::{Which, layout_of};
use crate::{
    interrupt::{Interrupt, first_ready},
    output,
};

/// Watch a planet: the traffic on its links, its faults, and how faithful it is
///
/// Keys: m for the map and back, q or Ctrl-C to quit. --json prints a line of JSON twice a second,
/// until Ctrl-C, the end of the planet, or until the reader closes the pipe.
///
/// Examples:
///   longhaul lab view --map
///   longhaul lab view --json | jq .links
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct View {
    /// Start with the map
    #[arg(long)]
    map: bool,
    /// Print one picture and quit; its rates are averages since the start of the planet
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    which: Which,
    /// Print lines of JSON
    #[arg(long, conflicts_with = "map")]
    json: bool,
}

impl View {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if self.json {
            return self.lines();
        }
        let planet = self.which.find()?;
        let layout = layout_of(&planet)?;
        if self.once {
            let window = Window { before: None, now: planet.status()? };
            let lines = picture(&window, &layout, "", Size::of_output(), self.map);
            output::print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
        } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
            watch(&planet, &layout, self.map)?;
        } else {
            bail!("a live view needs a terminal; for one picture of it: longhaul lab view --once");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn lines(&self) -> anyhow::Result<ExitCode> {
        let interrupt = Interrupt::listen()?;
        let planet = self.which.find()?;
        let (asked, ended, ticks) = (interrupt.descriptor()?, planet.watch()?, ticks()?);
        let mut window = Window { before: None, now: planet.status()? };
        loop {
            output::print_json_line(&output::named("longhaul.lab.view/1", line(&window)))?;
            if self.once || !output::has_reader() {
                return Ok(ExitCode::SUCCESS);
            }
            match first_ready(&[asked.as_fd(), ended.as_fd(), ticks.as_fd()])? {
                0 => return Ok(ExitCode::SUCCESS),
                1 => break,
                _ => ticks.wait()?,
            }
            let Ok(now) = planet.status() else { break };
            window = Window { before: Some(window.now), now };
        }
        output::say(&format!("planet \"{}\" is gone", planet.name()));
        Ok(ExitCode::SUCCESS)
    }
}

fn line(window: &Window) -> cli_documents::View {
    let (links, lines) = window.flows();
    let Status { name, running_s, faults, fidelity, .. } = window.now.clone();
    let moving = links.into_iter().chain(lines).map(|flow| cli_documents::Moving {
        from: flow.link.from.clone(),
        to: flow.link.to.clone(),
        access: flow.link.access.clone(),
        delivered_bps: flow.bits_per_second,
        rate_bps: flow.link.rate_bps,
        drops_per_s: flow.drops_per_second,
        waiting: flow.link.waiting,
        is_down: flow.link.is_down,
    });
    cli_documents::View {
        planet: name,
        running_s,
        over_s: window.seconds(),
        links: moving.collect(),
        faults,
        fidelity,
    }
}

fn watch(planet: &Planet, layout: &Layout, mut is_map: bool) -> anyhow::Result<()> {
    let terminal = Terminal::take()?;
    let mut window = Window { before: None, now: planet.status()? };
    loop {
        let keys = if is_map { "m tables  q quit" } else { "m map  q quit" };
        terminal.show(&picture(&window, layout, keys, Size::of_output(), is_map))?;
        match terminal.wait()? {
            Event::Tick => window = Window { before: Some(window.now), now: planet.status()? },
            Event::Key(b'm') => is_map = !is_map,
            Event::Key(b'q') | Event::Ended => return Ok(()),
            Event::Key(_) | Event::Resized => {}
        }
    }
}

fn picture(window: &Window, layout: &Layout, keys: &str, size: Size, is_map: bool) -> Vec<Line> {
    let heading = frame::heading(window, keys, size);
    let body = Size { rows: size.rows.saturating_sub(heading.len()), ..size };
    let body = if is_map { map::map(window, layout, body) } else { frame::tables(window, body) };
    let lines = heading.iter().chain(&body).take(size.rows);
    lines.map(|line| line.cut(size.columns)).collect()
}

/// In characters.
#[derive(Debug, Clone, Copy)]
struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    fn of_output() -> Self {
        terminal_size_of(io::stdout())
            .map_or(PAPER, |(columns, rows)| Self { columns: columns.0.into(), rows: rows.0.into() })
    }
}

/// Fits printers and mail.
const PAPER: Size = Size { columns: 80, rows: 60 };
