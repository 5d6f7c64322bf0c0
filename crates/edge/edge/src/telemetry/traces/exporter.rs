//! Background task that exports spans to the collector in batches.

use std::{sync::Arc, time::Duration};

use http_stack::{Body, Client, Failure, HeaderValue, Method, Request, client::Trace, header};
use otlp::{Answer, Attribute, Resource, Span, spans};
use tokio::{sync::watch, time};

use super::Traces;
use crate::config::Collector;

pub(crate) struct Exporter {
    traces: Arc<Traces>,
    client: Client,
    resource: Resource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Made,
    None,
}

impl Exporter {
    pub(crate) fn new(traces: Arc<Traces>, client: Client, network: &str, centre: &str) -> Self {
        let attributes = vec![
            Attribute::text("service.name", "longhaul-edge"),
            Attribute::text("service.namespace", network),
            Attribute::text("service.instance.id", centre),
            Attribute::text("service.version", env!("CARGO_PKG_VERSION")),
        ];
        let resource = Resource { attributes, scope: "longhaul edge", version: env!("CARGO_PKG_VERSION") };
        Self { traces, client, resource }
    }

    /// Sends until `shutdown` is closed, then flushes the queue within a short time limit.
    pub(crate) async fn run(self, mut shutdown: watch::Receiver<()>) {
        let queue = &self.traces.queue;
        while shutdown.has_changed().is_ok() {
            tokio::select! {
                () = queue.is_worth_a_look.notified() => {}
                _ = shutdown.changed() => break,
            }
            while !queue.is_empty() {
                let pause = if queue.is_full_batch() { Duration::ZERO } else { EXPORT_INTERVAL };
                tokio::select! {
                    () = time::sleep(pause) => {}
                    () = queue.is_worth_a_look.notified() => {}
                    _ = shutdown.changed() => break,
                }
                if self.send().await == Progress::None {
                    tokio::select! {
                        () = time::sleep(RETRY_DELAY) => {}
                        _ = shutdown.changed() => break,
                    }
                }
            }
        }
        let rest = async { while !queue.is_empty() && self.send().await == Progress::Made {} };
        let _ = time::timeout(SHUTDOWN_TIMEOUT, rest).await;
    }

    pub(crate) async fn send(&self) -> Progress {
        let queue = &self.traces.queue;
        let batch = queue.take();
        let Some(collector) = self.traces.collector() else {
            queue.were_lost(batch.len() as u64);
            return Progress::Made;
        };
        let count = batch.len() as u64;
        let answer = time::timeout(EXPORT_TIMEOUT, self.post(&collector, &batch)).await;
        let (answer, why) = match answer.unwrap_or(Err(Failure::Timeout)) {
            Ok((status, body)) => (Answer::read(status, &body), format!("it responded with {status}")),
            Err(failure) => (Answer::Later, failure.to_string()),
        };
        let why = format!("{}{}: {why}", collector.origin, collector.path);
        match answer {
            Answer::Taken { refused } => {
                let refused = refused.min(count);
                queue.were_sent(count - refused);
                queue.were_lost(refused);
                queue.report_error(None);
                Progress::Made
            }
            Answer::Refused => {
                queue.were_lost(count);
                queue.report_error(Some(why));
                Progress::None
            }
            Answer::Later => {
                queue.put_back(batch);
                queue.report_error(Some(why));
                Progress::None
            }
        }
    }

    async fn post(&self, to: &Collector, batch: &[Span]) -> Result<(u16, http_stack::Bytes), Failure> {
        let mut request = Request::new(Body::whole(spans(&self.resource, batch).to_string()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = to.path.clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        let mut trace = Trace::start(self.client.clock().now());
        let response = self.client.send(&to.origin, request, &mut trace).await?;
        let status = response.status().as_u16();
        Ok((status, response.into_body().collect(MAX_RESPONSE_BYTES).await?))
    }
}

const EXPORT_INTERVAL: Duration = Duration::from_secs(1);
const RETRY_DELAY: Duration = Duration::from_secs(5);
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_RESPONSE_BYTES: usize = 64 << 10;
