//! Stops the servers and removes their folder, even if this program is interrupted or killed.
//!
//! If the pipe closes before the shell has read `done`, the shell cleans up.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::Context;

pub(super) struct Guard(Child);

impl Guard {
    pub(super) fn over(folder: &Path) -> anyhow::Result<Self> {
        let child = Command::new("sh")
            .args(["-c", SCRIPT, "guard"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C signals the process group of this program only.
            .process_group(0)
            .spawn()
            .context("cannot run sh")?;
        Ok(Self(child))
    }

    pub(super) fn watch(&mut self, id: u32) -> anyhow::Result<()> {
        self.say(&id.to_string())
    }

    fn say(&mut self, word: &str) -> anyhow::Result<()> {
        let pipe = self.0.stdin.as_mut().context("the guard's pipe is closed")?;
        writeln!(pipe, "{word}").context("the guard has ended")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.say("done");
        let _ = self.0.wait();
    }
}

/// SIGTERM first; SIGKILL after 5 s.
const SCRIPT: &str = r#"
ids=
while read -r word; do
    [ "$word" = done ] && exit
    ids="$ids $word"
done
kill $ids
lives() { for id in $ids; do kill -0 "$id" && return; done; return 1; }
tries=0
while lives && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
kill -KILL $ids
rm -rf "$1"
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("sleep").arg("1000").spawn().unwrap();
        let mut guard = Guard::over(folder.path()).unwrap();
        guard.watch(server.id()).unwrap();
        drop(guard.0.stdin.take());
        assert!(!server.wait().unwrap().success());
        guard.0.wait().unwrap();
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_run_that_ended_in_order_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        drop(Guard::over(folder.path()).unwrap());
        assert!(folder.path().exists());
    }
}
