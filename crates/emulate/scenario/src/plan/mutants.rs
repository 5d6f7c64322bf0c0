//! Mutants: variants of a scenario without the property under test, and the claims that must fail
//! in them. A claim that also holds in a mutant proves nothing.

use std::path::{Component, Path, PathBuf};

use claim::Claim;
use config_file::{Diagnostic, Document, suggestion};

use crate::file;

/// A variant of a scenario without the property under test.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// A description of the removed property.
    pub without: String,
    /// The texts of the claims that must fail.
    pub fails: Vec<String>,
    /// The substitutions.
    pub changes: Vec<Change>,
}

/// A text substitution.
#[derive(Debug, Clone)]
pub struct Change {
    /// The file, relative to the scenario's folder; `None` for the scenario file.
    pub file: Option<PathBuf>,
    /// The text to replace, at each occurrence.
    pub from: String,
    /// The replacement.
    pub to: String,
}

/// A mutant must name claims of its scenario and change something.
pub(super) fn check(
    mutant: file::Mutant,
    claims: &[Claim],
    document: &Document,
) -> Result<Mutant, Diagnostic> {
    let texts = || claims.iter().map(|claim| claim.text.as_str());
    if mutant.fails.get_ref().is_empty() {
        return Err(document.mistake(mutant.fails.span(), "expected at least one claim that must fail"));
    }
    for name in mutant.fails.get_ref() {
        let message = match texts().filter(|text| text == name.get_ref()).count() {
            0 => format!("no claim says \"{}\"{}", name.get_ref(), suggestion(name.get_ref(), texts())),
            1 => continue,
            _ => format!("several claims have the text \"{}\"; give each a different text", name.get_ref()),
        };
        return Err(document.mistake(name.span(), message));
    }
    if mutant.change.get_ref().is_empty() {
        return Err(document.mistake(mutant.change.span(), "expected at least one change"));
    }
    let changes = mutant.change.into_inner().into_iter().map(|written| change(written, document));
    Ok(Mutant {
        without: mutant.without,
        fails: mutant.fails.into_inner().into_iter().map(toml::Spanned::into_inner).collect(),
        changes: changes.collect::<Result<_, _>>()?,
    })
}

fn change(change: file::Change, document: &Document) -> Result<Change, Diagnostic> {
    if let Some(file) = change.file.as_ref().filter(|file| !is_beside(file.get_ref())) {
        let message = format!(
            "{} is not in the scenario's folder; expected a relative path, such as networks/tiers.toml",
            file.get_ref().display()
        );
        return Err(document.mistake(file.span(), message));
    }
    if change.from.get_ref().is_empty() {
        return Err(document.mistake(change.from.span(), "expected the text that is replaced"));
    }
    let file = change.file.map(toml::Spanned::into_inner);
    Ok(Change { file, from: change.from.into_inner(), to: change.to })
}

fn is_beside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}
