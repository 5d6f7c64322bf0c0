//! `longhaul edge init`: writes a first network file.

use std::{
    fmt::Display,
    fs,
    io::{self, IsTerminal},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
};

use anyhow::{Context, bail};
use clap::Args;
use config_file::Document;
use edge::{
    Network, Token,
    config::{Initialized, Starter, check_host},
};
use http_stack::Origin;

use super::{ADMIN, no_duplicates};
use crate::{
    arg_conventions::listen,
    output::{self, say},
    shell::shell_word,
};

/// Write a network's file with comments: one data centre, a cache in front of an origin
///
/// Without --to, on a terminal, the command prompts for the missing
/// settings. The file contains the hash of a new token for purges and for the
/// key-value store; the token is printed once. An existing file is not replaced.
///
/// Examples:
///   longhaul edge init
///   longhaul edge init shop.toml --from 0.0.0.0:80 --to http://127.0.0.1:8000
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Init {
    /// The file to write; - is standard output
    #[arg(default_value = "network.toml")]
    file: PathBuf,
    /// Listen here for clients [default: 127.0.0.1:8080]; may be given several times
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen)]
    from: Vec<SocketAddr>,
    /// The origin, such as http://127.0.0.1:8000; may be given several times, in order of preference
    #[arg(long, value_name = "URL")]
    to: Vec<Origin>,
    /// Host name of the site, such as shop.example or *.shop.example [default: all names]; may be given
    /// several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Listen here for the operator [default: 127.0.0.1:4480]
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Store objects in this directory too
    #[arg(long, value_name = "DIRECTORY")]
    disk: Option<PathBuf>,
    /// Add a key-value store with this address
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen)]
    kv: Option<SocketAddr>,
    /// Print the name of the file and the token as JSON
    #[arg(long)]
    json: bool,
}

impl Init {
    pub(crate) fn run(mut self) -> anyhow::Result<ExitCode> {
        let is_standard = self.file == Path::new("-");
        if is_standard && self.json {
            bail!("the file and --json would both go to standard output: name a file");
        }
        if !is_standard && self.file.symlink_metadata().is_ok() {
            bail!("{}: already exists; name another file", self.file.display());
        }
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("{}: no such directory", folder.display());
        }
        if self.to.is_empty() {
            if !io::stdin().is_terminal() {
                bail!("--to is missing: the URL of the origin, such as --to http://127.0.0.1:8000");
            }
            self.ask()?;
        }
        let token = Token::make()?;
        let starter = self.starter(token.sha256)?;
        no_duplicates(starter.from.iter().chain([&starter.admin]).chain(&starter.kv))?;
        for host in &starter.hosts {
            check_host(host).map_err(anyhow::Error::msg)?;
        }
        let text = starter.text();
        let name = self.file.display().to_string();
        Network::read(&Document::new(&*name, &*text)).context("these settings do not make a valid file")?;
        if is_standard {
            output::print(&text)?;
            say(&format!("token: export LONGHAUL_TOKEN={}", token.token));
            return Ok(ExitCode::SUCCESS);
        }
        fs::write(&self.file, text).with_context(|| format!("{name}: cannot be written"))?;
        if self.json {
            let written = Initialized { file: name, token: token.token };
            output::print_json(&output::named("longhaul.edge.init/1", written))?;
        } else {
            let file = shell_word(&name);
            output::print(&format!(
                "{name}: written\ntoken for purges{}: export LONGHAUL_TOKEN={}\ncheck it: longhaul edge check {file}\n\
                 run it:   longhaul edge run {file}\n",
                if self.kv.is_some() { " and the key-value store" } else { "" },
                token.token,
            ))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn ask(&mut self) -> anyhow::Result<()> {
        self.to = vec![question("URL of the origin", Some("http://127.0.0.1:8000"), str::parse::<Origin>)?];
        if self.from.is_empty() {
            self.from = vec![question("Address for clients", Some("127.0.0.1:8080"), listen)?];
        }
        if self.host.is_empty() {
            self.host = vec![question("Host name of the site, * for all", Some("*"), check_host)?];
        }
        if self.disk.is_none() {
            let path = question("Directory for objects, empty for memory only", None, PathBuf::from_str)?;
            self.disk = Some(path).filter(|path| !path.as_os_str().is_empty());
        }
        if self.kv.is_none() {
            let address = |text: &str| if text.is_empty() { Ok(None) } else { listen(text).map(Some) };
            self.kv = question("Address of a key-value store, empty for none", None, address)?;
        }
        Ok(())
    }

    fn starter(&self, token_hash: String) -> anyhow::Result<Starter> {
        let from = if self.from.is_empty() {
            vec![listen(":8080").map_err(anyhow::Error::msg)?]
        } else {
            self.from.clone()
        };
        let disk = self.disk.as_ref().map(|path| path.to_str().context("--disk: the path is not UTF-8"));
        Ok(Starter {
            from,
            to: self.to.clone(),
            hosts: if self.host.is_empty() { vec!["*".to_owned()] } else { self.host.clone() },
            admin: self.admin.unwrap_or(ADMIN),
            token_hash: Some(token_hash),
            disk: disk.transpose()?.map(str::to_owned),
            kv: self.kv,
        })
    }
}

fn question<T, E: Display>(
    words: &str,
    default: Option<&str>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> anyhow::Result<T> {
    loop {
        let shown = default.map_or_else(String::new, |default| format!(" [{default}]"));
        output::prompt(&format!("{words}{shown}: "))?;
        let mut line = String::new();
        if io::stdin().read_line(&mut line)? == 0 {
            bail!("standard input ended before the last question; give the settings as options");
        }
        let answer = Some(line.trim()).filter(|answer| !answer.is_empty()).or(default).unwrap_or_default();
        match parse(answer) {
            Ok(value) => return Ok(value),
            Err(why) => say(&format!("{why}")),
        }
    }
}
