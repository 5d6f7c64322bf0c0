//! Active health checks: a task per zone and origin sends requests at intervals.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use http_stack::{
    Body, Client, HeaderValue, Method, Origin, Request, StatusCode, Uri, client::Trace, header, uri,
};
use tokio::time::{sleep, timeout};

use super::zone_pool::ZonePool;
use crate::config::{HealthCheck, OriginHost, OriginUrl, Zone};

/// The tasks of a zone. They do not end.
pub(super) fn of_zone(
    pool: &Arc<ZonePool>,
    zone: &Zone,
    client: &Client,
) -> Vec<impl Future<Output = ()> + Send + 'static> {
    let Some(check) = pool.checks() else { return Vec::new() };
    let origins = pool.origins().iter().enumerate();
    let task = |(number, origin): (usize, &OriginUrl)| {
        let host = check.host.clone().unwrap_or_else(|| host_for(zone, origin));
        let (pool, client) = (Arc::clone(pool), client.clone());
        let (origin, check) = (origin.origin().clone(), check.clone());
        async move {
            let jitter = Jitter::default();
            // The checks of all origins and data centres are spread.
            sleep(check.interval.mul_f64(0.1 * jitter.share(0))).await;
            for number_of_check in 1.. {
                let result = run(&client, &origin, &host, &check).await;
                pool.record_check(number, result);
                sleep(check.interval.mul_f64(0.9 + 0.2 * jitter.share(number_of_check))).await;
            }
        }
    };
    origins.map(task).collect()
}

/// Requests of visitors have such a host too.
fn host_for(zone: &Zone, origin: &Origin) -> String {
    let of_visitor = || zone.hosts.iter().find(|host| !host.starts_with('*')).cloned();
    match &zone.origin_request.host {
        OriginHost::Visitor => of_visitor().unwrap_or_else(|| origin.authority()),
        OriginHost::Origin => origin.authority(),
        OriginHost::Name(authority) => authority.to_string(),
    }
}

async fn run(client: &Client, origin: &Origin, host: &str, check: &HealthCheck) -> Result<(), String> {
    let request = request(origin, host, &check.path)?;
    let exchange = async {
        let mut trace = Trace::start(client.clock().now());
        let response =
            client.send(origin, request, &mut trace).await.map_err(|failure| failure.to_string())?;
        let status = response.status();
        // The connection can be used again only after the body.
        let _ = response.into_body().collect(MAX_BODY).await;
        if check.statuses.contains(&status) { Ok(()) } else { Err(wrong(status)) }
    };
    let late = || Err(format!("no response within {}", units::duration::show(check.timeout)));
    timeout(check.timeout, exchange).await.unwrap_or_else(|_| late())
}

fn wrong(status: StatusCode) -> String {
    format!("status {}", status.as_u16())
}

fn request(origin: &Origin, host: &str, path: &str) -> Result<Request<Body>, String> {
    let invalid = |_| format!("\"{host}\" and \"{path}\" are not a URL");
    let mut url = uri::Parts::default();
    url.scheme = Some(match origin.scheme {
        http_stack::Scheme::Http => uri::Scheme::HTTP,
        http_stack::Scheme::Https => uri::Scheme::HTTPS,
    });
    url.authority = Some(host.parse().map_err(invalid)?);
    url.path_and_query = Some(path.parse().map_err(invalid)?);
    let url = Uri::from_parts(url).map_err(|_| format!("\"{host}\" and \"{path}\" are not a URL"))?;
    let mut request = Request::new(Body::empty());
    (*request.method_mut(), *request.uri_mut()) = (Method::GET, url);
    let headers = request.headers_mut();
    headers.insert(header::HOST, HeaderValue::from_str(host).map_err(|error| error.to_string())?);
    headers.insert(header::USER_AGENT, HeaderValue::from_static("longhaul-health-check"));
    Ok(request)
}

/// The hash keys differ between tasks.
#[derive(Default)]
struct Jitter(RandomState);

impl Jitter {
    /// In 0..1.
    #[expect(clippy::cast_precision_loss, reason = "any rounding is as random")]
    fn share(&self, number: u64) -> f64 {
        self.0.hash_one(number) as f64 / u64::MAX as f64
    }
}

const MAX_BODY: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_names_the_host_of_the_zone() {
        let origin: Origin = "http://127.0.0.1:8000".parse().unwrap();
        assert_eq!(origin.authority(), "127.0.0.1:8000");
        let request = request(&origin, "shop.example", "/health?full=1").unwrap();
        assert_eq!(request.uri(), "http://shop.example/health?full=1");
        assert_eq!(request.headers()["host"], "shop.example");
    }

    #[test]
    fn jitter_is_a_share() {
        let jitter = Jitter::default();
        assert!((0..1000).map(|number| jitter.share(number)).all(|share| (0.0..=1.0).contains(&share)));
    }
}
