//! The kernel's tracefs: its availability, our instance of it, and the remains of dead processes.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

use super::{
    Bin, FUNCTIONS, Unavailable,
    events::{PREFIX, Timing, bins, leftover, owner},
};
use crate::{
    error::{Doing, Error},
    sys::try_lock,
};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracefs(PathBuf);

/// It is removed with all its events when it is dropped.
#[derive(Debug)]
pub(super) struct Instance {
    tracefs: Tracefs,
    name: String,
    /// Locked while this process runs, so that others can detect that the instance is in use, however the
    /// process ends.
    lock: Option<File>,
}

impl Tracefs {
    pub(super) fn find() -> Result<Self, Unavailable> {
        let mounted = FOLDERS.into_iter().find(|folder| Path::new(folder).join("README").exists());
        Self::at(mounted.unwrap_or(FOLDERS[0]))
    }

    fn at(folder: impl Into<PathBuf>) -> Result<Self, Unavailable> {
        let tracefs = Self(folder.into());
        let shown = tracefs.0.display();
        let help = fs::read_to_string(tracefs.0.join("README")).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => unavailable(
                format!("tracefs is not mounted at {shown}"),
                format!("as root: mount -t tracefs tracefs {shown}"),
            ),
            _ => refused(&tracefs.0, &error),
        })?;
        if !tracefs.0.join("kprobe_events").exists() {
            return Err(lacks("probes of its functions", "CONFIG_KPROBE_EVENTS"));
        }
        if !["onmatch(", "common_cpu", "synthetic_events"].iter().all(|word| help.contains(word)) {
            return Err(lacks("histograms of events", "CONFIG_HIST_TRIGGERS"));
        }
        tracefs.open_events().map_err(|error| refused(&tracefs.0.join(EVENTS), &error))?;
        Ok(tracefs)
    }

    /// Any other mode removes all events, including those of others.
    fn open_events(&self) -> io::Result<File> {
        OpenOptions::new().append(true).open(self.0.join(EVENTS))
    }

    fn define(&self, line: &str) -> io::Result<()> {
        self.open_events()?.write_all(line.as_bytes())
    }

    pub(super) fn instance(self) -> Result<Instance, Unavailable> {
        for number in 0..=u8::MAX {
            let name = format!("{PREFIX}_{}_{number}", process::id());
            let folder = self.folder(&name);
            match fs::create_dir(&folder) {
                // A process with this number in another PID namespace owns it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(refused(&folder, &error)),
                Ok(()) => {
                    let lock = lock(&folder).map_err(|error| refused(&folder, &error))?;
                    return Ok(Instance { tracefs: self, name, lock });
                }
            }
        }
        Err(unavailable(
            format!("{} has too many instances of ours", self.0.display()),
            format!("as root: rmdir {}/instances/{PREFIX}_*", self.0.display()),
        ))
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.0.join("instances").join(name)
    }

    /// Failures are ignored, because the remains are harmless.
    pub(super) fn sweep(&self) {
        let instances = fs::read_dir(self.0.join("instances")).into_iter().flatten().flatten();
        let names = instances.filter_map(|entry| entry.file_name().into_string().ok());
        for name in names.filter(|name| owner(name).as_ref() == Some(name)) {
            if let Ok(Some(lock)) = lock(&self.folder(&name)) {
                self.remove(&name, lock);
            }
        }
        self.remove_events(|owner| !self.folder(owner).exists());
    }

    fn remove(&self, name: &str, lock: File) {
        let folder = self.folder(name);
        for (event, trigger) in
            FUNCTIONS.iter().flat_map(|function| Timing { name, function }.triggers().into_iter().rev())
        {
            // Not every kernel has every function.
            let _ = set(&folder, &event, &format!("!{trigger}"));
        }
        // An instance with an open file cannot be removed.
        drop(lock);
        let _ = fs::remove_dir(&folder);
        self.remove_events(|owner| owner == name);
    }

    fn remove_events(&self, is_gone: impl Fn(&str) -> bool) {
        let events = fs::read_to_string(self.0.join(EVENTS)).unwrap_or_default();
        for (_, removal) in events.lines().filter_map(leftover).filter(|(owner, _)| is_gone(owner)) {
            let _ = self.define(&removal);
        }
    }
}

