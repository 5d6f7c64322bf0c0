//! Serves metrics to Prometheus, and pushes them to a collector.

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use http_stack::{Body, Method, Response, Server, StatusCode, header};
use tracing::{debug, warn};

use crate::{
    Error, ShutdownSignal,
    client::{self, Client, Target},
    clock,
    metrics::{self, Metrics},
};

/// Destinations of metrics.
#[derive(Debug, Clone)]
pub struct Config {
    /// Listen addresses for Prometheus.
    pub listen: Vec<SocketAddr>,
    /// The `/v1/metrics` URL of a collector for OTLP over HTTP.
    pub push: Option<Target>,
    /// Interval of pushes.
    pub every: Duration,
}

/// A running export of metrics; dropping it ends it.
#[derive(Debug)]
pub struct Watch {
    /// Listen addresses.
    pub addresses: Vec<SocketAddr>,
    stop: ShutdownSignal,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts serving and pushing metrics in a separate thread.
    ///
    /// # Errors
    /// When it cannot listen on an address, or certificates cannot be read.
    pub fn start(config: Config, metrics: Vec<Metrics>) -> Result<Self, Error> {
        let stop = ShutdownSignal::new();
        let (ready, is_ready) = mpsc::channel();
        let asked = stop.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(source) => {
                    let _ = ready.send(Err(Error::System { what: "start a runtime", source }));
                    return;
                }
            };
            runtime.block_on(run(config, metrics.into(), asked, ready));
            runtime.shutdown_background();
        });
        let addresses = is_ready.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
        Ok(Self { addresses, stop, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn run(
    config: Config,
    metrics: Arc<[Metrics]>,
    stop: ShutdownSignal,
    ready: mpsc::Sender<Result<Vec<SocketAddr>, Error>>,
) {
    let begin = || -> Result<_, Error> {
        let server = Server::listen(&config.listen)?;
        let addresses = server.addresses()?;
        let pusher = config.push.clone().map(|to| Pusher::new(to, Arc::clone(&metrics))).transpose()?;
        Ok((server, addresses, pusher))
    };
    let (server, pusher) = match begin() {
        Ok((server, addresses, pusher)) => {
            let _ = ready.send(Ok(addresses));
            (server, pusher)
        }
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let shown = Arc::clone(&metrics);
    let handler = move |request: http_stack::Request<Body>| {
        let answer = answer(&request, &shown);
        async move { Ok(answer) }
    };
    let pushing = async {
        if let Some(pusher) = pusher {
            pusher.run(config.every, &stop).await;
        }
    };
    tokio::join!(server.serve(handler, &stop), pushing);
}

fn answer(request: &http_stack::Request<Body>, metrics: &[Metrics]) -> Response<Body> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let (status, kind, text) = match request.uri().path() {
        _ if !is_read => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", String::new()),
        "/metrics" => {
            (StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", metrics::prometheus(metrics))
        }
        "/" => (StatusCode::OK, "text/html", "<a href=\"/metrics\">metrics</a>\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, "text/plain", "see /metrics\n".to_owned()),
    };
    let mut response = Response::new(Body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

struct Pusher {
    to: Target,
    client: Client,
    metrics: Arc<[Metrics]>,
    began_ns: i64,
}

impl Pusher {
    fn new(to: Target, metrics: Arc<[Metrics]>) -> Result<Self, Error> {
        let mut config = client::Config::default();
        config.http.connections = client::Connections::Reuse;
        config.timeout = PATIENCE;
        let client = Client::new(&config, &ShutdownSignal::new())?;
        let to = to.method("POST")?.header("content-type", "application/json")?;
        Ok(Self { to, client, metrics, began_ns: clock::wall_ns() })
    }

    /// Pushes once more at the end.
    async fn run(&self, every: Duration, stop: &ShutdownSignal) {
        while !stop.is_requested() {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = stop.asked() => {}
            }
            self.push().await;
        }
    }

    async fn push(&self) {
        let value = metrics::otlp(&self.metrics, self.began_ns, clock::wall_ns());
        let samples = self.client.fetch(&self.to.clone().body(value.to_string())).await;
        for sample in samples {
            match (sample.status, sample.error) {
                (Some(200..=299), None) => debug!(collector = %self.to, "metrics were sent"),
                (status, error) => {
                    let status = status.map(|status| format!("status {status}"));
                    let reason = error.or(status).unwrap_or_default();
                    warn!(collector = %self.to, reason, "metrics could not be sent");
                }
            }
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(5);
