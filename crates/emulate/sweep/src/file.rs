//! The format of a sweep file: the values along each axis. See `docs/tcp-sweep.md`.

use std::{collections::BTreeMap, fmt::Display, ops::Range, path::Path};

use config_file::{Diagnostic, Document};
use scenario::Error;
use serde::Deserialize;
use toml::{Spanned, Table};

use super::{grid::Grid, machine::Machine, reader::Reader};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rtt: Option<Axis>,
    rate: Option<Axis>,
    rmem: Option<Axis>,
    adv_win_scale: Option<Axis>,
    notsent_lowat: Option<Axis>,
    congestion: Option<Axis>,
    programme: Option<Axis>,
    repeat: Option<Spanned<u32>>,
    r#for: Option<Spanned<String>>,
    world: Option<Spanned<Table>>,
    link: Option<Spanned<Table>>,
}

type Axis = Spanned<Vec<Spanned<Word>>>;

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text such as \"300ms\"")]
enum Word {
    Text(String),
    Number(i64),
}

impl Grid {
    /// Reads a sweep file, with defaults for absent axes. Paths in it are relative to the file.
    pub fn read(path: &Path, machine: &Machine) -> Result<Self, Error> {
        let document =
            Document::open(path).map_err(|source| Error::Access { path: path.to_owned(), source })?;
        Ok(Self::parse(&document, path.parent().unwrap_or(Path::new("")), machine)?)
    }

    pub(super) fn parse(document: &Document, beside: &Path, machine: &Machine) -> Result<Self, Diagnostic> {
        let file: File = document.parse()?;
        let mut grid = Self::default();
        let mut axes = Axes { document, spans: BTreeMap::new() };
        axes.read("rtt", file.rtt, &mut grid.rtt, units::duration::parse)?;
        axes.read("rate", file.rate, &mut grid.rate, str::parse)?;
        axes.read("rmem", file.rmem, &mut grid.rmem, str::parse)?;
        axes.read("adv_win_scale", file.adv_win_scale, &mut grid.adv_win_scale, str::parse)?;
        axes.read("notsent_lowat", file.notsent_lowat, &mut grid.notsent_lowat, str::parse)?;
        axes.read("congestion", file.congestion, &mut grid.congestion, str::parse)?;
        axes.read("programme", file.programme, &mut grid.programme, |text| Reader::find(text, beside))?;
        if let Some(repeat) = file.repeat {
            axes.spans.insert("repeat", repeat.span());
            grid.repeat = repeat.into_inner();
        }
        if let Some(text) = file.r#for {
            axes.spans.insert("for", text.span());
            let mistake = |error: units::Error| document.mistake(text.span(), error.to_string());
            grid.duration = Some(units::duration::parse(text.get_ref()).map_err(mistake)?);
        }
        axes.keys("world", file.world, &mut grid.world);
        axes.keys("link", file.link, &mut grid.link);
        grid.check(machine).map_err(|refusal| {
            let span = axes.spans.get(refusal.axis).cloned().unwrap_or(0..0);
            document.mistake(span, refusal.why)
        })?;
        Ok(grid)
    }
}

struct Axes<'d> {
    document: &'d Document,
    spans: BTreeMap<&'static str, Range<usize>>,
}

impl Axes<'_> {
    fn read<T, E: Display>(
        &mut self,
        name: &'static str,
        axis: Option<Axis>,
        values: &mut Vec<T>,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<(), Diagnostic> {
        let Some(axis) = axis else { return Ok(()) };
        self.spans.insert(name, axis.span());
        let parsed = axis.into_inner().into_iter().map(|word| {
            let span = word.span();
            let text = match word.into_inner() {
                Word::Text(text) => text,
                Word::Number(number) => number.to_string(),
            };
            parse(&text).map_err(|error| self.document.mistake(span, error.to_string()))
        });
        *values = parsed.collect::<Result<_, _>>()?;
        Ok(())
    }

    fn keys(&mut self, name: &'static str, written: Option<Spanned<Table>>, keys: &mut Table) {
        if let Some(written) = written {
            self.spans.insert(name, written.span());
            keys.extend(written.into_inner());
        }
    }
}
