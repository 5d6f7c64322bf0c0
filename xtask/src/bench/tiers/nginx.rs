//! Two nginx servers as lower and upper tier, connected with mutual TLS like our data centres: cost of a miss
//! that hits in the upper tier, and of a request that is forwarded to the origin.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::ensure;
use tempfile::TempDir;

use crate::bench::{
    edge::cpu::of_tree_us,
    kv::{free, wrk},
    program::Running,
};

pub(super) struct Pair {
    folder: TempDir,
    lower: Nginx,
    below: Option<Running>,
    above: Running,
}

struct Nginx {
    address: SocketAddr,
    file: PathBuf,
}

impl Nginx {
    fn run(&self) -> anyhow::Result<Running> {
        Running::listening(Command::new("nginx").arg("-c").arg(&self.file), self.address)
    }
}

impl Pair {
    pub(super) fn start(authority: &Path, origin: SocketAddr) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in("/dev/shm")?;
        let [below, above] = [free()?, free()?];
        let lower = format!(
            "listen {below};\n\
             location / {{ proxy_pass https://above; proxy_ssl_protocols TLSv1.3; proxy_ssl_verify on; proxy_ssl_name nyc;\n\
             proxy_ssl_trusted_certificate {0}/ca.pem; proxy_ssl_certificate {0}/lhr.pem; proxy_ssl_certificate_key {0}/lhr-key.pem;\n\
             {KEPT} {CACHED} }}\n\
             location /passed/ {{ proxy_pass http://origin; {KEPT} }}",
            authority.display()
        );
        let upper = format!(
            "listen {above} ssl; ssl_protocols TLSv1.3; ssl_verify_client on; ssl_client_certificate {0}/ca.pem;\n\
             ssl_certificate {0}/nyc.pem; ssl_certificate_key {0}/nyc-key.pem;\n\
             location / {{ proxy_pass http://origin; {KEPT} {CACHED} }}",
            authority.display()
        );
        let of = |name: &str, address, server: &str| -> anyhow::Result<Nginx> {
            let file = folder.path().join(format!("{name}.conf"));
            fs::write(&file, configuration(folder.path(), name, [above, origin], server))?;
            Ok(Nginx { address, file })
        };
        let (lower, upper) = (of("lower", below, &lower)?, of("upper", above, &upper)?);
        let mut pair = Self { above: upper.run()?, folder, lower, below: None };
        pair.begin_anew()?;
        let mut asked = 0.0;
        while asked < f64::from(OBJECTS) {
            asked += wrk(pair.lower.address, &pair.script(asked)?, CONNECTIONS)?.0;
        }
        Ok(pair)
    }

    pub(super) fn miss_us(&mut self) -> anyhow::Result<f64> {
        self.begin_anew()?;
        let (us, requests) = self.cost(&self.script(0.0)?)?;
        ensure!(requests < f64::from(OBJECTS), "the load requested more objects than nginx has");
        Ok(us)
    }

    pub(super) fn passed_us(&self) -> anyhow::Result<f64> {
        let script = self.folder.path().join("passed.lua");
        fs::write(&script, "wrk.path = '/passed/a'")?;
        Ok(self.cost(&script)?.0)
    }

    fn cost(&self, script: &Path) -> anyhow::Result<(f64, f64)> {
        let cpu = || -> anyhow::Result<f64> {
            let below = self.below.as_ref().map_or(Ok(0.0), |below| of_tree_us(below.id()))?;
            Ok(below + of_tree_us(self.above.id())?)
        };
        let before = cpu()?;
        let (requests, _) = wrk(self.lower.address, script, CONNECTIONS)?;
        Ok(((cpu()? - before) / requests, requests))
    }

    fn script(&self, from: f64) -> anyhow::Result<PathBuf> {
        let file = self.folder.path().join("kept.lua");
        let text = format!(
            "wrk.headers['Host'] = 'shop.example'\nlocal n = {from}\n\
             function request() n = n + 1; return wrk.format(nil, '/kept/' .. n) end"
        );
        fs::write(&file, text)?;
        Ok(file)
    }

    fn begin_anew(&mut self) -> anyhow::Result<()> {
        self.below = None;
        let store = self.folder.path().join("lower");
        if store.exists() {
            fs::remove_dir_all(&store)?;
        }
        self.below = Some(self.lower.run()?);
        Ok(())
    }
}

fn configuration(folder: &Path, name: &str, [above, origin]: [SocketAddr; 2], server: &str) -> String {
    format!(
        "daemon off; worker_processes 1; pid {0}/{name}.pid; error_log {0}/{name}.log; user root;\n\
         events {{ worker_connections 4096; }}\n\
         http {{ access_log off; sendfile on; tcp_nodelay on; keepalive_timeout 300s; keepalive_requests 1000000000;\n\
         proxy_temp_path {0}/{name}-temp;\n\
         proxy_cache_path {0}/{name} levels=1:2 keys_zone=objects:128m max_size=4g inactive=1d use_temp_path=off;\n\
         upstream above {{ server {above}; keepalive 256; keepalive_requests 1000000000; }}\n\
         upstream origin {{ server {origin}; keepalive 256; keepalive_requests 1000000000; }}\n\
         server {{ {server} }} }}\n",
        folder.display()
    )
}

const KEPT: &str = "proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_set_header Host $host;";
const CACHED: &str = "proxy_cache objects; proxy_cache_key $host$request_uri; proxy_cache_valid 1h;";

const CONNECTIONS: usize = 16;

const OBJECTS: u32 = 250_000;
