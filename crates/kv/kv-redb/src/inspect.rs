//! Inspects a file that is not in use: finds its readable and its damaged contents.

use std::{collections::BTreeSet, ops::Bound, path::Path, sync::Arc};

use kv::{Content, Record};
use redb::{ReadTransaction, StorageBackend as _};

use crate::{
    Error, Found,
    blocks::{BLOCK, BLOCK_BYTES, Blocks},
    damage::{Unwound, catch},
    file::File,
    layout::{HEADS, Head},
    leaf,
    read::{found, head},
    store::REMEDY,
};

/// The contents of a file, intact and damaged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The number of keys with a readable value.
    pub keys: u64,
    /// The total size of these values in bytes.
    pub bytes: u64,
    /// The number of tombstones.
    pub deleted: u64,
    /// Unreadable keys, as `namespace/key`; at most 1000.
    pub damaged: Vec<String>,
    /// The number of unreadable keys.
    pub damaged_keys: u64,
    /// The number of readable keys in a damaged page that may be older than the last write.
    pub doubtful_keys: u64,
    /// Pairs of keys between which others may be lost; `None` is the start or the end.
    pub gaps: Vec<(Option<String>, Option<String>)>,
    /// The number of 4 KiB blocks that do not match their checksums, in use or not.
    pub damaged_blocks: u64,
    /// The number of 4 KiB blocks in the file.
    pub blocks: u64,
}

impl Inspection {
    /// Whether everything is readable.
    pub fn is_intact(&self) -> bool {
        self.damaged_keys == 0 && self.doubtful_keys == 0 && self.gaps.is_empty()
    }
}

/// Reads a whole file without changing it. `progress` is called with the number of verified blocks,
/// and of all blocks.
///
/// # Errors
/// When the file is in use, from a newer program, or unreadable.
pub fn inspect(path: &Path, progress: impl FnMut(u64, u64)) -> Result<Inspection, Error> {
    let file = Arc::new(File::read_only(path, REMEDY)?);
    let view = file.catch(|| file.begin_read())?;
    let mut survey = Survey::new(Arc::clone(&file));
    survey.walk(&view, &mut |_, _| Ok(()))?;
    let mut inspection = survey.inspection;
    (inspection.damaged_blocks, inspection.blocks) = verify_blocks(&file, progress)?;
    Ok(inspection)
}

fn verify_blocks(file: &File, mut progress: impl FnMut(u64, u64)) -> Result<(u64, u64), Error> {
    let blocks = file.blocks()?;
    let length = blocks.len().map_err(|error| file.failed("read", error))?;
    let mut damaged = 0;
    for offset in (0..length).step_by(BLOCK_BYTES) {
        if matches!(page(file, &blocks, offset)?, Err(Unwound::Page(_))) {
            damaged += 1;
        }
        if (offset / BLOCK).is_multiple_of(4096) {
            progress(offset / BLOCK, length / BLOCK);
        }
    }
    Ok((damaged, length / BLOCK))
}

fn page(file: &File, blocks: &Blocks, offset: u64) -> Result<Result<Vec<u8>, Unwound>, Error> {
    let mut bytes = vec![0; BLOCK_BYTES];
    let read = catch(|| blocks.read(offset, &mut bytes));
    Ok(match read {
        Ok(read) => read.map(|()| Ok(bytes)).map_err(|error| file.failed("read", error))?,
        Err(unwound) => Err(unwound),
    })
}

pub(crate) type Each<'e> = dyn FnMut(&str, Found) -> Result<(), Error> + 'e;

pub(crate) struct Survey {
    file: Arc<File>,
    last: Option<Vec<u8>>,
    /// The offset of the last damaged page whose intact keys were read.
    passed: Option<u64>,
    /// Of current and former records anywhere in the file; collected when the first damaged page is
    /// found.
    candidates: Option<BTreeSet<Vec<u8>>>,
    pub(crate) inspection: Inspection,
}

impl Survey {
    pub(crate) fn new(file: Arc<File>) -> Self {
        Self { file, last: None, passed: None, candidates: None, inspection: Inspection::default() }
    }

    pub(crate) fn view(&self) -> Result<ReadTransaction, Error> {
        self.file.catch(|| self.file.begin_read())
    }

    pub(crate) fn walk(&mut self, view: &ReadTransaction, each: &mut Each<'_>) -> Result<(), Error> {
        while self.step(view, AT_ONCE, each)? {}
        Ok(())
    }

    /// Returns whether there are more.
    pub(crate) fn step(
        &mut self,
        view: &ReadTransaction,
        most: usize,
        each: &mut Each<'_>,
    ) -> Result<bool, Error> {
        let mut heads = Vec::new();
        let read = self.next_heads(view, most, &mut heads);
        for (key, head) in heads {
            self.take(view, &key, head, each)?;
        }
        match read {
            Ok(read) => read,
            Err(unwound) => self.pass(view, &unwound, each),
        }
    }

