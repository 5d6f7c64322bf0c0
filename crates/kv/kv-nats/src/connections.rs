//! One additional NATS connection per runtime, so that a response does not have to wake another
//! thread.
//!
//! Requests use the feed's connection until the runtime's connection is established, and while it
//! is lost.

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
    connection::{Credentials, connect, context, failed},
    state::Ready,
};

pub(crate) struct ConnectionPool {
    address: Address,
    secrets: Credentials,
    /// `None` when the bucket is closed.
    of: RwLock<Option<HashMap<Id, PooledConnection>>>,
}

enum PooledConnection {
    Open(Arc<Ready>),
    /// Being made, or closed recently.
    Shut,
}

impl ConnectionPool {
    pub(crate) fn new(address: Address, secrets: Credentials) -> Arc<Self> {
        Arc::new(Self { address, secrets, of: RwLock::new(Some(HashMap::new())) })
    }

    /// Or else the feed's connection. Starts to connect if the runtime has none.
    pub(crate) fn here(self: &Arc<Self>, first: &Arc<Ready>) -> Arc<Ready> {
        let Ok(runtime) = Handle::try_current() else { return Arc::clone(first) };
        match self.read().as_ref().map(|of| of.get(&runtime.id())) {
            Some(Some(PooledConnection::Open(line)))
                if line.client.connection_state() == State::Connected =>
            {
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

    /// A connection without a response may lead to a partitioned server, so it is not used for a
    /// while.
    pub(crate) fn told<T>(&self, line: &Arc<Ready>, answer: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::NotConfirmed(_) | Error::NotAnswered(_) | Error::NotReady(_)) = &answer {
            let mut of = self.write();
            let all = of.iter_mut().flat_map(HashMap::values_mut);
            for place in all.filter(|place| place.is(line)) {
                *place = PooledConnection::Shut;
            }
        }
        answer
    }

    pub(crate) fn close(&self) {
        *self.write() = None;
    }

    /// Returns false if there is one already.
    fn begin(&self, id: Id) -> bool {
        match self.write().as_mut().map(|of| of.entry(id)) {
            Some(Entry::Vacant(place)) => {
                place.insert(PooledConnection::Shut);
                true
            }
            Some(Entry::Occupied(_)) | None => false,
        }
    }

    async fn keep(self: Arc<Self>, id: Id) {
        while self.read().is_some() {
            match self.connect().await.map(Arc::new) {
                Ok(line) => {
                    if let Some(of) = self.write().as_mut() {
                        of.insert(id, PooledConnection::Open(Arc::clone(&line)));
                    }
                    while self.has(id, &line) {
                        sleep(BETWEEN_LOOKS).await;
                    }
                }
                Err(why) => tracing::debug!(error = %why, "a connection of a runtime cannot be made"),
            }
            sleep(BEFORE_AGAIN).await;
        }
    }

    fn has(&self, id: Id, line: &Arc<Ready>) -> bool {
        self.read().as_ref().and_then(|of| of.get(&id)).is_some_and(|place| place.is(line))
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<HashMap<Id, PooledConnection>>> {
        self.of.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<HashMap<Id, PooledConnection>>> {
        self.of.write().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Ready, String> {
        let client = connect(&self.address, &self.secrets, ConnectOptions::new(), || ()).await?;
        let stream = context(&client).get_stream_no_info(&self.address.stream).await;
        let stream = stream.map_err(|why| failed(&self.address, &why))?;
        Ok(Ready { client, stream })
    }
}

impl PooledConnection {
    fn is(&self, line: &Arc<Ready>) -> bool {
        matches!(self, Self::Open(open) if Arc::ptr_eq(open, line))
    }
}

/// Shorter than the request timeout: a new earliest timer wakes its runtime, which costs a system
/// call.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// Requests use the feed's connection meanwhile.
const BEFORE_AGAIN: Duration = Duration::from_secs(5);
