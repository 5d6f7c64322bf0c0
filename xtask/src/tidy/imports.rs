//! The import graph of a crate's files: every path in a `use` or in the code, followed through re-exports to
//! the file that contains the item.
//!
//! Ignores tests (`#[cfg(test)]`), comments, strings and visibilities. Not detected: uses without a path,
//! such as method calls, and code that a macro generates.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Uses between two files, with the path in the code.
pub(crate) type Uses = BTreeMap<(usize, usize), String>;

/// The modules of a crate.
pub(crate) struct Crate {
    /// File paths, as given by the caller.
    pub(crate) files: Vec<PathBuf>,
    /// The module of each file: "a/b.rs" is a, b; the root is empty.
    places: Vec<Vec<String>>,
    modules: Vec<Module>,
    by_place: HashMap<Vec<String>, usize>,
}

/// A file or an inline module.
#[derive(Default)]
struct Module {
    place: Vec<String>,
    file: usize,
    /// Names that imports define here, and their paths.
    names: BTreeMap<String, Vec<Vec<String>>>,
    /// Modules with glob imports.
    globs: Vec<Vec<String>>,
    items: HashSet<String>,
    /// Paths in the code.
    paths: BTreeSet<Vec<String>>,
}

/// The result of a path.
#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// An item in this file.
    Item(usize),
}

impl Crate {
    /// Paths are relative to the folder of the root: "lib.rs", "a.rs", "a/b.rs". Test files may be included:
    /// only tests import them.
    pub(crate) fn new<'t>(files: impl IntoIterator<Item = (&'t Path, &'t str)>) -> anyhow::Result<Self> {
        let mut all =
            Self { files: Vec::new(), places: Vec::new(), modules: Vec::new(), by_place: HashMap::new() };
        for (path, text) in files {
            let place = place(path);
            let wrong = |error| anyhow!("{}: {error}", path.display());
            let tokens = text.parse::<TokenStream>().map_err(wrong)?;
            let file = all.files.len();
            all.files.push(path.to_owned());
            all.places.push(place.clone());
            all.add(Module { place, file, ..Module::default() }, tokens);
        }
        Ok(all)
    }

    /// All uses. A module and its submodules may use each other, which is not counted: a parent re-exports
    /// items of its children, and they share its declarations.
    pub(crate) fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (index, module) in self.modules.iter().enumerate() {
            let imported = module.names.values().flatten();
            for path in imported.chain(&module.paths) {
                if let Some(Target::Item(to)) = self.follow(index, path, DEEPEST) {
                    self.note(&mut uses, module.file, to, path);
                }
            }
            for path in &module.globs {
                if let Some(Target::Module(of)) = self.follow(index, path, DEEPEST) {
                    self.note(&mut uses, module.file, self.modules[of].file, path);
                }
            }
        }
        uses
    }

    /// Paths of the standard library and of other crates, if written out.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = (&Path, String)> {
        self.modules.iter().flat_map(|module| {
            let imported = module.names.values().flatten();
            imported.chain(&module.paths).map(|path| (self.files[module.file].as_path(), path.join("::")))
        })
    }

    fn note(&self, uses: &mut Uses, from: usize, to: usize, path: &[String]) {
        let (a, b) = (&self.places[from], &self.places[to]);
        if !a.starts_with(b) && !b.starts_with(a) {
            uses.entry((from, to)).or_insert_with(|| path.join("::"));
        }
    }

    fn add(&mut self, module: Module, tokens: TokenStream) {
        let (place, file, index) = (module.place.clone(), module.file, self.modules.len());
        self.by_place.insert(place.clone(), index);
        self.modules.push(module);
        let mut reader = Reader { module: &mut self.modules[index], inner: Vec::new() };
        reader.read(tokens, Level::Module);
        for (name, tokens) in reader.inner {
            let place = [place.clone(), vec![name]].concat();
            self.add(Module { place, file, ..Module::default() }, tokens);
        }
    }

    /// The target of a path in a module; `None` if it is outside the crate.
    fn follow(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        let depth = depth.checked_sub(1)?;
        let mut place = self.modules[from].place.clone();
        let mut rest = path;
        let mut at = match path.first()?.as_str() {
            "crate" => {
                rest = &rest[1..];
                Target::Module(*self.by_place.get(&Vec::new())?)
            }
            "self" | "super" => {
                while let Some((first, more)) = rest.split_first() {
                    match first.as_str() {
                        "self" => {}
                        "super" => drop(place.pop()?),
                        _ => break,
                    }
                    rest = more;
                }
                Target::Module(*self.by_place.get(&place)?)
            }
            name => {
                rest = &rest[1..];
                self.find(from, name, depth)?
            }
        };
        for name in rest {
            match at {
                // A variant, a constant or a function of a type belongs to the file of the type.
                Target::Item(_) => break,
                Target::Module(module) => {
                    // An item that a macro defines is attributed to the file of the module.
                    at = self.find(module, name, depth).unwrap_or(Target::Item(self.modules[module].file));
                }
            }
        }
        Some(at)
    }

    /// The target of a name in a module.
    fn find(&self, module: usize, name: &str, depth: usize) -> Option<Target> {
        let Module { place, file, names, globs, items, .. } = &self.modules[module];
        let inside = [place.as_slice(), &[name.to_owned()]].concat();
        if let Some(&child) = self.by_place.get(&inside) {
            return Some(Target::Module(child));
        }
        if items.contains(name) {
            return Some(Target::Item(*file));
        }
        let mut imported = names.get(name).into_iter().flatten();
        if let Some(found) = imported.find_map(|path| self.follow(module, path, depth)) {
            return Some(found);
        }
        globs.iter().find_map(|path| match self.follow(module, path, depth)? {
            Target::Module(other) if other != module && depth > 0 => self.find(other, name, depth - 1),
            _ => None,
        })
    }
}