    fn next_heads(
        &self,
        view: &ReadTransaction,
        most: usize,
        found: &mut Vec<(Vec<u8>, Result<Head, Error>)>,
    ) -> Result<Result<bool, Error>, Unwound> {
        let failed = |error: redb::Error| self.file.failed("read", error);
        catch(|| {
            let heads = view.open_table(HEADS).map_err(|error| failed(error.into()))?;
            let start = self.last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let range =
                heads.range::<&[u8]>((start, Bound::Unbounded)).map_err(|error| failed(error.into()))?;
            for entry in range {
                if found.len() == most {
                    return Ok(true);
                }
                let (key, bytes) = entry.map_err(|error| failed(error.into()))?;
                let head = Head::decode(key.value(), bytes.value()).map_err(|why| self.file.damaged(why));
                found.push((key.value().to_vec(), head));
            }
            Ok(false)
        })
    }

    fn take(
        &mut self,
        view: &ReadTransaction,
        key: &[u8],
        head: Result<Head, Error>,
        each: &mut Each<'_>,
    ) -> Result<(), Error> {
        self.last = Some(key.to_vec());
        let whole = head.and_then(|head| {
            let found = found(&self.file, view, head)?;
            let mut again = found.value.clone();
            while again.piece()?.is_some() {}
            Ok(found)
        });
        match (whole, std::str::from_utf8(key)) {
            (Ok(found), Ok(name)) => {
                let Record { content, .. } = &found.record;
                match content {
                    Content::Value(about) => {
                        self.inspection.keys += 1;
                        self.inspection.bytes += about.bytes;
                    }
                    Content::Deleted { .. } => self.inspection.deleted += 1,
                }
                each(name, found)
            }
            (Err(Error::Damaged { .. }), _) | (Ok(_), Err(_)) => {
                self.damaged(key);
                Ok(())
            }
            (Err(error), _) => Err(error),
        }
    }

    fn damaged(&mut self, key: &[u8]) {
        self.inspection.damaged_keys += 1;
        if self.inspection.damaged.len() < MOST_NAMED {
            self.inspection.damaged.push(readable(key));
        }
    }

    /// Returns whether keys follow.
    fn pass(
        &mut self,
        view: &ReadTransaction,
        unwound: &Unwound,
        each: &mut Each<'_>,
    ) -> Result<bool, Error> {
        if let Unwound::Page(page) = unwound
            && self.passed != Some(page.offset)
        {
            let heads = leaf::heads(&page.bytes);
            let is_doubtful = heads.damaged.is_empty();
            if !heads.intact.is_empty() {
                self.passed = Some(page.offset);
            }
            for key in heads.damaged {
                self.damaged(key);
            }
            for (key, head) in heads.intact {
                if self.last.as_deref().is_none_or(|last| last < key) {
                    self.inspection.doubtful_keys += u64::from(is_doubtful);
                    self.take(view, key, Ok(head), each)?;
                }
            }
        }
        self.candidates()?;
        let mut gap = self.last.clone();
        loop {
            let start = gap.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.candidates.iter().flatten();
            let mut next =
                next.skip_while(|key| matches!(start, Bound::Excluded(last) if key.as_slice() <= last));
            let Some(next) = next.next().cloned() else {
                if !self.is_next(view, None) {
                    self.gap(None);
                }
                return Ok(false);
            };
            match head(&self.file, view, &next) {
                Ok(Some(head)) => {
                    if !self.is_next(view, Some(&next)) {
                        self.gap(Some(&next));
                    }
                    self.take(view, &next, Ok(head), each)?;
                    return Ok(true);
                }
                Ok(None) | Err(Error::Damaged { .. }) => gap = Some(next),
                Err(error) => return Err(error),
            }
        }
    }

    fn is_next(&self, view: &ReadTransaction, key: Option<&[u8]>) -> bool {
        let end = key.map_or(Bound::Unbounded, Bound::Excluded);
        let before = catch(|| {
            let heads = view.open_table(HEADS).ok()?;
            let (before, _) = heads.range::<&[u8]>((Bound::Unbounded, end)).ok()?.next_back()?.ok()?;
            Some(before.value().to_vec())
        });
        match before {
            Ok(before) => before == self.last,
            Err(Unwound::Page(page)) => self.passed == Some(page.offset),
            Err(Unwound::Contradiction) => false,
        }
    }

    fn gap(&mut self, until: Option<&[u8]>) {
        let after = self.last.as_deref().map(readable);
        self.inspection.gaps.push((after, until.map(readable)));
    }

    fn candidates(&mut self) -> Result<(), Error> {
        if self.candidates.is_some() {
            return Ok(());
        }
        let blocks = self.file.blocks()?;
        let length = blocks.len().map_err(|error| self.file.failed("read", error))?;
        let mut keys = BTreeSet::new();
        for offset in (BLOCK..length).step_by(BLOCK_BYTES) {
            let bytes = match page(&self.file, &blocks, offset)? {
                Ok(bytes) => bytes,
                Err(Unwound::Page(page)) => page.bytes,
                Err(Unwound::Contradiction) => continue,
            };
            keys.extend(leaf::heads(&bytes).intact.into_iter().map(|(key, _)| key.to_vec()));
        }
        self.candidates = Some(keys);
        Ok(())
    }
}

fn readable(key: &[u8]) -> String {
    String::from_utf8_lossy(key).replacen('\0', "/", 1)
}

const AT_ONCE: usize = 1000;
const MOST_NAMED: usize = 1000;
