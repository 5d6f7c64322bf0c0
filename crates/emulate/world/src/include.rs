//! Includes, traces, tables and matrices of a world file in other files.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    path::{Component, Path, PathBuf},
};

use config_file::{Diagnostic, Document, LARGEST, suggestion};
use serde::{Deserialize, de::IgnoredAny};
use toml::Spanned;

use crate::{
    Layout, World,
    file::{Access, Contents, Link, Settings, Source},
    gazetteer::canonical,
    geography::Place,
    matrix::{KnownCities, Matrix},
};

impl World {
    /// Reads and checks a world file and all files that it names.
    pub fn read_all(
        document: &mut Document,
        open: impl FnMut(&Path) -> io::Result<String>,
    ) -> Result<(Self, Layout, Vec<String>), Diagnostic> {
        let mut world: Self = document.parse()?;
        let notes = world.gather(document, open)?;
        let layout = world.layout(document)?;
        Ok((world, layout, notes))
    }

    /// Adds the contents of all files that this world names; `open` returns their text. Call it
    /// before [`World::layout`], with the document of the world.
    pub fn gather(
        &mut self,
        document: &mut Document,
        mut open: impl FnMut(&Path) -> io::Result<String>,
    ) -> Result<Vec<String>, Diagnostic> {
        let path = plain(document.path_of(&(0..0)));
        let said = said(document, 0)?;
        let mut inclusion =
            Inclusion { document, open: &mut open, chain: vec![path.clone()], seen: BTreeSet::from([path]) };
        inclusion.add_others(self, said)?;
        self.read_contents(document, &mut open)?;
        let mut notes = self.unused_lines(document);
        notes.extend(self.read_matrix(document, open)?);
        Ok(notes)
    }

    /// Lines of included files are exempt: another world may use them.
    fn unused_lines(&self, document: &Document) -> Vec<String> {
        let hosts = self.hosts.iter().flat_map(|host| &host.access);
        let used: BTreeSet<&str> = hosts
            .chain(self.visitors.iter().flat_map(|visitors| &visitors.access))
            .map(|name| name.get_ref().as_str())
            .collect();
        let first = document.path_of(&(0..0));
        let is_unused = |name: &&Spanned<String>| {
            !used.contains(name.get_ref().as_str()) && document.path_of(&name.span()) == first
        };
        let sentence = |name: &Spanned<String>| {
            let hint = suggestion(name.get_ref(), used.iter().copied());
            let message = format!("no host has the access line \"{}\"{hint}", name.get_ref());
            document.mistake(name.span(), message).to_string()
        };
        self.access.iter().map(|line| &line.own.name).filter(is_unused).map(sentence).collect()
    }

    fn read_contents(
        &mut self,
        document: &Document,
        open: &mut impl FnMut(&Path) -> io::Result<String>,
    ) -> Result<(), Diagnostic> {
        let links = self.links.iter_mut().flat_map(Link::contents);
        for contents in links.chain(self.access.iter_mut().flat_map(Access::contents)) {
            let Contents::File(name) = contents.get_ref() else { continue };
            let path = beside(document, &contents.span(), name);
            let text = open(&path).map_err(|error| unreadable(document, contents.span(), &path, &error))?;
            *contents.get_mut() = Contents::Text { file: path.display().to_string(), text };
        }
        Ok(())
    }

    fn read_matrix(
        &mut self,
        document: &Document,
        mut open: impl FnMut(&Path) -> io::Result<String>,
    ) -> Result<Vec<String>, Diagnostic> {
        let Some(source) = &self.settings.matrix else { return Ok(Vec::new()) };
        let Source::File(name) = source.get_ref() else { return Ok(Vec::new()) };
        let span = source.span();
        let path = beside(document, &span, name);
        let text = open(&path).map_err(|error| unreadable(document, span.clone(), &path, &error))?;
        let matrix = Matrix::parse(&Document::new(path.display().to_string(), text), &self.known_cities())?;
        let notes = matrix.notes.iter().map(|note| format!("{}: {note}", path.display())).collect();
        self.settings.matrix = Some(Spanned::new(span, Source::Pairs(matrix.into_pairs())));
        Ok(notes)
    }

    pub(crate) fn known_cities(&self) -> KnownCities {
        let place = |city: &crate::file::City| {
            Some((city.name.get_ref().clone(), Place { lat: city.lat?, lon: city.lon? }))
        };
        KnownCities::new(self.cities.iter().filter_map(place))
    }
}

struct Inclusion<'d, F> {
    document: &'d mut Document,
    open: &'d mut F,
    chain: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
}

