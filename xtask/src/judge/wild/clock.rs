//! The clock of a differential run.

use std::{
    thread,
    time::{Duration, Instant, SystemTime},
};

#[expect(clippy::disallowed_methods, reason = "freshness of peers runs in real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "an origin sends dates")]
pub(super) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a script waits until objects are stale")]
pub(super) fn wait(time: Duration) {
    thread::sleep(time);
}
