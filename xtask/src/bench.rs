//! Benchmarks of Longhaul against peers in the same run: ratios depend less on the machine than absolute
//! figures.

mod closed_forms;
mod compare;
pub(crate) mod edge;
mod engines;
mod false_positives;
mod figures;
mod grid;
mod headers;
pub(crate) mod iperf;
mod kv;
pub(crate) mod lab;
mod planet;
mod power;
mod probe;
mod program;
mod speed;
mod tcp;
mod tiers;
mod veth;

use anyhow::{Context, bail};

use ::planet::Awake;

use self::grid::Form;
use crate::{release, run};

pub(crate) use closed_forms::packets;
pub(crate) use engines::bench as engines;
pub(crate) use headers::bench as headers;
pub(crate) use tiers::choice;

pub(crate) fn bench(words: &[&str]) -> anyhow::Result<()> {
    if words == ["grid", "--json"] {
        release::build()?;
        let _awake = Awake::hold();
        return grid::bench(Form::Json);
    }
    let number = |text: &str| -> anyhow::Result<u64> {
        text.parse().with_context(|| format!("\"{text}\" is not a number of repeats"))
    };
    if let ["power", repeats @ ..] = words {
        return match repeats {
            [] => power::bench(200, ""),
            [repeats] => power::bench(number(repeats)?, ""),
            [repeats, shape] => power::bench(number(repeats)?, shape),
            _ => bail!("expected power, perhaps a number of repeats, and a part of a shape's name"),
        };
    }
    if let ["sure", repeats @ ..] = words {
        return match repeats {
            [] => false_positives::bench(1000, ""),
            ["peers"] => false_positives::peers(200),
            ["peers", repeats] => false_positives::peers(number(repeats)?),
            [repeats] => false_positives::bench(number(repeats)?, ""),
            [repeats, place] => false_positives::bench(number(repeats)?, place),
            _ => bail!(
                "expected sure, perhaps peers, a number of repeats, and words of a place such as 'bursts | 50 x 50'"
            ),
        };
    }
    if let ["edge", options @ ..] = words {
        return edge::bench(options);
    }
    let wanted = wanted(words)?;
    release::build()?;
    println!("{}", conditions());
    // Like a scenario, a benchmark needs a processor that does not enter deep sleep states.
    let _awake = Awake::hold();
    for (group, names) in BENCHES {
        let wanted: Vec<_> = names.iter().filter(|name| wanted.contains(&(group, name))).collect();
        if wanted.is_empty() {
            continue;
        }
        println!("\n## {group}\n");
        if ["planet", "compare", "tcp", "probe", "headers", "kv", "speed", "tiers"].contains(group) {
            println!("| what | goal | n | median | least | most |\n| --- | --- | --- | --- | --- | --- |");
        }
        wanted.into_iter().try_for_each(|name| measure(group, name))?;
    }
    Ok(())
}

/// The name of a group selects the whole group, or only the members listed after it; any other name
/// selects the first benchmark with that name.
fn wanted(mut words: &[&str]) -> anyhow::Result<Vec<(&'static str, &'static str)>> {
    let all = |&(group, names): &(&'static str, &'static [&'static str])| {
        names.iter().map(move |name| (group, *name))
    };
    let mut wanted = Vec::new();
    while let [word, rest @ ..] = words {
        words = rest;
        if let Some(of_group) = BENCHES.iter().find(|(group, _)| group == word) {
            let named = rest.iter().take_while(|word| of_group.1.contains(word)).count();
            let (named, rest) = rest.split_at(named);
            wanted.extend(all(of_group).filter(|(_, name)| named.is_empty() || named.contains(name)));
            words = rest;
        } else if let Some(one) = BENCHES.iter().flat_map(all).find(|(_, name)| name == word) {
            wanted.push(one);
        } else {
            bail!(
                "no benchmark \"{word}\"; expected planet (speed, delay, shaper, cities), grid (alone also with --json), \
                 forms, compare, tcp (loopback, telemetry, explain, ports, forms), probe (load, added, stall), headers, kv (read, write, page, nats), speed (bulk, clients, idle), \
                 tiers (choice, upper, purges, detour, simulated, beside); edge or sure alone"
            );
        }
    }
    Ok(if wanted.is_empty() { BENCHES.iter().flat_map(all).collect() } else { wanted })
}

const BENCHES: &[(&str, &[&str])] = &[
    ("planet", &["speed", "delay", "shaper", "cities"]),
    ("grid", &["grid"]),
    ("forms", &["forms"]),
    ("compare", &["compare"]),
    ("tcp", &["loopback", "telemetry", "explain", "ports", "forms"]),
    ("probe", &["load", "added", "stall"]),
    ("headers", &["headers"]),
    ("kv", &["read", "write", "page", "nats"]),
    ("speed", &["bulk", "clients", "idle"]),
    ("tiers", &["choice", "upper", "purges", "detour", "simulated", "beside"]),
];

fn measure(group: &str, name: &str) -> anyhow::Result<()> {
    match name {
        "speed" => planet::speed(),
        "delay" => planet::delay(),
        "shaper" => planet::shaper(),
        "cities" => planet::cities(),
        "grid" => grid::bench(Form::Table),
        "forms" if group == "tcp" => tcp::forms(),
        "forms" => closed_forms::bench(),
        "loopback" => tcp::loopback(),
        "telemetry" => tcp::telemetry(),
        "explain" => tcp::explain(),
        "ports" => tcp::ports(),
        "load" => probe::load(),
        "added" => probe::added(),
        "stall" => probe::stall(),
        "headers" => optimised("header-bench"),
        "read" => kv::read(),
        "write" => kv::write(),
        "page" => kv::page(),
        "nats" => kv::nats(),
        "bulk" => speed::bulk(),
        "clients" => speed::clients(),
        "idle" => speed::idle(),
        "choice" => optimised("tier-bench"),
        "upper" => tiers::upper(),
        "purges" => tiers::purges(),
        "detour" => tiers::detour(),
        "simulated" => tiers::simulated(),
        "beside" => tiers::beside(),
        _ => {
            compare::bench()?;
            optimised("engine-bench")
        }
    }
}

fn optimised(task: &str) -> anyhow::Result<()> {
    run(".", "cargo", &["run", "--quiet", "--release", "--package", "xtask", "--", task])
}

fn row(what: &str, goal: &str, unit: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return };
    let median = values[values.len() / 2];
    println!("| {what} | {goal} | {} | {median:.3} {unit} | {least:.3} | {most:.3} |", values.len());
}

fn conditions() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = model.trim_start_matches(['\t', ' ', ':']);
    let (kernel, load) = (read("/proc/sys/kernel/osrelease"), read("/proc/loadavg"));
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cores} cores of {model}, Linux {}, load {load} before the start", kernel.trim())
}
