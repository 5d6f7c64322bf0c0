//! `[[prepare]]`: commands that run in the run's folder before the hosts are created, for example
//! to issue certificates or to write files that contain the folder's path.

use std::{
    fs::{self, File},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use crate::{
    clock::{Clock, pause},
    error::Error,
    folder::{Folder, absolute},
};

/// The first failure ends the run.
pub(crate) fn prepare(
    commands: &[Vec<String>],
    longhaul: &Path,
    folder: &Folder<'_>,
    mut look: impl FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    for (number, command) in commands.iter().enumerate() {
        let what = command.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
        let log = folder.log(&format!("prepare-{}", number + 1));
        let ended = one(&folder.placed(command), longhaul, folder.0, &log, (&what, &mut look))?;
        if !ended.success() {
            return Err(Error::Ended { what, how: ended.to_string(), last_words: last_words(&log) });
        }
    }
    Ok(())
}

fn one(
    command: &[String],
    longhaul: &Path,
    folder: &Path,
    log: &Path,
    (what, look): (&str, &mut impl FnMut() -> Result<(), Error>),
) -> Result<ExitStatus, Error> {
    let failed = |source| Error::Start { what: what.to_owned(), source };
    let said = File::create(log).map_err(|source| Error::Access { path: log.to_owned(), source })?;
    let errors = said.try_clone().map_err(failed)?;
    let program = if command[0] == "longhaul" { longhaul.as_os_str() } else { command[0].as_ref() };
    let child = Command::new(program)
        .args(&command[1..])
        .current_dir(absolute(folder))
        .env(OWN, longhaul)
        .stdin(Stdio::null())
        .stdout(said)
        .stderr(errors)
        .spawn()
        .map_err(failed)?;
    let mut child = Ending(child);
    let clock = Clock::start();
    loop {
        if let Some(ended) = child.0.try_wait().map_err(failed)? {
            return Ok(ended);
        }
        if clock.elapsed() > WITHIN {
            let how = format!("after {} s, the most that it may take", WITHIN.as_secs());
            return Err(Error::Ended { what: what.to_owned(), how, last_words: last_words(log) });
        }
        look()?;
        pause();
    }
}

struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn last_words(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].iter().map(|line| format!("\n  | {line}")).collect()
}

const LAST_LINES: usize = 8;
/// The environment variable with the path of this program.
const OWN: &str = "LONGHAUL";
/// Longer work must be completed before the run.
const WITHIN: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::words;

    #[test]
    fn commands_are_done_in_the_folder_one_after_another() {
        let out = tempfile::tempdir().unwrap();
        let folder = Folder(out.path());
        fs::create_dir_all(folder.logs()).unwrap();
        let commands = [words(&["sh", "-c", "echo a > x"]), words(&["cp", "x", "{out}/y"])];
        prepare(&commands, Path::new("longhaul"), &folder, || Ok(())).unwrap();
        assert_eq!(fs::read_to_string(out.path().join("y")).unwrap(), "a\n");
        let wrong = [words(&["sh", "-c", "echo no such thing; exit 3"]), words(&["touch", "z"])];
        let error = prepare(&wrong, Path::new("longhaul"), &folder, || Ok(())).unwrap_err().to_string();
        assert_eq!(error, "sh -c ended early (exit status: 3)\n  | no such thing");
        assert!(!out.path().join("z").exists());
        let missing = prepare(&[words(&["/no/such"])], Path::new("longhaul"), &folder, || Ok(()));
        assert!(missing.unwrap_err().to_string().starts_with("cannot start /no/such: "));
    }
}
