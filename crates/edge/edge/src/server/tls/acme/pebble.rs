//! Pebble, an ACME server for tests, with a DNS server that resolves all names to 127.0.0.1.

use std::{
    fs::{self, File},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use http_stack::{
    Body, Client, Request,
    client::{self, Protocol, Trace, Trust},
};

pub(super) struct Pebble {
    folder: tempfile::TempDir,
    directory: SocketAddr,
    management: SocketAddr,
    processes: [Child; 2],
}

/// Status and body of a response from `host`, whose port is that of `to`.
pub(super) async fn get(
    host: &str,
    to: SocketAddr,
    trust: Trust,
    path: &str,
) -> Result<(u16, String), String> {
    send(&format!("https://{host}:{}", to.port()), to, trust, path).await
}

pub(super) async fn send(
    origin: &str,
    to: SocketAddr,
    trust: Trust,
    path: &str,
) -> Result<(u16, String), String> {
    let protocol = Protocol::Http1;
    let config = client::Config { trust, protocol, connect_to: Some(to), ..client::Config::default() };
    let client = Client::new(&config).unwrap();
    let host = origin.rsplit('/').next().unwrap();
    let request = Request::builder().uri(path).header("host", host).body(Body::empty()).unwrap();
    let mut trace = Trace::start(client.clock().now());
    let response = client.send(&origin.parse().unwrap(), request, &mut trace).await;
    let response = response.map_err(|failure| failure.to_string())?;
    let status = response.status().as_u16();
    let body = response.into_body().collect(1_000_000).await.map_err(|failure| failure.to_string())?;
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

pub(super) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn program(name: &str) -> Command {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/pebble");
    let folder = std::env::var_os("PEBBLE").map_or(built, PathBuf::from);
    Command::new(folder.join(name))
}

impl Pebble {
    /// Validates hosts at these ports of 127.0.0.1.
    pub(super) async fn start(http: u16, tls: u16, validity_s: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        crate::Certificate::create_authority(folder.path()).unwrap();
        crate::Certificate::issue(folder.path(), "pebble", &["127.0.0.1".to_owned()], 1).unwrap();
        let [directory, management, dns, dns_management] = [(); 4].map(|()| free_address());
        let settings = serde_json::json!({ "pebble": {
            "listenAddress": directory,
            "managementListenAddress": management,
            "certificate": folder.path().join("pebble.pem"),
            "privateKey": folder.path().join("pebble-key.pem"),
            "httpPort": http,
            "tlsPort": tls,
            "ocspResponderURL": "",
            "externalAccountBindingRequired": false,
            "retryAfter": { "authz": 1, "order": 1 },
            "profiles": { "default": { "description": "default", "validityPeriod": validity_s } },
        }});
        let file = folder.path().join("pebble.json");
        fs::write(&file, settings.to_string()).unwrap();
        let mut resolver = program("pebble-challtestsrv");
        resolver.args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-defaultIPv6", ""]);
        resolver.args(["-dnsserver", &dns.to_string(), "-management", &dns_management.to_string()]);
        let mut server = program("pebble");
        server.arg("-config").arg(&file).args(["-dnsserver", &dns.to_string()]);
        server.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        let log = |name: &str| File::create(folder.path().join(name)).unwrap();
        resolver.stdout(Stdio::null()).stderr(log("resolver.log"));
        server.stdout(log("pebble.log")).stderr(Stdio::null());
        let spawn =
            |mut command: Command| command.spawn().expect("Pebble is installed: sh xtask/tools.sh test");
        let processes = [spawn(resolver), spawn(server)];
        let pebble = Self { folder, directory, management, processes };
        while get("127.0.0.1", pebble.management, pebble.trust(), "/roots/0").await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        pebble
    }

    fn trust(&self) -> Trust {
        Trust::File(self.folder.path().join("ca.pem"))
    }

    /// Lines of `[network.acme]`.
    pub(super) fn lines(&self, challenge: &str, storage: &Path) -> String {
        format!(
            "[network.acme]\nemail = \"ops@shop.example\"\ndirectory = \"https://{}/dir\"\nagree_terms = true\n\
             challenge = \"{challenge}\"\nstorage = \"{}\"\nca = \"{}\"\n",
            self.directory,
            storage.display(),
            self.folder.path().join("ca.pem").display()
        )
    }

    /// Trust for the certificates that Pebble issues.
    pub(super) async fn root(&self) -> Trust {
        let (_, pem) = get("127.0.0.1", self.management, self.trust(), "/roots/0").await.unwrap();
        let file = self.folder.path().join("root.pem");
        fs::write(&file, pem).unwrap();
        Trust::File(file)
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("pebble.log")).unwrap()
    }

    /// Where the edge stores the account and the certificates.
    pub(super) fn place(&self, storage: &Path) -> PathBuf {
        storage.join(self.directory.to_string().replace(':', "-") + "-dir")
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
