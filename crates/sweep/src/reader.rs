//! How the reader of a cell reads: a programme of `longhaul tcp oscil`.

use std::path::Path;

use traffic::oscil::Programme;

/// A programme, and how a command line calls it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// What it is called: as one that comes along, or as its file without the folder and ".toml".
    pub name: String,
    /// What `longhaul tcp oscil read --programme` is given: a name that comes along, or the full path of a file.
    pub argument: String,
    /// What the reader does.
    pub programme: Programme,
}

impl Reader {
    /// One that comes along, or a file relative to `folder`.
    pub fn find(text: &str, folder: &Path) -> Result<Self, traffic::Error> {
        let path = folder.join(text);
        let is_shipped = Programme::text(text).is_some() || !path.exists();
        if is_shipped {
            let programme = Programme::find(text)?;
            return Ok(Self { name: text.to_owned(), argument: text.to_owned(), programme });
        }
        let path = path.canonicalize().unwrap_or(path);
        let argument = path.to_string_lossy().into_owned();
        let programme = Programme::find(&argument)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, argument, programme })
    }
}

impl Default for Reader {
    /// The first of those that come along.
    fn default() -> Self {
        let name = Programme::shipped().next().expect("some programmes come along");
        Self::find(name, Path::new("")).expect("those that come along have no mistake")
    }
}
