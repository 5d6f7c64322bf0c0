//! What a stream says of the other one of two stores: up to which message that one has all, and whether it may have keys that this one never had.
//!
//! It is a message in the same stream, so that it is lost, put back from a copy or moved together with what it is about. It names a message that nothing
//! is lacking up to, and whoever starts gives the other store all that lies behind it: what is given twice is taken once. So it need not follow each write; it is
//! written now and then when it can go forward, and at once when it has to go back.

use std::sync::atomic::Ordering::SeqCst;

use crate::{
    Error,
    connection::Since,
    layout::Mark,
    publish::{Attempt, last, send},
    shared::{Ready, Shared},
};

/// Where a mark may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// Only back: the other store was found to lack something before it.
    Back,
    /// As far forward as it can, too.
    Forward,
}

impl Shared {
    /// Begins to read a stream, of which nothing is known yet: with its mark, or without one if there is no other store. An empty or incomplete stream
    /// may lack what the other store has, and says so before it is used.
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
        self.keep_mark(ready, Course::Back).await
    }

    /// Writes down up to which message the other store has all, if that is not written there.
    pub(crate) async fn keep_mark(&self, ready: &Ready, course: Course) -> Result<(), Error> {
        let Some(subject) = &self.mark_subject else { return Ok(()) };
        let mut marked = self.marked.lock().await;
        for _ in 0..MOST_TRIES {
            let given = match course {
                Course::Forward => self.given(),
                Course::Back => self.given().min(marked.given),
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
                // Another process of this data centre has written it, or this one without being told so.
                Attempt::Late => *marked = read(ready, subject).await?.unwrap_or_default(),
            }
        }
        Err(Error::Busy)
    }

    /// The last message up to which the other store has all that has been read.
    fn given(&self) -> u64 {
        // First what was read: all of that is in the index.
        let read = self.read_upto.load(SeqCst);
        self.index().given(read)
    }
}

/// The one that is in the stream, if there is one.
async fn read(ready: &Ready, subject: &str) -> Result<Option<Mark>, Error> {
    let message = last(ready, subject).await?;
    Ok(message.map(|message| Mark::of(&message.headers, message.sequence)))
}

const MOST_TRIES: usize = 3;
