//! A file with the state of a stream, so that lost messages are detected after a restart.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use twox_hash::XxHash3_64;

use crate::loss::StreamState;

#[derive(Debug)]
pub(crate) struct StateFile {
    path: Option<PathBuf>,
    written: Mutex<Option<Written>>,
}

#[derive(Debug)]
struct Written {
    state: StreamState,
    at: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Before {
    Unknown,
    Seen(StreamState),
    Damaged(String),
}

impl StateFile {
    /// Without a directory there is no file. Blocks.
    pub(crate) fn open(directory: Option<&Path>, stream: &str) -> (Self, Before) {
        let path = directory.map(|directory| directory.join(format!("{stream}.json")));
        let before = path.as_deref().map_or(Before::Unknown, read);
        let written = match &before {
            Before::Seen(state) => Some(Written { state: state.clone(), at: None }),
            Before::Unknown | Before::Damaged(_) => None,
        };
        (Self { path, written: Mutex::new(written) }, before)
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    pub(crate) fn write(&self, state: &StreamState, every: Duration) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut written = self.written();
        let now = Instant::now();
        if let Some(Written { state: before, at }) = &*written
            && before.created == state.created
            && (before == state || at.is_some_and(|at| now.duration_since(at) < every))
        {
            return Ok(());
        }
        let line = serde_json::to_string(state)?;
        let text = format!("{line}\n{:016x}\n", XxHash3_64::oneshot(line.as_bytes()));
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        *written = Some(Written { state: state.clone(), at: Some(now) });
        Ok(())
    }

    fn written(&self) -> MutexGuard<'_, Option<Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(path: &Path) -> Before {
    let damaged = |why: &str| Before::Damaged(format!("{}: {why}", path.display()));
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Before::Unknown,
        Err(why) => return damaged(&why.to_string()),
    };
    let Some((line, sum)) =
        std::str::from_utf8(&text).ok().and_then(|text| text.strip_suffix('\n')?.split_once('\n'))
    else {
        return damaged("it does not describe a stream");
    };
    if sum != format!("{:016x}", XxHash3_64::oneshot(line.as_bytes())) {
        return damaged("its checksum does not match");
    }
    serde_json::from_str(line).map_or_else(|why| damaged(&why.to_string()), Before::Seen)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_written_state_is_read_and_every_flipped_bit_is_noticed() {
        let folder = TempDir::new().unwrap();
        let directory = folder.path().join("nats");
        let open = || StateFile::open(Some(&directory), "S");
        let (file, before) = open();
        assert_eq!(before, Before::Unknown);
        let state =
            StreamState { created: "2026-01-02T03:04:05.000000006Z".into(), last_sequence: 9, keys: Some(3) };
        file.write(&state, Duration::ZERO).unwrap();
        assert_eq!(open().1, Before::Seen(state));
        let path = directory.join("S.json");
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &changed).unwrap();
            assert!(matches!(open().1, Before::Damaged(_)), "bit {bit}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(open().1, Before::Damaged(_)), "{length} bytes");
        }
    }

    #[test]
    fn without_a_directory_nothing_is_kept() {
        let (file, before) = StateFile::open(None, "S");
        file.write(&StreamState { created: "a".into(), last_sequence: 9, keys: None }, Duration::ZERO)
            .unwrap();
        assert_eq!((before, file.is_kept()), (Before::Unknown, false));
    }
}
