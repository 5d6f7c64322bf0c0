//! `longhaul edge top`: shows the state of a data centre once a second.

use std::{
    net::SocketAddr,
    os::fd::AsFd,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clap::Args;
use edge::admin::api::{Operator, Status};
use http_stack::clock::Clock;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signalfd::SignalFd,
};
use report::terminal::table::{Line, table};
use units::show::{bytes, count, latency, share};

use super::Admin;
use crate::{
    interrupt::Interrupt,
    output,
    progress::{self, Watch},
};

/// Watch a data centre: requests per second by cache status, the store, and the origins
///
/// Ctrl-C ends it. --json prints a line with the status each second, until Ctrl-C or until the reader closes
/// the pipe.
///
/// Example: longhaul edge top
#[derive(Debug, Args)]
pub(crate) struct Top {
    #[command(flatten)]
    admin: Admin,
    /// Print lines of JSON
    #[arg(long)]
    json: bool,
}

struct Looks {
    before: Status,
    now: Status,
    between: Duration,
}

impl Top {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let interrupt = Interrupt::listen()?.descriptor()?;
        let operator = self.admin.operator();
        let first = operator.status()?;
        if self.json {
            return lines(&operator, first, &interrupt);
        }
        let looks =
            Arc::new(Mutex::new(Looks { before: first.clone(), now: first, between: Duration::ZERO }));
        let shown = Arc::clone(&looks);
        let view = progress::watch(move |_, columns| {
            picture(&shown.lock().unwrap_or_else(PoisonError::into_inner), columns)
        })?;
        let clock = Clock::start();
        let mut looked = clock.now();
        while pause(&interrupt)? {
            let (now, at) = (operator.status()?, clock.now());
            let between = Duration::from_nanos(at - looked);
            let mut looks = looks.lock().unwrap_or_else(PoisonError::into_inner);
            *looks = Looks { before: looks.now.clone(), now, between };
            looked = at;
        }
        drop(view);
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn show(admin: SocketAddr) -> anyhow::Result<Watch> {
    let (operator, clock) = (Operator::at(admin), Clock::start());
    let mut looks: Option<(u64, Looks)> = None;
    progress::watch(move |_, columns| {
        let at = clock.now();
        let is_due = |looked: u64| Duration::from_nanos(at - looked) >= BETWEEN;
        if looks.as_ref().is_none_or(|(looked, _)| is_due(*looked))
            && let Ok(now) = operator.status()
        {
            let (looked, before) =
                looks.take().map_or_else(|| (at, now.clone()), |(looked, looks)| (looked, looks.now));
            looks = Some((at, Looks { before, now, between: Duration::from_nanos(at - looked) }));
        }
        looks.as_ref().map_or_else(String::new, |(_, looks)| picture(looks, columns))
    })
}

fn lines(operator: &Operator, mut status: Status, interrupt: &SignalFd) -> anyhow::Result<ExitCode> {
    loop {
        output::print_json_line(&output::named("longhaul.edge.status/1", status))?;
        if !pause(interrupt)? {
            return Ok(ExitCode::SUCCESS);
        }
        status = operator.status()?;
    }
}

fn pause(interrupt: &SignalFd) -> anyhow::Result<bool> {
    let mut watched = [PollFd::new(interrupt.as_fd(), PollFlags::POLLIN)];
    Ok(poll(&mut watched, PollTimeout::from(BETWEEN_MS))? == 0)
}

fn picture(looks: &Looks, columns: Option<usize>) -> String {
    let Status { data_centre, requests, store, origins, .. } = &looks.now;
    let seconds = looks.between.as_secs_f64();
    // The counters of a restarted data centre start at 0.
    #[expect(clippy::cast_precision_loss, reason = "a count for a person")]
    let a_second = |now: u64, before: u64| {
        if seconds > 0.0 {
            format!("{:.0}", now.saturating_sub(before) as f64 / seconds)
        } else {
            "-".to_owned()
        }
    };
    let (now, before) = (requests.by_cache_status.named(), looks.before.requests.by_cache_status.named());
    let all = requests.total.saturating_sub(looks.before.requests.total);
    #[expect(clippy::cast_precision_loss, reason = "a share for a person")]
    let of_all = |number: u64| if all == 0 { "-".to_owned() } else { share(number as f64 / all as f64) };
    let rows = now.into_iter().zip(before).map(|((word, now), (_, before))| {
        [word.to_owned(), a_second(now, before), of_all(now.saturating_sub(before)), count(now)]
    });
    let rate = a_second(requests.total, looks.before.requests.total);
    let head = format!(
        "{data_centre}  {rate} requests/s, memory {} of {} in {} objects",
        bytes(store.memory_bytes),
        bytes(store.memory_limit_bytes),
        count(store.objects),
    );
    let Some(columns) = columns else { return head };
    let asked_before = |address: &str| {
        let known = looks.before.origins.iter().find(|origin| origin.address == address);
        known.map_or(0, |origin| origin.requests)
    };
    let origins = origins.iter().map(|origin| {
        [
            origin.address.clone(),
            if origin.healthy { "up" } else { "down" }.to_owned(),
            a_second(origin.requests, asked_before(&origin.address)),
            count(origin.failures),
            count(origin.connections),
            origin.connect_ms.map_or_else(|| "-".to_owned(), latency),
        ]
    });
    let text = format!(
        "{head}\n\n{}\n{}",
        table(["cache", "/s", "share", "in all"].map(str::to_owned), rows),
        table(["origin", "state", "/s", "failed", "connections", "connect ms"].map(str::to_owned), origins),
    );
    let lines = text.lines().map(|line| Line::from(line).cut(columns.saturating_sub(2)).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

const BETWEEN: Duration = Duration::from_millis(BETWEEN_MS as u64);
const BETWEEN_MS: u16 = 1000;
