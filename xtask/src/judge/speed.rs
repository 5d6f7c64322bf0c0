//! Accuracy of the speed test on known links of a planet: 1 Mbit/s to 1 Gbit/s, 1 to 300 ms, queues of 20 and
//! 300 ms.

mod bloat;
mod browser;
mod line;
mod loss;
mod rate;
mod verdict;

use anyhow::{bail, ensure};

use self::{line::Link, verdict::Verdicts};
use crate::release;

pub(crate) fn judge(words: &[&str]) -> anyhow::Result<()> {
    let (parts, only) = match words {
        [parts @ .., "--only", only] => (parts, *only),
        parts => (parts, ""),
    };
    if let Some(stranger) = parts.iter().find(|part| !PARTS.contains(part)) {
        bail!(
            "no part \"{stranger}\"; expected rate, bloat, loss, browser, or none of them for all, perhaps with --only TEXT"
        );
    }
    release::build()?;
    let is_wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    let mut verdicts = Verdicts::begin();
    for part in PARTS.iter().filter(|part| is_wanted(part)) {
        let (links, judge): (Vec<Link>, Judge) = match *part {
            "rate" => (line::grid(), rate::judge),
            "bloat" => (line::deep(), bloat::judge),
            "loss" => (line::lossy(), loss::judge),
            _ => (line::browsers(), browser::judge),
        };
        for link in links.iter().filter(|link| link.name().contains(only)) {
            judge(link, &mut verdicts)?;
        }
    }
    println!("\n{verdicts}");
    ensure!(verdicts.are_good(), "some figures are outside of their tolerance");
    Ok(())
}

type Judge = fn(&Link, &mut Verdicts) -> anyhow::Result<()>;

const PARTS: [&str; 4] = ["rate", "bloat", "loss", "browser"];
