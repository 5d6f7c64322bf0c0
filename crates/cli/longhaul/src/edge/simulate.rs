//! `longhaul edge simulate`: simulates tiers and stores with a trace of requests in virtual time.

use std::{num::NonZero, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::{
    ArgGroup, Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use edge::Network;
use edge_sim::{Place, Plan, Policy, Progress, Source, Synthetic, Trace, Zipf};
use http_stack::clock::Clock;
use recording::AccessLog;
use units::{
    Bytes,
    show::{count, span},
};

use crate::{
    output::{self, say},
    progress,
};

/// Simulate a network: hit ratios, requests and connections at the origin, bytes on links, and the latency of
/// clients
///
/// Runs the same requests under each topology: none (each data centre requests from the origin), generic,
/// smart, smart with regional tiers, and the map of the file if it has one. Clients connect to the nearest
/// data centre; distances are those of a world's map. The requests are those of a trace, or synthetic:
/// objects by Zipf's law, clients distributed like the world's Internet users. The same seed gives the same
/// result. See docs/tiers-simulate.md.
///
/// Examples: longhaul edge simulate network.toml --origin newyork --zipf 0.9, longhaul edge simulate
/// network.toml --origin newyork --trace access.log
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").args(["trace", "zipf"]).required(true))]
pub(crate) struct Simulate {
    /// The network's file; each data centre in it needs a `city`
    network: PathBuf,
    /// The origin's city, or "anywhere" if it is near everywhere, such as an anycast address
    #[arg(long, value_name = "CITY")]
    origin: String,
    /// The zone; not needed if the file has only one
    #[arg(long, value_name = "NAME")]
    zone: Option<String>,
    /// Read the requests from this file: an access log, of a data centre or of another server, or CSV with
    /// time, key, size and optionally city
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The format of an access log, if it is not recognised: combined, nginx, apache, varnishncsa, or a
    /// format string such as '$msec "$request" $status $body_bytes_sent'
    #[arg(long, value_name = "FORMAT", value_parser = AccessLog::of_requests, requires = "trace")]
    log_format: Option<AccessLog>,
    /// Generate requests: the object of rank k is requested in proportion to 1/k^EXPONENT
    #[arg(long, value_name = "EXPONENT", value_parser = exponent)]
    zipf: Option<f64>,
    /// Synthetic: number of requests
    #[arg(long, value_name = "NUMBER", default_value = "1000000", conflicts_with = "trace")]
    requests: NonZero<u64>,
    /// Synthetic: number of objects
    #[arg(long, value_name = "NUMBER", default_value = "1000000", conflicts_with = "trace")]
    objects: NonZero<u64>,
    /// Synthetic: requests per second in the whole world, at random times
    #[arg(long, value_name = "NUMBER", default_value = "1000", conflicts_with = "trace")]
    rate: NonZero<u32>,
    /// Synthetic: median size of an object
    #[arg(long, value_name = "SIZE", default_value = "16KB", conflicts_with = "trace")]
    size: Bytes,
    /// Freshness lifetime of responses without a rule; default: unlimited
    #[arg(long, value_name = "TIME", value_parser = units::duration::parse)]
    ttl: Option<Duration>,
    /// City of clients whose requests do not contain one
    #[arg(long, value_name = "CITY")]
    city: Option<String>,
    /// Eviction policy of a full store: data centres use s3-fifo
    #[arg(long, value_name = "POLICY", default_value = Policy::default().name(), value_parser = policies())]
    policy: Policy,
    /// Bytes that each data centre stores, instead of its `memory`
    #[arg(long, value_name = "SIZE")]
    store: Option<Bytes>,
    /// The seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print all figures as JSON
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let network = Network::open_for(&self.network, edge::config::Purpose::Simulation)?;
        let plan = self.plan(network)?;
        let mut source = self.source(&plan)?;
        let progress = Arc::new(Progress::default());
        let clock = Clock::start();
        let view = watch(Arc::clone(&progress), source.expected())?;
        let result = edge_sim::run(&plan, &mut *source, &progress);
        drop(view);
        let result = result?;
        let seconds = Duration::from_nanos(clock.now()).as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rate for a person"
        )]
        let rate = (progress.simulated() as f64 / seconds) as u64;
        let topologies = result.topologies.len();
        say(&format!(
            "{topologies} topologies in {}, {} simulated requests a second",
            span(seconds),
            count(rate)
        ));
        if self.json {
            output::print_json(&output::named("longhaul.edge.simulate/1", result))?;
        } else {
            output::print(&edge_sim::table(&result))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn plan(&self, network: Network) -> anyhow::Result<Plan> {
        let origin = match self.origin.as_str() {
            "anywhere" => Place::Anywhere,
            city => Place::City(city.to_owned()),
        };
        let plan = Plan::new(network, self.zone.as_deref(), origin)?.with_policy(self.policy);
        Ok(match self.store {
            Some(Bytes(bytes)) => plan.with_stores(bytes),
            None => plan,
        })
    }

    /// clap ensures that exactly one option is set.
    fn source(&self, plan: &Plan) -> anyhow::Result<Box<dyn Source>> {
        let forever = u64::MAX;
        let fresh_ns = self.ttl.map_or(forever, |ttl| u64::try_from(ttl.as_nanos()).unwrap_or(forever));
        if let Some(path) = &self.trace {
            let trace = Trace::open(path, plan, self.log_format.clone(), fresh_ns, self.seed)?;
            return Ok(match &self.city {
                Some(city) => Box::new(trace.from_city(city)?),
                None => Box::new(trace),
            });
        }
        let law = Zipf::new(self.objects.get(), self.zipf.unwrap_or_default());
        let source = Synthetic::new(law, self.requests.get(), f64::from(self.rate.get()), self.seed)
            .sized(self.size.0)
            .fresh(fresh_ns);
        Ok(match &self.city {
            Some(city) => Box::new(source.from_city(city)?),
            None => Box::new(source),
        })
    }
}

fn watch(progress: Arc<Progress>, expected: Option<u64>) -> anyhow::Result<progress::Watch> {
    progress::watch(move |_, _| {
        let done = count(progress.requests());
        match expected {
            Some(all) => format!("{done} of {} requests", count(all)),
            None => format!("{done} requests"),
        }
    })
}

fn exponent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let fits = number.filter(|number| (0.0..=MOST_UNEQUAL).contains(number));
    fits.ok_or_else(|| format!("expected a number from 0 (all objects alike) to {MOST_UNEQUAL}, such as 0.9"))
}

/// With this exponent two of three requests are for the first object.
const MOST_UNEQUAL: f64 = 2.0;

fn policies() -> impl TypedValueParser<Value = Policy> {
    let policy = |name: String| {
        let known = Policy::ALL.into_iter().find(|policy| policy.name() == name);
        known.ok_or("no such policy")
    };
    PossibleValuesParser::new(Policy::ALL.map(Policy::name)).try_map(policy)
}
