//! `longhaul edge status`: shows the state of a data centre.

use std::process::ExitCode;

use clap::Args;
use edge::admin::api::{
    self, BusStatus, CertificateStatus, Connections, HeardFrom, LinkStatus, LogStatus, OriginStatus,
    PurgesStatus, RouteStatus, TierStatus, TraceStatus, Usage,
};
use report::terminal::table::table;
use units::show::{bytes, count, latency, plural, rate, share};

use super::{Admin, pools};
use crate::output;

/// Show the requests, the store, the origins and the network of a data centre
///
/// Example: longhaul edge status
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    admin: Admin,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let status = self.admin.operator().status()?;
        if self.json {
            output::print_json(&output::named("longhaul.edge.status/1", status))?;
        } else {
            output::print(&text(&status))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn text(status: &api::Status) -> String {
    let api::Status {
        data_centre,
        epoch,
        requests,
        connections,
        certificates,
        store,
        log,
        traces,
        kv,
        origins,
        ..
    } = status;
    #[expect(clippy::cast_precision_loss, reason = "a share for a person")]
    let of_all = |number: u64| {
        if requests.total == 0 { "-".to_owned() } else { share(number as f64 / requests.total as f64) }
    };
    let words = requests.by_cache_status.named();
    let rows = words.map(|(word, number)| [word.to_owned(), count(number), of_all(number)]);
    format!(
        "{data_centre}: {} requests, purge epoch {epoch}\n\n{}\n{}{}memory: {} of {} in {} objects, {} evicted\n{}{}{}{}\n{}{}",
        count(requests.total),
        table(["cache", "requests", "share"].map(str::to_owned), rows),
        connections_line(connections),
        certificates.iter().map(certificate_line).collect::<String>(),
        bytes(store.memory_bytes),
        bytes(store.memory_limit_bytes),
        count(store.objects),
        count(store.evicted),
        disk(store),
        log.as_ref().map(log_line).unwrap_or_default(),
        traces.as_ref().map(traces_line).unwrap_or_default(),
        kv.as_ref().map(kv_line).unwrap_or_default(),
        table(ORIGINS.map(str::to_owned), origins.iter().map(row)),
        pools::text(&status.pools) + &network(status),
    )
}

fn network(status: &api::Status) -> String {
    let api::Status { tiers, links, routes, requests_of_others, purges, .. } = status;
    let Some(requests) = requests_of_others else { return String::new() };
    let tier = |tier: &TierStatus| {
        let upper = tier.upper.as_ref().map_or_else(String::new, |upper| format!(", {upper}"));
        format!("{}: {}{upper}: {}\n", tier.zone, tier.mode, tier.why)
    };
    let link = |link: &LinkStatus| {
        [
            link.to.clone(),
            if link.up { "up".to_owned() } else { link.error.clone().unwrap_or_else(|| "down".to_owned()) },
            link.rtt_ms.map_or_else(|| "-".to_owned(), latency),
            link.loss.map_or_else(|| "-".to_owned(), share),
            link.throughput_bps.map_or_else(|| "-".to_owned(), |bits| rate(bits as f64)),
            count(link.requests),
            count(link.failures),
        ]
    };
    let route = |route: &RouteStatus| {
        [
            route.origin.clone(),
            route.route.clone(),
            route.error.clone(),
            format!("{} s", route.since_s),
            count(route.requests),
            count(route.next_test_at),
            route.detour.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    };
    let mut text = format!(
        "\nrequests from other data centres: {}\n{}{}",
        count(requests.total),
        tiers.iter().map(tier).collect::<String>(),
        table(LINKS.map(str::to_owned), links.iter().map(link)),
    );
    if let Some(purges) = purges {
        text.push_str(&purges_lines(purges));
    }
    if !routes.is_empty() {
        text.push('\n');
        text.push_str(&table(ROUTES.map(str::to_owned), routes.iter().map(route)));
    }
    text
}

fn purges_lines(purges: &PurgesStatus) -> String {
    let line = |HeardFrom { data_centre, behind, heard_s, .. }: &HeardFrom| {
        let heard = heard_s.map_or_else(|| "never".to_owned(), |age| format!("{age} s ago"));
        match behind {
            Some(0) => None,
            Some(behind) => {
                Some(format!("{data_centre} lacks {}, last contact {heard}\n", plural(*behind, "purge")))
            }
            None => {
                Some(format!("{data_centre} has not reported which purges it lacks, last contact {heard}\n"))
            }
        }
    };
    let cut_off = if purges.cut_off {
        "cut off: too few data centres are in contact to receive all purges\n"
    } else {
        ""
    };
    let bus = purges.bus.as_ref().map(bus_line).unwrap_or_default();
    purges.data_centres.iter().filter_map(line).chain([cut_off.to_owned(), bus]).collect()
}

/// The stream carries purges in addition to the links.
fn bus_line(bus: &BusStatus) -> String {
    let BusStatus { stream, error, waiting, put, taken, resets, unread, namesake } = bus;
    let state = match error {
        None => format!("{} published, {} received from it first", plural(*put, "purge"), count(*taken)),
        Some(why) => format!("not used, purges travel over links only: {why}"),
    };
    let waiting = match waiting {
        0 => String::new(),
        some => format!(", {} not published yet", plural(*some, "purge")),
    };
    let unread = match unread {
        0 => String::new(),
        some => format!(", {} ignored that are not purges", plural(*some, "message")),
    };
    let resets = match resets {
        0 => String::new(),
        some => {
            format!(", recreated or gone back {}: everything became stale", plural(*some, "time"))
        }
    };
    let namesake = namesake.as_ref().map(|why| format!("{why}\n")).unwrap_or_default();
    format!("bus {stream}: {state}{waiting}{resets}{unread}\n{namesake}")
}

const LINKS: [&str; 7] = ["link", "state", "rtt ms", "sent again", "rate", "requests", "failed"];
const ROUTES: [&str; 7] = ["origin", "way", "error", "since", "requests", "tried again at", "instead"];

fn connections_line(connections: &Connections) -> String {
    let Connections { open, refused, limit_per_address } = connections;
    let refused = match refused {
        0 => String::new(),
        some => {
            format!(", {} refused as their address had {} already", count(*some), count(*limit_per_address))
        }
    };
    format!("connections: {}{refused}\n", count(*open))
}

fn certificate_line(certificate: &CertificateStatus) -> String {
    let CertificateStatus { names, file, expires_in_s, next_order_in_s, error, .. } = certificate;
    let names = if names.is_empty() { file.clone() } else { names.join(", ") };
    let expiry = match expires_in_s {
        None => "none yet".to_owned(),
        Some(left) if *left < 0 => "expired".to_owned(),
        Some(left) => format!("expires in {}", duration(*left)),
    };
    let next =
        next_order_in_s.map(|next| format!(", next order in {}", duration(next.max(0)))).unwrap_or_default();
    let state = error.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("certificate {names}: {expiry}{next}{state}\n")
}

/// Days, or hours below two days, or minutes below an hour.
fn duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match days {
        2.. => format!("{days} days"),
        _ if hours > 0 => format!("{hours} h"),
        _ => format!("{minutes} min"),
    }
}

fn disk(store: &Usage) -> String {
    let state = store.disk_error.as_ref().map(|why| format!(", not written to: {why}")).unwrap_or_default();
    let slow = match store.disk_given_up {
        None | Some(0) => String::new(),
        Some(times) => format!(", too slow {}: fetched from origins instead", plural(times, "time")),
    };
    store.disk_bytes.map(|used| format!("disk: {}{state}{slow}\n", bytes(used))).unwrap_or_default()
}

fn log_line(log: &LogStatus) -> String {
    let state = log.error.as_ref().map(|why| format!(", not written: {why}")).unwrap_or_default();
    if log.lost == 0 && log.error.is_none() {
        return String::new();
    }
    format!("access log: {} lost{state}\n", plural(log.lost, "line"))
}

fn traces_line(traces: &TraceStatus) -> String {
    let TraceStatus { sent, lost, waiting, error } = traces;
    let state = error.as_ref().map(|why| format!(", not sent: {why}")).unwrap_or_default();
    let (sent, lost, waiting) = (plural(*sent, "span"), count(*lost), count(*waiting));
    format!("traces: {sent} sent, {lost} lost, {waiting} waiting{state}\n")
}

fn kv_line(kv: &kv_server::Status) -> String {
    let kv_server::Status {
        reads,
        hits,
        of_others,
        writes,
        keys,
        bytes: held,
        file_bytes,
        integrity,
        disk,
        pair,
        network,
        error,
        ..
    } = kv;
    let state = error.as_ref().map(|why| format!(", not answering: {why}")).unwrap_or_default();
    let place = match (keys, held, file_bytes, network) {
        (Some(keys), Some(held), Some(file), _) => {
            format!("{} with {}, file {}", count(*keys), bytes(*held), bytes(*file))
        }
        (.., Some(network)) => format!("in {}", network.store),
        _ => String::new(),
    };
    let others = of_others.as_ref().map_or_else(String::new, |of_others| {
        let kv_server::FromOthers { regional, upper, store } = of_others;
        format!(
            ", {} from regional and {} from upper tiers, {} from the store",
            count(*regional),
            count(*upper),
            count(*store)
        )
    });
    let told = network.as_ref().map_or_else(String::new, |network| {
        let kv_server::InNetwork { refreshes, unchanged, stood_in, heard, to_tell, told, messages, untold, .. } =
            network;
        format!(
            "changes of keys in other data centres: {} of {} sent, in {}, {} dropped; {} received; {} copies revalidated, {} of them unchanged, {} served stale\n",
            count(*told),
            count(*to_tell),
            plural(*messages, "message"),
            count(*untold),
            count(*heard),
            count(*refreshes),
            count(*unchanged),
            count(*stood_in),
        )
    });
    let kept = disk.as_ref().map_or_else(String::new, |disk| {
        let state = disk.error.as_ref().map(|why| format!(", not stored there: {why}")).unwrap_or_default();
        format!("values on disk: {}, {}{state}\n", count(disk.values), bytes(disk.bytes))
    });
    let damage = integrity.as_ref().map_or_else(String::new, damage_line);
    format!(
        "keys: {place}, {} ({} from copies{others}), {}{state}\n{damage}{kept}{}{told}",
        plural(*reads, "read"),
        count(*hits),
        plural(*writes, "write"),
        pair.as_ref().map(pair_line).unwrap_or_default(),
    )
}

fn damage_line(integrity: &kv_server::Integrity) -> String {
    let kv_server::Integrity { damaged_blocks, damaged_keys, .. } = integrity;
    if *damaged_blocks == 0 && *damaged_keys == 0 {
        return String::new();
    }
    format!(
        "store damaged: {}, {}; stop this data centre and run `longhaul edge kv repair`\n",
        plural(*damaged_keys, "key"),
        plural(*damaged_blocks, "block")
    )
}

fn pair_line(pair: &kv_server::Pair) -> String {
    let kv_server::Pair { other, is_reachable, behind, is_filling, given, taken, repaired, differed, .. } =
        pair;
    format!(
        "other store, in {other}: {}, {} behind; {} given to it, {} taken from it, {} of them late; {} found to differ{}\n",
        if *is_reachable { "reachable" } else { "not reachable" },
        plural(*behind, "key"),
        count(*given),
        count(*taken),
        count(*repaired),
        count(*differed),
        if *is_filling { "; this one may lack old keys yet" } else { "" },
    )
}

fn row(origin: &OriginStatus) -> [String; 7] {
    [
        origin.address.clone(),
        match &origin.reason {
            _ if origin.healthy => "up".to_owned(),
            None => "down".to_owned(),
            Some(reason) => format!("down: {reason}"),
        },
        count(origin.requests),
        count(origin.failures),
        count(origin.connections),
        count(origin.in_flight),
        origin.connect_ms.map_or_else(|| "-".to_owned(), latency),
    ]
}

const ORIGINS: [&str; 7] =
    ["origin", "state", "requests", "failed", "connections", "in flight", "connect ms"];
