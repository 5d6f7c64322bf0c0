//! The reader of a cell: a programme of `longhaul tcp oscil`.

use std::path::Path;

use trafficgen::slow_reader::Programme;

/// A programme and its command-line argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// Name of the built-in programme, or of its file without folder and ".toml".
    pub name: String,
    /// Argument of `longhaul tcp oscil read --programme`.
    pub argument: String,
    /// The phases of the reader.
    pub programme: Programme,
}

impl Reader {
    /// Finds a built-in programme, or reads a file relative to `folder`.
    pub fn find(text: &str, folder: &Path) -> Result<Self, trafficgen::Error> {
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
    fn default() -> Self {
        let name = Programme::shipped().next().expect("some programmes come along");
        Self::find(name, Path::new("")).expect("those that come along have no mistake")
    }
}