/// Reads tokens into a module.
struct Reader<'m> {
    module: &'m mut Module,
    /// Inline modules of the file.
    inner: Vec<(String, TokenStream)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Module,
    Item,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream, level: Level) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.step(&tokens, at, level);
        }
    }

    /// Reads one element from the tokens; returns the index of the next.
    fn step(&mut self, tokens: &[TokenTree], at: usize, level: Level) -> usize {
        let word = word(tokens.get(at));
        match (word.as_deref(), tokens.get(at), tokens.get(at + 1)) {
            (_, Some(TokenTree::Punct(hash)), Some(TokenTree::Group(attribute))) if hash.as_char() == '#' => {
                if is_for_tests(attribute) {
                    end_of_item(tokens, at + 2)
                } else {
                    at + 2
                }
            }
            // A lifetime, which may be called static.
            (_, Some(TokenTree::Punct(quote)), _) if quote.as_char() == '\'' => at + 2,
            // The path in `pub(in path)` is not a use.
            (Some("pub"), _, Some(TokenTree::Group(place)))
                if place.delimiter() == Delimiter::Parenthesis =>
            {
                at + 2
            }
            (Some("use"), ..) => {
                let end = tokens.iter().skip(at).position(is(';')).map_or(tokens.len(), |length| at + length);
                self.import(&tokens[at + 1..end], &[]);
                end + 1
            }
            (Some("mod"), ..) if level == Level::Module => {
                if let (Some(name), Some(TokenTree::Group(inside))) =
                    (self::word(tokens.get(at + 1)), tokens.get(at + 2))
                {
                    self.inner.push((name, inside.stream()));
                    return at + 3;
                }
                at + 2
            }
            (Some(kind), ..) if level == Level::Module && KINDS.contains(&kind) => {
                self.module.items.extend(self::word(tokens.get(at + 1)));
                at + 1
            }
            (Some(_), ..) => self.path(tokens, at),
            (None, Some(TokenTree::Group(group)), _) => {
                self.read(group.stream(), Level::Item);
                at + 1
            }
            // A path that starts with `::` belongs to `<...>` or to another crate.
            _ if is_double_colon(tokens, at) && self::word(tokens.get(at + 2)).is_some() => {
                skip_path(tokens, at + 2)
            }
            _ => at + 1,
        }
    }

    fn path(&mut self, tokens: &[TokenTree], start: usize) -> usize {
        let mut at = start;
        let mut path: Vec<_> = word(tokens.get(at)).into_iter().collect();
        while is_double_colon(tokens, at + 1) {
            let Some(next) = word(tokens.get(at + 3)) else { break };
            path.push(next);
            at += 3;
        }
        if path.len() > 1 {
            self.module.paths.insert(path);
        }
        at + 1
    }

    /// Reads the tree of a `use` after a prefix.
    fn import(&mut self, tokens: &[TokenTree], prefix: &[String]) {
        let mut path = prefix.to_vec();
        let mut at = 0;
        if is_double_colon(tokens, 0) {
            // Another crate, even if a module has the same name.
            return;
        }
        while let Some(name) = word(tokens.get(at)) {
            path.push(name);
            if !is_double_colon(tokens, at + 1) {
                break;
            }
            at += 3;
        }
        match tokens.get(at) {
            Some(TokenTree::Group(group)) => {
                let inside: Vec<_> = group.stream().into_iter().collect();
                for tree in inside.split(is(',')) {
                    self.import(tree, &path);
                }
            }
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => self.module.globs.push(path),
            _ => {
                if path.len() > prefix.len() && path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let renamed =
                    word(tokens.get(at + 1)).filter(|word| word == "as").and(word(tokens.get(at + 2)));
                if let Some(name) = renamed.or_else(|| path.last().cloned()) {
                    self.module.names.entry(name).or_default().push(path);
                }
            }
        }
    }
}

/// The index after a path.
fn skip_path(tokens: &[TokenTree], mut at: usize) -> usize {
    while is_double_colon(tokens, at + 1) && word(tokens.get(at + 3)).is_some() {
        at += 3;
    }
    at + 1
}

/// The module path of a file.
fn place(path: &Path) -> Vec<String> {
    let name = path.with_extension("");
    let parts = name.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<_> = parts.collect();
    if ["lib", "main"].map(|root| vec![root.to_owned()]).contains(&parts) { Vec::new() } else { parts }
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(word)) => {
            let word = word.to_string();
            Some(word.strip_prefix("r#").map(str::to_owned).unwrap_or(word))
        }
        _ => None,
    }
}

fn is(sign: char) -> impl Fn(&TokenTree) -> bool {
    move |token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_double_colon(tokens: &[TokenTree], at: usize) -> bool {
    let is_colon = |at: usize| tokens.get(at).is_some_and(is(':'));
    is_colon(at) && is_colon(at + 1)
}

/// Matches `#[cfg(test)]`, and `all(...)` with `test` as first condition.
fn is_for_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The index after the item that starts here: after its braces or its semicolon.
fn end_of_item(tokens: &[TokenTree], start: usize) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        other => is(';')(other),
    };
    tokens.iter().skip(start).position(is_end).map_or(tokens.len(), |length| start + length + 1)
}

/// Keywords before the name of an item.
const KINDS: [&str; 8] = ["struct", "enum", "union", "trait", "type", "const", "static", "fn"];

/// Maximum depth of re-exports of re-exports; cycles of re-exports do not compile.
const DEEPEST: usize = 16;

#[cfg(test)]
mod tests;