impl<F: FnMut(&Path) -> io::Result<String>> Inclusion<'_, F> {
    /// Includes are inserted before the world's own contents.
    fn add_others(
        &mut self,
        world: &mut World,
        mut said: BTreeSet<String>,
    ) -> Result<BTreeSet<String>, Diagnostic> {
        let mut own =
            std::mem::replace(world, World { settings: world.settings.clone(), ..World::default() });
        for include in std::mem::take(&mut world.settings.include) {
            let path = beside(self.document, &include.span(), include.get_ref());
            self.check_chain(&path, &include)?;
            if !self.seen.insert(path.clone()) {
                continue;
            }
            let (mut other, theirs) = self.read(&path, &include)?;
            world.settings.adopt(std::mem::take(&mut other.settings), &said, &theirs);
            said.extend(theirs);
            world.append(other, self.document)?;
        }
        own.settings = Settings::default();
        world.append(own, self.document)?;
        Ok(said)
    }

    fn read(
        &mut self,
        path: &Path,
        include: &Spanned<String>,
    ) -> Result<(World, BTreeSet<String>), Diagnostic> {
        let text =
            (self.open)(path).map_err(|error| unreadable(self.document, include.span(), path, &error))?;
        if self.seen.len() > MOST_FILES || self.document.bytes() + text.len() as u64 > LARGEST {
            let message = format!(
                "\"{}\" is one too many: {MOST_FILES} files of {LARGEST} bytes in all are the limit",
                include.get_ref()
            );
            return Err(self.document.mistake(include.span(), message));
        }
        let number = self.document.append(path.display().to_string(), text);
        let mut world: World = self.document.parse_file(number)?;
        let said = said(self.document, number)?;
        self.chain.push(path.to_owned());
        let said = self.add_others(&mut world, said)?;
        self.chain.pop();
        Ok((world, said))
    }

    fn check_chain(&self, path: &Path, include: &Spanned<String>) -> Result<(), Diagnostic> {
        let message = if let Some(at) = self.chain.iter().position(|other| other == path) {
            let chain: Vec<_> = self.chain[at..].iter().map(PathBuf::as_path).chain([path]).collect();
            let chain: Vec<_> = chain.iter().map(|path| path.display().to_string()).collect();
            format!("these files include each other: {}", chain.join(", "))
        } else if self.chain.len() > DEEPEST {
            format!("files that include others are {DEEPEST} deep at most")
        } else {
            return Ok(());
        };
        Err(self.document.mistake(include.span(), message))
    }
}

impl World {
    fn append(&mut self, other: Self, document: &Document) -> Result<(), Diagnostic> {
        let both = |kind: &str, theirs: Vec<&Spanned<String>>, ours: Vec<&Spanned<String>>| {
            let key = |name: &Spanned<String>| match kind {
                "city" => canonical(name.get_ref()).to_owned(),
                _ => name.get_ref().clone(),
            };
            let theirs: BTreeMap<_, _> = theirs.into_iter().map(|name| (key(name), name.span())).collect();
            let twice = ours.into_iter().find_map(|name| Some((name, theirs.get(&key(name))?.clone())));
            twice.map_or(Ok(()), |(name, first)| {
                let first = document.place(first);
                let message = format!("{kind} \"{}\" is declared here and at {first}", name.get_ref());
                Err(document.mistake(name.span(), message))
            })
        };
        both(
            "city",
            names(&self.cities, |city| Some(&city.name)),
            names(&other.cities, |city| Some(&city.name)),
        )?;
        both(
            "access line",
            names(&self.access, |line| Some(&line.own.name)),
            names(&other.access, |line| Some(&line.own.name)),
        )?;
        both(
            "host",
            names(&self.hosts, |host| Some(&host.name)),
            names(&other.hosts, |host| Some(&host.name)),
        )?;
        both(
            "anycast prefix",
            names(&self.anycast, |any| any.name.as_ref()),
            names(&other.anycast, |any| any.name.as_ref()),
        )?;
        self.cities.extend(other.cities);
        self.links.extend(other.links);
        self.access.extend(other.access);
        self.hosts.extend(other.hosts);
        self.visitors.extend(other.visitors);
        self.anycast.extend(other.anycast);
        self.faults.extend(other.faults);
        Ok(())
    }
}

fn names<T>(all: &[T], name: impl Fn(&T) -> Option<&Spanned<String>>) -> Vec<&Spanned<String>> {
    all.iter().filter_map(name).collect()
}

impl Settings {
    /// Adopts the settings that only the other file sets. The name is not inherited.
    fn adopt(&mut self, other: Self, said: &BTreeSet<String>, theirs: &BTreeSet<String>) {
        let takes = |key: &str| theirs.contains(key) && !said.contains(key);
        let Self {
            name: _,
            include: _,
            seed,
            inflation,
            access_inflation,
            receive,
            lateness,
            threads,
            matrix,
            sysctl,
        } = other;
        if takes("seed") {
            self.seed = seed;
        }
        if takes("inflation") {
            self.inflation = inflation;
        }
        if takes("access_inflation") {
            self.access_inflation = access_inflation;
        }
        if takes("receive") {
            self.receive = receive;
        }
        if takes("lateness") {
            self.lateness = lateness;
        }
        if takes("threads") {
            self.threads = threads;
        }
        if takes("matrix") {
            self.matrix = matrix;
        }
        for (key, value) in sysctl {
            self.sysctl.entry(key).or_insert(value);
        }
    }
}

fn said(document: &Document, number: usize) -> Result<BTreeSet<String>, Diagnostic> {
    #[derive(Deserialize)]
    struct Keys {
        #[serde(default)]
        world: BTreeMap<String, IgnoredAny>,
    }
    Ok(document.parse_file::<Keys>(number)?.world.into_keys().collect())
}

fn beside(document: &Document, span: &Range<usize>, name: &str) -> PathBuf {
    plain(&document.path_of(span).parent().unwrap_or(Path::new("")).join(name))
}

/// Lexically, so that a file has a unique path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

fn unreadable(document: &Document, span: Range<usize>, path: &Path, error: &io::Error) -> Diagnostic {
    document.mistake(span, format!("{} cannot be read: {error}", path.display()))
}

const DEEPEST: usize = 16;

const MOST_FILES: usize = 100;

#[cfg(test)]
mod tests;
