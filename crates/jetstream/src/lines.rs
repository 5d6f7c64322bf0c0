//! Connections beside the one that the index is fed by: one for each runtime that asks, so that no answer has to wake another thread.
//!
//! They are made beside what is asked, which goes over the first connection until one is there, and while it is lost. Whether the stream
//! can be used says the first one alone.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use async_nats::{ConnectOptions, connection::State};
use tokio::{
    runtime::{Handle, Id},
    time::sleep,
};

use crate::{
    Address, Error,
    connection::{Secrets, connect, context, failed},
    shared::Ready,
};

/// The connections of a bucket's runtimes.
pub(crate) struct Lines {
    address: Address,
    secrets: Secrets,
    /// `None` when the bucket is closed.
    of: RwLock<Option<HashMap<Id, Line>>>,
}

enum Line {
    Open(Arc<Ready>),
    /// It is being made, or was given up a moment ago.
    Shut,
}

impl Lines {
    pub(crate) fn new(address: Address, secrets: Secrets) -> Arc<Self> {
        Arc::new(Self { address, secrets, of: RwLock::new(Some(HashMap::new())) })
    }

    /// The connection of the runtime that this is called in, or the first one if it has none. Begins to make it then.
    pub(crate) fn here(self: &Arc<Self>, first: &Arc<Ready>) -> Arc<Ready> {
        let Ok(runtime) = Handle::try_current() else { return Arc::clone(first) };
        match self.read().as_ref().map(|of| of.get(&runtime.id())) {
            Some(Some(Line::Open(line))) if line.client.connection_state() == State::Connected => {
                return Arc::clone(line);
            }
            Some(None) => {}
            Some(Some(_)) | None => return Arc::clone(first),
        }
        if self.begin(runtime.id()) {
            runtime.spawn(Arc::clone(self).keep(runtime.id()));
        }
        Arc::clone(first)
    }

    /// What was asked over a connection came to this. One that has not answered may lead to a server that is cut off from the others, and
    /// is given up for a while.
    pub(crate) fn told<T>(&self, line: &Arc<Ready>, answer: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::NotConfirmed(_) | Error::NotAnswered(_) | Error::NotReady(_)) = &answer {
            let mut of = self.write();
            let all = of.iter_mut().flat_map(HashMap::values_mut);
            for place in all.filter(|place| place.is(line)) {
                *place = Line::Shut;
            }
        }
        answer
    }

    /// Ends all of them, and makes no more.
    pub(crate) fn close(&self) {
        *self.write() = None;
    }

    /// Keeps a place for one that is to be made. Says whether there was none.
    fn begin(&self, id: Id) -> bool {
        match self.write().as_mut().map(|of| of.entry(id)) {
            Some(Entry::Vacant(place)) => {
                place.insert(Line::Shut);
                true
            }
            Some(Entry::Occupied(_)) | None => false,
        }
    }

    /// Makes a runtime's connection, and another one whenever that was given up.
    async fn keep(self: Arc<Self>, id: Id) {
        while self.read().is_some() {
            match self.connect().await.map(Arc::new) {
                Ok(line) => {
                    if let Some(of) = self.write().as_mut() {
                        of.insert(id, Line::Open(Arc::clone(&line)));
                    }
                    while self.has(id, &line) {
                        sleep(BETWEEN_LOOKS).await;
                    }
                }
                Err(why) => tracing::debug!(error = %why, "there is one connection less than may be"),
            }
            sleep(BEFORE_AGAIN).await;
        }
    }

    /// Whether a runtime's connection is this one still.
    fn has(&self, id: Id, line: &Arc<Ready>) -> bool {
        self.read().as_ref().and_then(|of| of.get(&id)).is_some_and(|place| place.is(line))
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<HashMap<Id, Line>>> {
        self.of.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<HashMap<Id, Line>>> {
        self.of.write().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Ready, String> {
        let client = connect(&self.address, &self.secrets, ConnectOptions::new(), || ()).await?;
        let stream = context(&client).get_stream_no_info(&self.address.stream).await;
        let stream = stream.map_err(|why| failed(&self.address, &why))?;
        Ok(Ready { client, stream })
    }
}

impl Line {
    fn is(&self, line: &Arc<Ready>) -> bool {
        matches!(self, Self::Open(open) if Arc::ptr_eq(open, line))
    }
}

/// How soon one that was given up is noticed. It is shorter than an answer may take: a timer that is the next one of all wakes its runtime,
/// which costs a system call for each request if its own timer is that.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// What is asked meanwhile goes over the first connection.
const BEFORE_AGAIN: Duration = Duration::from_secs(5);
