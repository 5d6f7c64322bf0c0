//! Writes the output of a process to a file of bounded size: the beginning and the end, with a note
//! about the omitted part.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, PipeReader, PipeWriter, Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use claim::Doubt;
use units::{Bytes, show};

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Ends(Bytes),
    /// Only the beginning, for data that is useless unless complete.
    Whole(Bytes),
}

impl Keep {
    fn limit(self) -> u64 {
        let (Self::Ends(limit) | Self::Whole(limit)) = self;
        limit.0
    }

    fn head(self) -> u64 {
        match self {
            Self::Ends(limit) => limit.0 / 2,
            Self::Whole(limit) => limit.0,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Output {
    shared: Arc<Shared>,
    path: PathBuf,
    keep: Keep,
}

#[derive(Debug)]
struct Shared {
    store: Mutex<Store>,
    ended: Condvar,
}

#[derive(Debug)]
struct Store {
    file: File,
    keep: Keep,
    came: u64,
    tail: VecDeque<u8>,
    has_ended: bool,
    failed: Option<io::ErrorKind>,
}

impl Output {
    pub(crate) fn create(path: &Path, keep: Keep) -> Result<(Self, PipeReader, PipeWriter), Error> {
        let failed = |source| Error::Access { path: path.to_owned(), source };
        let file = File::create(path).map_err(failed)?;
        let (reader, writer) = io::pipe().map_err(failed)?;
        let store = Store { file, keep, came: 0, tail: VecDeque::new(), has_ended: false, failed: None };
        let shared = Arc::new(Shared { store: Mutex::new(store), ended: Condvar::new() });
        Ok((Self { shared, path: path.to_owned(), keep }, reader, writer))
    }

    pub(crate) fn listen(&self, mut pipe: PipeReader) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        thread::Builder::new().name("output".to_owned()).stack_size(STACK).spawn(move || {
            let mut buffer = vec![0; BUFFER];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => shared.store().take(&buffer[..read]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            shared.end();
        })?;
        Ok(())
    }

    pub(crate) fn is_too_much(&self) -> bool {
        matches!(self.keep, Keep::Whole(_)) && self.shared.store().came > self.keep.limit()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn limit(&self) -> Bytes {
        Bytes(self.keep.limit())
    }

    pub(crate) fn end(&self, most: usize) -> Vec<u8> {
        drop(self.wait(SOON));
        let mut bytes = std::fs::read(&self.path).unwrap_or_default();
        let store = self.shared.store();
        if !store.has_ended {
            bytes.extend(&store.tail);
        }
        drop(store);
        bytes.split_off(bytes.len().saturating_sub(most))
    }

    pub(crate) fn conclude(&self, name: &str) -> Option<Doubt> {
        let (store, name) = (self.wait(AT_LAST), name.to_owned());
        if let Some(kind) = store.failed {
            return Some(Doubt::OutputLost { name, why: kind.to_string() });
        }
        let limit = self.keep.limit();
        (store.came > limit).then(|| {
            let (came, kept) = (show::bytes(store.came), show::bytes(limit / 2));
            Doubt::OutputCut { name, came, kept }
        })
    }

    fn wait(&self, most: Duration) -> MutexGuard<'_, Store> {
        let waited =
            self.shared.ended.wait_timeout_while(self.shared.store(), most, |store| !store.has_ended);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Shared {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.store().finish();
        self.ended.notify_all();
    }
}

impl Store {
    fn take(&mut self, mut bytes: &[u8]) {
        let room = self.keep.head().saturating_sub(self.came);
        self.came += bytes.len() as u64;
        if room > 0 {
            let (head, rest) = bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
            self.write(head);
            bytes = rest;
        }
        let Keep::Ends(limit) = self.keep else { return };
        let most = usize::try_from(limit.0 - self.keep.head()).unwrap_or(usize::MAX);
        let bytes = &bytes[bytes.len().saturating_sub(most)..];
        let old = (self.tail.len() + bytes.len()).saturating_sub(most);
        self.tail.drain(..old);
        self.tail.extend(bytes);
    }

    fn finish(&mut self) {
        let kept = self.keep.head() + self.tail.len() as u64;
        if matches!(self.keep, Keep::Ends(_)) && self.came > kept {
            let note = format!("\n[{} are left out here]\n", show::bytes(self.came - kept));
            self.write(note.as_bytes());
        }
        let tail = std::mem::take(&mut self.tail);
        let (first, second) = tail.as_slices();
        self.write(first);
        self.write(second);
        self.has_ended = true;
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(bytes).err().map(|error| error.kind());
        }
    }
}

const BUFFER: usize = 64 * 1024;

const STACK: usize = 128 * 1024;

/// For the reader thread to drain the pipe of an ended process. A child of the process may hold the
/// pipe open until the planet stops.
const SOON: Duration = Duration::from_millis(200);

/// All writers have ended, so this is time for the disk.
const AT_LAST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(keep: Keep, writes: &str) -> (String, Option<String>, bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let (kept, reader, mut writer) = Output::create(&path, keep).unwrap();
        kept.listen(reader).unwrap();
        for text in writes.split('|') {
            writer.write_all(text.as_bytes()).unwrap();
        }
        drop(writer);
        let said = kept.conclude("x.log").map(|doubt| doubt.to_string());
        (std::fs::read_to_string(&path).unwrap(), said, kept.is_too_much())
    }

    #[test]
    fn what_is_within_the_limit_is_whole() {
        let ends = Keep::Ends(Bytes(8));
        for writes in ["ab", "abcd|ef", "abcdefgh", ""] {
            assert_eq!(kept(ends, writes), (writes.replace('|', ""), None, false));
        }
    }

    #[test]
    fn beyond_it_beginning_and_end_are_kept_and_the_rest_is_counted() {
        for writes in ["abcdefghijklmn", "abc|def|ghijk|l|m|n", "abcd|efghijklmn"] {
            let (text, said, _) = kept(Keep::Ends(Bytes(8)), writes);
            assert_eq!(text, "abcd\n[6 B are left out here]\nklmn");
            assert_eq!(
                said.as_deref(),
                Some("x.log: of 14 B of output the first and the last 4 B are kept.")
            );
        }
    }

    #[test]
    fn what_must_be_whole_is_refused_when_it_is_too_much() {
        let whole = Keep::Whole(Bytes(4));
        assert_eq!(kept(whole, "abcd"), ("abcd".to_owned(), None, false));
        let (text, _, is_too_much) = kept(whole, "abc|defgh");
        assert_eq!((text.as_str(), is_too_much), ("abcd", true));
    }

    #[test]
    fn the_end_is_there_while_the_output_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, reader, mut writer) =
            Output::create(&folder.path().join("x"), Keep::Ends(Bytes(8))).unwrap();
        kept.listen(reader).unwrap();
        writer.write_all(b"abcdefghijklmn").unwrap();
        while kept.shared.store().came < 14 {
            thread::yield_now();
        }
        assert_eq!(kept.end(6), b"cdklmn");
        drop(writer);
        assert!(kept.conclude("x").is_some());
        assert_eq!(kept.end(4), b"klmn");
    }

    #[test]
    fn memory_is_bounded_whatever_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let (kept, reader, mut writer) = Output::create(&path, Keep::Ends(Bytes(1_000_000))).unwrap();
        kept.listen(reader).unwrap();
        for _ in 0..1000 {
            writer.write_all(&[b'x'; 100_000]).unwrap();
            assert!(kept.shared.store().tail.capacity() <= 1_100_000);
        }
        drop(writer);
        assert!(kept.conclude("x").unwrap().to_string().starts_with("x: of 100 MB of output"));
        assert!(path.metadata().unwrap().len() < 1_000_100);
    }
}