impl Instance {
    /// False if the kernel lacks it or has inlined it.
    pub(super) fn time(&self, function: &str) -> Result<bool, Unavailable> {
        let timing = Timing { name: &self.name, function };
        let [enter, leave, took] = timing.definitions();
        match self.tracefs.define(&enter) {
            // The errors before Linux 6.12, and since.
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::InvalidInput].contains(&error.kind()) => {
                return Ok(false);
            }
            entered => entered
                .and_then(|()| self.tracefs.define(&leave))
                .and_then(|()| self.tracefs.define(&took))
                .map_err(|error| refused(&self.tracefs.0.join(EVENTS), &error))?,
        }
        let folder = self.tracefs.folder(&self.name);
        for (event, trigger) in timing.triggers() {
            set(&folder, &event, &trigger)
                .map_err(|error| refused(&folder.join("events").join(event), &error))?;
        }
        Ok(true)
    }

    pub(super) fn histogram(&self, function: &str) -> Result<Vec<Bin>, Error> {
        let path = self.tracefs.folder(&self.name).join(Timing { name: &self.name, function }.histogram());
        let text = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
        Ok(bins(&text))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            self.tracefs.remove(&self.name, lock);
        }
    }
}

fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::open(folder.join("tracing_on"))?;
    Ok(try_lock(&file)?.then_some(file))
}

/// A trigger that begins with an exclamation mark is removed.
fn set(folder: &Path, event: &str, trigger: &str) -> io::Result<()> {
    let path = folder.join("events").join(event).join("trigger");
    OpenOptions::new().append(true).open(path)?.write_all(trigger.as_bytes())
}

fn unavailable(why: String, remedy: String) -> Unavailable {
    Unavailable { why, remedy }
}

fn lacks(what: &str, option: &str) -> Unavailable {
    unavailable(format!("this kernel was built without {what}"), format!("use a kernel with {option}=y"))
}

fn refused(path: &Path, error: &io::Error) -> Unavailable {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "run it as root, outside of containers; a kernel in lockdown refuses it to all users"
        }
        _ => "the error_log of tracefs contains the reason",
    };
    unavailable(format!("{} cannot be used: {error}", path.display()), remedy.to_owned())
}

/// Since Linux 4.1, and before.
const FOLDERS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const EVENTS: &str = "dynamic_events";

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn with(test: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("longhaul-tracefs-{test}-{}", process::id()));
            fs::create_dir_all(&folder).unwrap();
            for (name, text) in files {
                fs::write(folder.join(name), text).unwrap();
            }
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    const HELP: (&str, &str) = ("README", "synthetic_events common_cpu onmatch(system.event)");

    #[test]
    fn what_a_kernel_lacks_is_said() {
        let said = |test: &str, files: &[(&str, &str)]| {
            let folder = Folder::with(test, files);
            Tracefs::at(&folder.0).map(drop).map_err(|lack| (lack.why, lack.remedy))
        };
        let lacks = |what: &str, option: &str| {
            Err((format!("this kernel was built without {what}"), format!("use a kernel with {option}=y")))
        };
        let (probes, events) = (("kprobe_events", ""), (EVENTS, ""));
        assert_eq!(said("all", &[HELP, probes, events]), Ok(()));
        assert_eq!(said("probes", &[HELP, events]), lacks("probes of its functions", "CONFIG_KPROBE_EVENTS"));
        let old = ("README", "kprobe_events onmatch(system.event) cpu");
        assert_eq!(
            said("old", &[old, probes, events]),
            lacks("histograms of events", "CONFIG_HIST_TRIGGERS")
        );
        let (why, remedy) = said("empty", &[]).unwrap_err();
        assert!(why.contains("is not mounted") && remedy.contains("mount -t tracefs"), "{why}");
    }

    #[test]
    fn only_what_dead_processes_left_is_swept() {
        let events =
            "p:longhaul_1_0/enter_tcp_collapse tcp_collapse\nr:other/x y\np:longhaul_2_0/enter_x x\n";
        let folder = Folder::with("sweep", &[HELP, ("kprobe_events", ""), (EVENTS, events)]);
        let instance = |name: &str| {
            let folder = folder.0.join("instances").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("tracing_on"), "1").unwrap();
            folder
        };
        let alive = instance("longhaul_1_0");
        let others = ["others", "longhaul", "longhaul_1", "longhaul_1_0_mine"].map(instance);
        let lock = lock(&alive).unwrap();
        assert!(lock.is_some() && super::lock(&alive).unwrap().is_none(), "one process has it");
        Tracefs::at(&folder.0).unwrap().sweep();
        // Unlike a kernel, a plain file stores the written commands.
        let written = fs::read_to_string(folder.0.join(EVENTS)).unwrap();
        assert_eq!(written.strip_prefix(events), Some("-:longhaul_2_0/enter_x"));
        assert!(alive.exists() && others.iter().all(|other| other.exists()));
    }
}
