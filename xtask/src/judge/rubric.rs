//! Compares our rubric with the npm package of the test that published it: the points and classes must be
//! equal if all figures are present. If a figure is missing, prints how the package's scores relate to our
//! range.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use speedtest::rubric::{Measured, Rubric, Score, Scores};

use super::install;
use crate::root;

#[derive(Debug, Deserialize)]
struct Said {
    streaming: Option<Mark>,
    gaming: Option<Mark>,
    rtc: Option<Mark>,
}

#[derive(Debug, Deserialize)]
struct Mark {
    points: i32,
    class: String,
}

pub(crate) fn judge() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    install::npm(folder.path(), &[PACKAGE])?;
    let grid = grid();
    let differ = grid.iter().zip(ask(folder.path(), &grid)?).filter_map(|(figures, said)| {
        let ours = Rubric::AIM.score(figures);
        (!each(&ours, &said).iter().all(|(ours, said)| is_same(ours, *said))).then_some((figures, ours, said))
    });
    let differ: Vec<_> = differ.collect();
    println!("{} sets of figures, all present: {} differ from {PACKAGE}", grid.len(), differ.len());
    for (name, remove) in MISSING {
        let mut without = grid.clone();
        without.iter_mut().for_each(remove);
        without.dedup();
        let [mut inside, mut outside, mut none] = [0; 3];
        for (figures, said) in without.iter().zip(ask(folder.path(), &without)?) {
            for (ours, said) in each(&Rubric::AIM.score(figures), &said) {
                match said {
                    None => none += 1,
                    Some(mark) if (ours.points..=ours.points_at_best).contains(&mark.points) => inside += 1,
                    Some(_) => outside += 1,
                }
            }
        }
        println!(
            "without {name}: {inside} scores of the package are in our range, {outside} are not, {none} are missing"
        );
    }
    if let Some((figures, ours, said)) = differ.first() {
        bail!("{figures:?}\nours: {ours:?}\ntheirs: {said:?}");
    }
    Ok(())
}

fn ask(folder: &Path, figures: &[Measured]) -> anyhow::Result<Vec<Said>> {
    let mut node = Command::new("node")
        .arg(root().join("xtask/src/judge/rubric.mjs"))
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("node cannot be run")?;
    let mut input = node.stdin.take().context("a program has a standard input")?;
    input.write_all(&serde_json::to_vec(figures)?)?;
    drop(input);
    let output = node.wait_with_output()?;
    ensure!(
        output.status.success(),
        "node could not compute scores; the interface of {PACKAGE} may have changed"
    );
    let said: Vec<Said> = serde_json::from_slice(&output.stdout)?;
    ensure!(said.len() == figures.len(), "{} results for {} sets of figures", said.len(), figures.len());
    Ok(said)
}

fn each<'s>(ours: &'s Scores, said: &'s Said) -> [(&'s Score, Option<&'s Mark>); 3] {
    [
        (&ours.streaming, said.streaming.as_ref()),
        (&ours.gaming, said.gaming.as_ref()),
        (&ours.rtc, said.rtc.as_ref()),
    ]
}

fn is_same(ours: &Score, said: Option<&Mark>) -> bool {
    let is_sure = ours.points == ours.points_at_best && ours.missing.is_empty();
    is_sure && said.is_some_and(|said| said.points == ours.points && said.class == ours.class.to_string())
}

/// On both sides of every threshold and on some of them, including latencies under load below the
/// idle latency.
fn grid() -> Vec<Measured> {
    let mut grid = Vec::new();
    for download_bps in [0.9e6, 1e6, 49e6, 50e6, 250e6] {
        for loss_ratio in [0.0, 0.01, 0.049, 0.25, 0.5] {
            for idle_ms in [3.0, 10.0, 49.9, 99.0, 600.0] {
                for jitter_ms in [9.9, 10.0, 99.0, 500.0] {
                    for loaded_down_ms in [2.0, 13.0, 60.0, 150.0, 1200.0] {
                        for loaded_up_ms in [5.0, 22.9, 110.0, 499.0] {
                            grid.push(Measured {
                                download_bps: Some(download_bps),
                                upload_bps: Some(10e6),
                                idle_ms: Some(idle_ms),
                                loaded_down_ms: Some(loaded_down_ms),
                                loaded_up_ms: Some(loaded_up_ms),
                                jitter_ms: Some(jitter_ms),
                                loss_ratio: Some(loss_ratio),
                            });
                        }
                    }
                }
            }
        }
    }
    grid
}

type Forget = fn(&mut Measured);

const MISSING: [(&str, Forget); 4] = [
    ("packet loss", |one| one.loss_ratio = None),
    ("latency under load", |one| (one.loaded_down_ms, one.loaded_up_ms) = (None, None)),
    ("latency while uploading", |one| one.loaded_up_ms = None),
    ("jitter", |one| one.jitter_ms = None),
];

const PACKAGE: &str = "@cloudflare/speedtest@1.14.1";
