//! `longhaul lab view`: a planet as it lives, on the terminal.

mod braille;
mod flow;
mod frame;
mod map;
mod terminal;

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

use anyhow::bail;
use clap::Args;
use planet::Planet;
use terminal_size::terminal_size_of;
use world::Layout;

use self::{
    flow::Window,
    terminal::{Event, Terminal},
};
use super::{Which, layout_of, table::Line};
use crate::output;

/// Watch a planet: what its links carry now, what is wrong, and how faithful it is
///
/// Keys: m for the map and back, q or Ctrl-C to quit.
///
/// Example: longhaul lab view --map
#[derive(Debug, Args)]
pub(crate) struct View {
    /// Begin with the map
    #[arg(long)]
    map: bool,
    /// Print one picture and quit; its rates are since the planet came up
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    which: Which,
}

impl View {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
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
}

/// Shows the planet until the person has seen enough.
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

/// A window full, with what keys do.
fn picture(window: &Window, layout: &Layout, keys: &str, size: Size, is_map: bool) -> Vec<Line> {
    let heading = frame::heading(window, keys, size);
    let body = Size { rows: size.rows.saturating_sub(heading.len()), ..size };
    let body = if is_map { map::map(window, layout, body) } else { frame::tables(window, body) };
    let lines = heading.iter().chain(&body).take(size.rows);
    lines.map(|line| line.cut(size.columns)).collect()
}

/// A window, in characters.
#[derive(Debug, Clone, Copy)]
struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    /// Of the terminal, or of a sheet of paper.
    fn of_output() -> Self {
        terminal_size_of(io::stdout())
            .map_or(PAPER, |(columns, rows)| Self { columns: columns.0.into(), rows: rows.0.into() })
    }
}

/// What printers and mail have room for.
const PAPER: Size = Size { columns: 80, rows: 60 };
