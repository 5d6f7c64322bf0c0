//! The output of a speed test on the terminal.

use std::fmt::Write;

use report::terminal::table::table;
use speedtest::{
    bandwidth::Bandwidth,
    bottleneck::Limits,
    latency::{During, Loaded, On},
    result::{Judgement, Outcome},
    rubric::{Class, Score, Scores},
};
use units::show;

use crate::output::{BOLD, DIM, GREEN, RED, YELLOW, paint};

pub(super) fn outcome(outcome: &Outcome) -> String {
    let Outcome { url, protocol, plan, streams, took_s, .. } = outcome;
    let streams = show::plural((*streams).into(), "stream");
    let mut text = format!(
        "{url} over {protocol}, plan {plan}, {streams}, {}\n\n{}\n\n",
        show::span(*took_s),
        paint(&outcome.sentence, BOLD)
    );
    let lines = [
        ("download", bandwidth(&outcome.download)),
        ("upload", bandwidth(&outcome.upload)),
        ("latency", latency(outcome)),
        ("loss", loss(outcome)),
        ("responsiveness", responsiveness(outcome)),
    ];
    for (name, figures) in lines {
        let _ = writeln!(text, "{name:<15} {figures}");
    }
    let _ = write!(text, "\n{}\n{}", sizes(outcome), scores(&outcome.scores));
    if !outcome.missing.is_empty() {
        text.push('\n');
        for missing in &outcome.missing {
            let _ = writeln!(text, "not measured: {}: {}", missing.what, missing.why);
        }
    }
    text
}

pub(super) fn judgement(judgement: &Judgement) -> String {
    format!("{}\n\n{}", paint(&judgement.sentence, BOLD), scores(&judgement.scores))
}

fn bandwidth(found: &Bandwidth) -> String {
    // Transfers that are too short for a rate do not show the limits of the line.
    let Some(rate) = found.bps_p90.map(show::rate) else { return "-".to_owned() };
    match (&found.limited_by, found.limits) {
        (Some(who), Some(limits)) => format!("{rate}, limited by the {who} ({})", shares(limits)),
        _ => rate,
    }
}

fn shares(limits: Limits) -> String {
    let each = [
        (limits.network, "network"),
        (limits.receiver_window, "receiver window"),
        (limits.send_buffer, "send buffer"),
        (limits.application, "application"),
        (limits.device, "device"),
    ];
    let each = each.into_iter().filter(|(share, _)| *share >= 0.005);
    let each: Vec<_> = each.map(|(share, who)| format!("{who} {:.0} %", share * 100.0)).collect();
    format!("{}; {} sent again", each.join(", "), show::share(limits.retransmitted))
}

fn latency(outcome: &Outcome) -> String {
    let ms = |ms: f64| show::time(ms / 1e3);
    let latency = &outcome.latency;
    let Some(idle) = latency.idle_ms else { return "-".to_owned() };
    let mut text = format!("{} idle ({} to {}, n {})", ms(idle.p50), ms(idle.min), ms(idle.max), idle.n);
    if let Some(jitter) = latency.jitter_ms {
        let _ = write!(text, ", jitter {}", ms(jitter));
    }
    for (during, words) in [(During::Download, "downloading"), (During::Upload, "uploading")] {
        let of = |on| latency.loaded.iter().find(|loaded| loaded.during == during && loaded.on == on);
        if let Some(Loaded { ms: separate, .. }) = of(On::Separate) {
            let _ = write!(text, "; {} while {words}", ms(separate.p50));
            if let Some(same) = of(On::Same) {
                let _ = write!(text, ", {} on the same connection", ms(same.ms.p50));
            }
        }
    }
    text
}

fn loss(outcome: &Outcome) -> String {
    outcome.loss.map_or_else(
        || "-".to_owned(),
        |loss| {
            let [share, low, high] = [loss.ratio, loss.low, loss.high].map(show::share);
            format!("{share}, {} of {} datagrams (95 % interval {low} to {high})", loss.lost, loss.sent)
        },
    )
}

fn responsiveness(outcome: &Outcome) -> String {
    let Some(value) = outcome.rpm.value else { return "-".to_owned() };
    let confidence = match outcome.rpm.confidence {
        Some(speedtest::responsiveness::Confidence::High) => ", steady",
        Some(speedtest::responsiveness::Confidence::Medium) => ", which varied",
        _ => ", which varied much or rests on few probes",
    };
    format!("{value:.0} round trips a minute{confidence}\n{:<15} {}", "", paint(&outcome.rpm.method, DIM))
}

fn sizes(outcome: &Outcome) -> String {
    let header = ["Mbit/s", "n", "min", "p25", "p50", "p75", "max"].map(str::to_owned);
    let rows = [("download", &outcome.download), ("upload", &outcome.upload)].into_iter().flat_map(
        |(name, bandwidth)| {
            bandwidth.sets.iter().map(move |set| {
                let mbits =
                    |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), |bps| show::digits(bps / 1e6));
                [
                    format!("{name} {}", units::Bytes(set.bytes)),
                    set.n.to_string(),
                    mbits(set.min),
                    mbits(set.p25),
                    mbits(set.p50),
                    mbits(set.p75),
                    mbits(set.max),
                ]
            })
        },
    );
    table(header, rows)
}

fn scores(scores: &Scores) -> String {
    let mut text = String::new();
    for (name, score) in
        [("streaming", &scores.streaming), ("gaming", &scores.gaming), ("calls", &scores.rtc)]
    {
        let class = paint(&score.class_in_words(), colour(score));
        let _ = writeln!(text, "{name:<10} {class}: {} of {} points", score.points_in_words(), score.max);
        for reason in &score.why {
            let _ = writeln!(text, "           {}", paint(&reason.text, DIM));
        }
    }
    text
}

fn colour(score: &Score) -> anstyle::Style {
    match score.class {
        Class::Bad | Class::Poor => RED,
        Class::Average => YELLOW,
        Class::Good | Class::Great => GREEN,
    }
}
