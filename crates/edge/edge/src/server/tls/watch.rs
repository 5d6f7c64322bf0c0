//! Watches the certificate files of a data centre. It polls, because renewal tools and network file systems
//! replace files in ways that notifications of a single file miss.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::certificates::Certificates;

/// Never ends.
pub(crate) async fn watch(certificates: Arc<Certificates>, tell: impl Fn(String)) {
    loop {
        certificates.poll().into_iter().for_each(&tell);
        sleep(INTERVAL).await;
    }
}

const INTERVAL: Duration = Duration::from_secs(5);
