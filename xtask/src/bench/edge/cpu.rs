//! Processor time of a server: of its process and all descendants, including descendants that have exited.

use std::fs;

use anyhow::{Context, ensure};
use nix::unistd::{SysconfVar, sysconf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    id: u32,
    parent: u32,
    /// User and kernel time, including that of children that were waited for.
    ticks: u64,
}

/// The resolution is one clock tick, normally 10 ms.
#[expect(clippy::cast_precision_loss, reason = "ticks of a run fit")]
pub(in crate::bench) fn of_tree_us(root: u32) -> anyhow::Result<f64> {
    let ticks_per_second = sysconf(SysconfVar::CLK_TCK)?.context("the kernel has no clock ticks")?;
    let all = all()?;
    ensure!(all.iter().any(|stat| stat.id == root), "process {root} has ended");
    Ok(of_tree(&all, root) as f64 * 1e6 / ticks_per_second as f64)
}

fn all() -> anyhow::Result<Vec<Stat>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().parse::<u32>().is_ok() {
            // A process may exit before its file is read.
            all.extend(parse(&fs::read_to_string(entry.path().join("stat")).unwrap_or_default()));
        }
    }
    Ok(all)
}

fn of_tree(all: &[Stat], root: u32) -> u64 {
    let own: u64 = all.iter().filter(|stat| stat.id == root).map(|stat| stat.ticks).sum();
    let below = all.iter().filter(|stat| stat.parent == root && stat.id != root);
    own + below.map(|child| of_tree(all, child.id)).sum::<u64>()
}

/// The program's name is in parentheses and may contain blanks and parentheses.
fn parse(text: &str) -> Option<Stat> {
    let (id, _) = text.split_once(" (")?;
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<_> = rest.split(' ').collect();
    let [utime, stime, cutime, cstime] = fields.get(11..15)? else { return None };
    let ticks = [utime, stime, cutime, cstime].into_iter().map(|field| field.trim().parse::<u64>());
    Some(Stat {
        id: id.parse().ok()?,
        parent: fields[1].parse().ok()?,
        ticks: ticks.sum::<Result<_, _>>().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_even_if_the_name_has_blanks_and_brackets() {
        // Fields 14 to 17 of the manual page: 11 + 7 ticks of the process, 5 + 3 of its children.
        let line = "4242 (odd) (name) S 17 4242 4242 0 -1 4194560 900 0 0 0 11 7 5 3 20 0 6 0 812 1 2 3\n";
        assert_eq!(parse(line), Some(Stat { id: 4242, parent: 17, ticks: 26 }));
        for cut in ["", "4242 (name", "4242 (name) S 17 1 1 0 -1 0 0 0 0 0 11 7 5"] {
            assert_eq!(parse(cut), None, "{cut:?}");
        }
    }

    #[test]
    fn all_below_count_and_others_do_not() {
        let stat = |id, parent, ticks| Stat { id, parent, ticks };
        let all = [stat(1, 0, 1000), stat(10, 1, 1), stat(11, 10, 20), stat(12, 11, 300), stat(13, 1, 4000)];
        assert_eq!(of_tree(&all, 10), 321);
    }

    #[test]
    fn this_process_is_found_and_none_that_is_not_there() {
        assert!(of_tree_us(std::process::id()).is_ok());
        assert!(of_tree_us(u32::MAX).is_err());
        let own = all().unwrap().into_iter().filter(|stat| stat.id == std::process::id());
        assert_eq!(own.count(), 1);
    }
}
