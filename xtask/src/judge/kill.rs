//! Repeatedly kills a data centre with a disk at random times under load, and verifies every byte that
//! clients receive.

mod body;
mod origin;
mod visitor;

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering::SeqCst},
    thread,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::visitor::{Seen, visit};
use super::{data_centre, free_port, longhaul};
use crate::release;

pub(crate) fn judge(kills: &[&str]) -> anyhow::Result<()> {
    let kills: u64 = match kills {
        [] => 100,
        [kills] => kills.parse().ok().filter(|kills| *kills > 0).context("KILLS is a number from 1 on")?,
        _ => bail!("expected a number of kills"),
    };
    release::build()?;
    let folder = tempfile::tempdir()?;
    let (origin, front) = (origin::start()?, free_port()?);
    let network = network(folder.path(), origin, front);
    let seen = Arc::new(Seen::default());
    let visitors: Vec<_> = (0..VISITORS)
        .map(|seed| {
            let seen = Arc::clone(&seen);
            thread::spawn(move || visit(front, seed, &seen))
        })
        .collect();
    let killed = kill(kills, folder.path(), &network, &seen);
    seen.is_over.store(true, SeqCst);
    for visitor in visitors {
        let _ = visitor.join();
    }
    println!("{seen}");
    let wrong = seen.wrong();
    wrong.iter().for_each(|wrong| println!("{wrong}"));
    killed?;
    ensure!(wrong.is_empty(), "{} responses were wrong", wrong.len());
    ensure!(seen.has_all_kinds(), "too few kinds of responses for a conclusion");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the moment of a kill is to be any")]
fn kill(kills: u64, folder: &Path, network: &str, seen: &Seen) -> anyhow::Result<()> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for round in 1..=kills {
        let edge = data_centre(longhaul(), folder, network, &[])?;
        seen.is_up.store(true, SeqCst);
        thread::sleep(Duration::from_millis(random.next_u64() % 2000));
        seen.is_up.store(false, SeqCst);
        seen.lives.fetch_add(1, SeqCst);
        drop(edge);
        if round % 10 == 0 {
            println!("killed {round} times: {seen}");
        }
    }
    let _edge = data_centre(longhaul(), folder, network, &[])?;
    seen.is_up.store(true, SeqCst);
    thread::sleep(Duration::from_secs(10));
    seen.is_up.store(false, SeqCst);
    seen.lives.fetch_add(1, SeqCst);
    Ok(())
}

/// Memory has room for few objects, and the disk not for all.
fn network(folder: &Path, origin: u16, front: u16) -> String {
    let folder = folder.display();
    format!(
        "[network]
name = \"kill\"
[[data_centre]]
name = \"lhr\"
listen = [\"127.0.0.1:{front}\"]
memory = \"8MB\"
disk = \"{folder}/disk\"
disk_size = \"300MB\"
[[zone]]
name = \"all\"
hosts = [\"*\"]
origin = [\"http://127.0.0.1:{origin}\"]
"
    )
}

const VISITORS: u64 = 4;
