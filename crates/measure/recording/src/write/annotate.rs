//! Adds to a complete recording what was not known before.

use std::path::Path;

use super::{Output, Writer};
use crate::{Error, Sample, read::native};

/// Applies `note` to each sample of a native recording, in order. The file is replaced when the new
/// one is complete; on an error it is unchanged.
///
/// # Errors
/// The file cannot be read, is not a native recording, or the new one cannot be written.
pub fn annotate(path: &Path, mut note: impl FnMut(&mut Sample)) -> Result<(), Error> {
    let mut samples = native::open(path)?;
    let mut writer = Writer::new(Output::create(path)?, samples.header())?;
    let mut lines = 1;
    for sample in &mut samples {
        let mut sample = sample?;
        note(&mut sample);
        writer.write(&sample)?;
        lines += 1;
    }
    let output = match samples.end() {
        Some(end) => writer.finish(end)?,
        None => writer.into_inner(),
    };
    output.finish(lines)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SAMPLES: &str =
        "{\"schema\":\"longhaul.recording/1\",\"label\":\"x\"}\n{\"latency_ns\":5}\n{\"latency_ns\":7}\n";

    #[test]
    fn samples_are_changed_and_all_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, format!("{SAMPLES}{{\"end\":{{\"samples\":2}}}}\n")).unwrap();
        let mut errors = [3, 4].into_iter();
        annotate(&path, |sample| sample.own_error_ns = errors.next()).unwrap();
        let mut read = native::open(&path).unwrap();
        let samples: Vec<Sample> = (&mut read).map(Result::unwrap).collect();
        let known: Vec<_> = samples.iter().map(|sample| (sample.latency_ns, sample.own_error_ns)).collect();
        assert_eq!(known, [(Some(5), Some(3)), (Some(7), Some(4))]);
        assert_eq!((read.header().label.as_deref(), read.end().unwrap().samples), (Some("x"), 2));
    }

    #[test]
    fn what_was_cut_off_stays_so_and_what_is_broken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, SAMPLES).unwrap();
        annotate(&path, |_| ()).unwrap();
        let mut read = native::open(&path).unwrap();
        assert_eq!(((&mut read).count(), read.end()), (2, None));

        let broken = format!("{SAMPLES}nonsense\n{{\"latency_ns\":7}}\n");
        fs::write(&path, &broken).unwrap();
        annotate(&path, |_| ()).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), broken);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }
}
