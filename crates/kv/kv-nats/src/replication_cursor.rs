//! The replication mark of a paired store: the sequence number up to which the other store has all
//! messages, and whether the other store may have keys that this store never received.
//!
//! The mark is a message in the same stream, so that it is restored together with the data. After a
//! start, all messages after the mark are sent to the other store.

use std::sync::atomic::Ordering::SeqCst;

use crate::{
    Error,
    connection::Since,
    layout::Mark,
    publish::{Attempt, last, send},
    state::{Ready, SharedState},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorState {
    /// Only back: the other store lacks a message before it.
    Back,
    Forward,
}

impl SharedState {
    /// Records durably, before the stream is used, that an empty or incomplete stream may lack keys
    /// of the other store.
    pub(crate) async fn begin(&self, ready: &Ready, is_empty: bool, since: Since) -> Result<(), Error> {
        let Some(subject) = &self.mark_subject else {
            self.start_anew(None);
            return Ok(());
        };
        let found = read(ready, subject).await?;
        let mark = found.unwrap_or_default();
        {
            let mut marked = self.marked.lock().await;
            *marked = mark;
            self.read_upto.store(mark.given, SeqCst);
            let is_new = found.is_none() && is_empty;
            self.is_short.fetch_or(since == Since::Less, SeqCst);
            self.is_filling.store(mark.is_filling || is_new || since == Since::Less, SeqCst);
            self.start_anew(Some(mark.given));
        }
        self.keep_mark(ready, CursorState::Back).await
    }

    pub(crate) async fn keep_mark(&self, ready: &Ready, course: CursorState) -> Result<(), Error> {
        let Some(subject) = &self.mark_subject else { return Ok(()) };
        let mut marked = self.marked.lock().await;
        for _ in 0..MOST_TRIES {
            let given = match course {
                CursorState::Forward => self.given(),
                CursorState::Back => self.given().min(marked.given),
            };
            let mark = Mark { given, is_filling: self.is_filling.load(SeqCst), ..*marked };
            if mark == *marked {
                return Ok(());
            }
            match send(self, ready, subject, (mark.headers(), marked.sequence), bytes::Bytes::new()).await? {
                Attempt::Done(sequence) => {
                    self.numbers.add(sequence);
                    *marked = Mark { sequence, ..mark };
                    return Ok(());
                }
                // Another process wrote the mark, or this one without receiving the
                // acknowledgement.
                Attempt::Late => *marked = read(ready, subject).await?.unwrap_or_default(),
            }
        }
        Err(Error::Busy)
    }

    fn given(&self) -> u64 {
        // Loaded before the index: all messages up to this number are in the index.
        let read = self.read_upto.load(SeqCst);
        self.index().given(read)
    }
}

async fn read(ready: &Ready, subject: &str) -> Result<Option<Mark>, Error> {
    let message = last(ready, subject).await?;
    Ok(message.map(|message| Mark::of(&message.headers, message.sequence)))
}

const MOST_TRIES: usize = 3;
