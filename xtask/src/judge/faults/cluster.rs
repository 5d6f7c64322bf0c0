//! The planet of all runs: four data centres and an origin, each in a separate host, and the faults of its
//! links.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use anyhow::{Context, anyhow, ensure};
use tempfile::TempDir;
use world::file::{Down, Fault};

pub(super) use super::centres::{CENTRES, ORIGIN, ORIGIN_CITY, SERVERS};
use super::{centres::Centre, timeline::What};

pub(super) struct Place {
    program: PathBuf,
    name: String,
    pub(super) control: planet::Planet,
    origin: planet::Network,
    servers: Vec<planet::Network>,
    edges: Vec<planet::Network>,
    folder: TempDir,
}

impl Place {
    pub(super) fn up(program: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let name = format!("faults-{}", std::process::id());
        let file = folder.path().join("world.toml");
        fs::write(&file, world())?;
        let run = |words: &[&str]| longhaul(program, words);
        run(&["lab", "up", &file.display().to_string(), "--detach", "--name", &name])?;
        let control = planet::Planet::find(Some(&name))?;
        let origin = control.network(ORIGIN.0)?;
        let servers = SERVERS.iter().map(|server| control.network(server.name)).collect::<Result<_, _>>()?;
        let edges = CENTRES.iter().map(|centre| control.network(&host(centre))).collect::<Result<_, _>>()?;
        let place = Self { program: program.to_owned(), name, control, origin, servers, edges, folder };
        let authority = place.authority();
        run(&["edge", "ca", "new", &authority])?;
        for centre in &CENTRES {
            run(&["edge", "ca", "issue", &authority, centre.name])?;
        }
        Ok(place)
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    pub(super) fn join(&self, centre: usize) -> anyhow::Result<()> {
        Ok(self.edges[centre].join()?)
    }

    pub(super) fn tables(&self, of_all: &str, more: impl Fn(&Centre) -> String) -> String {
        let authority = self.authority();
        let mut text = format!("[network]\nname = \"faults\"\nauthority = \"{authority}/ca.pem\"\n{of_all}");
        for (centre, last) in CENTRES.iter().zip(2..) {
            let Centre { name, city, region } = centre;
            let _ = write!(
                text,
                "[[data_centre]]\nname = \"{name}\"\ncity = \"{city}\"\nregion = \"{region}\"\n\
                 listen = [\"127.0.0.1:80\"]\nadmin = \"127.0.0.1:4480\"\naddress = \"10.0.0.{last}:4400\"\n\
                 link_certificate = \"{authority}/{name}.pem\"\nlink_key = \"{authority}/{name}-key.pem\"\n{}",
                more(centre)
            );
        }
        text
    }

    fn authority(&self) -> String {
        self.folder.path().join("authority").display().to_string()
    }

    /// Returns its id, or `None` if the fault is not about links.
    pub(super) fn cut(&self, what: What) -> anyhow::Result<Option<u64>> {
        let down = Some(Down::Plain(true));
        let fault = match what {
            What::Cut(a, b) => {
                Fault { between: Some([a.to_owned(), b.to_owned()]), down, ..Fault::default() }
            }
            What::Alone(centre) => Fault {
                partition: Some(vec![vec![CENTRES[centre].city.to_owned()]]),
                down,
                ..Fault::default()
            },
            _ => return Ok(None),
        };
        Ok(Some(self.control.fault(&fault)?))
    }

    pub(super) fn in_centre<T: Send>(
        &self,
        centre: usize,
        work: impl FnOnce() -> T + Send,
    ) -> anyhow::Result<T> {
        in_network(&self.edges[centre], work)
    }

    pub(super) fn at_server<T: Send>(
        &self,
        server: usize,
        work: impl FnOnce() -> T + Send,
    ) -> anyhow::Result<T> {
        in_network(&self.servers[server], work)
    }

    pub(super) fn at_origin<T: Send>(&self, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
        in_network(&self.origin, work)
    }
}

fn in_network<T: Send>(network: &planet::Network, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            network.join()?;
            anyhow::Ok(work())
        });
        thread.join().map_err(|_| anyhow!("a thread in a host panicked"))?
    })
}

fn host(centre: &Centre) -> String {
    format!("edge-{}", centre.name)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut down = Command::new(&self.program);
        down.args(["lab", "down", "--planet", &self.name]).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = down.status();
    }
}

pub(super) fn longhaul(program: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(words).output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "longhaul {} failed: {}", words.join(" "), said.trim());
    Ok(String::from_utf8(output.stdout)?)
}

/// With short round trips, a run of a few seconds has many requests.
fn world() -> String {
    let mut text = format!("[[host]]\nname = \"{}\"\ncity = \"{ORIGIN_CITY}\"\n", ORIGIN.0);
    let cities = [ORIGIN_CITY].into_iter().chain(CENTRES.iter().map(|centre| centre.city));
    let cities: Vec<_> = cities.collect();
    for centre in &CENTRES {
        let _ = write!(text, "[[host]]\nname = \"{}\"\ncity = \"{}\"\n", host(centre), centre.city);
    }
    for server in &SERVERS {
        let city = CENTRES[server.beside].city;
        let _ = write!(text, "[[host]]\nname = \"{}\"\ncity = \"{city}\"\n", server.name);
    }
    for (number, a) in cities.iter().enumerate() {
        for (b, rtt) in cities[number + 1..].iter().zip([6, 14, 22, 30]) {
            let _ = write!(text, "[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrtt = \"{rtt}ms\"\n");
        }
    }
    text
}
