//! Checks a missing key: either another program removed it, or the stream is not the expected one.

use kv::Millis;

use crate::{
    Error,
    layout::{parts, subject},
    loss::{StreamState, lacks},
    publish::last,
    state::{Ready, SharedState},
};

impl SharedState {
    /// Fails unless another program removed the missing key from the expected stream.
    pub(crate) async fn confirm(&self, ready: &Ready, full_key: &[u8], now: Millis) -> Result<(), Error> {
        // Read before the request: other writes may be acknowledged meanwhile.
        let expected = self.acknowledged.expected(0);
        let info = ready.stream.get_info().await.map_err(|why| Error::NotAnswered(why.to_string()))?;
        let follows = expected.is_none_or(|expected| StreamState::of(&info).follows(&expected));
        if follows && self.has_newest(ready, now, Some(full_key)).await? {
            tracing::warn!(stream = self.stream, "another program removed a key from the stream");
            return Ok(());
        }
        self.doubt();
        Err(Error::NotReady(lacks(&self.stream)))
    }

    /// Or a newer message of the same key. The key `but` does not count.
    pub(crate) async fn has_newest(
        &self,
        ready: &Ready,
        now: Millis,
        but: Option<&[u8]>,
    ) -> Result<bool, Error> {
        let newest = self.index().newest_value(now, but);
        let Some((full_key, sequence)) = newest else { return Ok(true) };
        let Some((namespace, key)) = parts(&full_key) else { return Ok(true) };
        let message = last(ready, &subject(&self.stream, namespace, key)).await?;
        Ok(message.is_some_and(|message| message.sequence >= sequence))
    }
}
