//! Runs existing clients of such a key-value store against an edge: a Worker in workerd that uses the whole
//! binding, compared with the emulator of the toolchain; the command line of this toolchain; and both
//! official SDKs.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::{Ended, data_centre, free_port, install, longhaul};
use crate::{
    bench::edge::tls::{AUTHORITY, certify},
    release, root,
};

struct Asked {
    port: u16,
    tls: u16,
    authority: PathBuf,
    token: String,
    namespace: String,
    packages: PathBuf,
    folder: PathBuf,
}

pub(crate) fn judge() -> anyhow::Result<()> {
    let (packages, python) = (packages()?, install::python("kv-python", "cloudflare", PYTHON)?);
    release::build()?;
    let folder = tempfile::tempdir()?;
    let token = longhaul().args(["edge", "token", "--json"]).output()?.stdout;
    let token: Value = serde_json::from_slice(&token)?;
    let [token, hash] = ["token", "sha256"].map(|field| token[field].as_str().unwrap_or_default().to_owned());
    let (port, tls, front) = (free_port()?, free_port()?, free_port()?);
    let namespace = "0123456789abcdef".repeat(2);
    certify(folder.path())?;
    let authority = folder.path().join(AUTHORITY);
    let network = NETWORK
        .replace("FRONT", &front.to_string())
        .replace("OVER_TLS", &tls.to_string())
        .replace("PORT", &port.to_string())
        .replace("ID", &namespace)
        .replace("HASH", &hash)
        // Last, because the path of the folder can contain any text.
        .replace("AUTHORITY", &authority.display().to_string())
        .replace("STORE", &folder.path().join("kv.redb").display().to_string());
    let _edge = data_centre(longhaul(), folder.path(), &network, &[])?;
    let asked = Asked {
        port,
        tls,
        authority: authority.join("ca.pem"),
        token,
        namespace,
        packages,
        folder: folder.path().to_owned(),
    };
    let mut wrong = [asked.by_workerd()?, asked.by_wrangler()?].concat();
    for base in [asked.base(), asked.base_over_tls()] {
        wrong.extend(asked.by_javascript(&base)?);
        wrong.extend(asked.by_python(&python, &base)?);
    }
    ensure!(wrong.is_empty(), "clients observed other behaviour than expected:\n  {}", wrong.join("\n  "));
    Ok(())
}

impl Asked {
    fn base(&self) -> String {
        format!("http://127.0.0.1:{}/client/v4", self.port)
    }

    fn base_over_tls(&self) -> String {
        format!("https://127.0.0.1:{}/client/v4", self.tls)
    }

    fn by_workerd(&self) -> anyhow::Result<Vec<String>> {
        let socket = free_port()?;
        fs::copy(judge_file("walk.js"), self.folder.join("walk.js"))?;
        let config = WORKERD
            .replace("TOKEN", &self.token)
            .replace("PORT", &self.port.to_string())
            .replace("SOCKET", &socket.to_string());
        let config_file = self.folder.join("config.capnp");
        fs::write(&config_file, config)?;
        let mut programs =
            fs::read_dir(self.packages.join("node_modules/@cloudflare"))?.filter_map(Result::ok);
        let program = programs.find(|entry| entry.file_name().to_string_lossy().starts_with("workerd-"));
        let program = program.context("npm has no workerd for this machine")?.path().join("bin/workerd");
        let mut workerd = Command::new(program);
        let _workerd = Ended(workerd.arg("serve").arg(&config_file).stdin(Stdio::null()).spawn()?);
        let said = get(socket)?;
        let mut emulator = Command::new("node");
        emulator.arg(judge_file("emulator.mjs")).arg(&self.packages).arg(self.folder.join("walk.js"));
        let expected = output(&mut emulator)?;
        let read = |text: &str| serde_json::from_str::<BTreeMap<String, Value>>(text);
        let (said, expected) =
            (read(&said).context("of workerd")?, read(&expected).context("of the emulator")?);
        let wrong: Vec<_> = expected
            .iter()
            .filter(|(name, value)| said.get(*name) != Some(value))
            .map(|(name, value)| {
                format!(
                    "workerd, {name}: {}, but {value} in the emulator",
                    said.get(name).unwrap_or(&Value::Null)
                )
            })
            .collect();
        println!(
            "workerd of wrangler {WRANGLER}: {} steps, {} differ from the emulator's",
            expected.len(),
            wrong.len()
        );
        Ok(wrong)
    }

    fn by_wrangler(&self) -> anyhow::Result<Vec<String>> {
        let pairs = self.folder.join("pairs.json");
        fs::write(
            &pairs,
            r#"[{"key":"w1","value":"one"},{"key":"w2","value":"AAE=","base64":true,"expiration_ttl":100}]"#,
        )?;
        let keys = self.folder.join("keys.json");
        fs::write(&keys, r#"["w1","w2"]"#)?;
        let (pairs, keys) = (pairs.display().to_string(), keys.display().to_string());
        let mut wrong = Vec::new();
        let made = self.wrangler(&["namespace", "create", "made"], "\"id\": \"")?;
        let id = made.as_ref().ok().and_then(|said| said.split_once("\"id\": \"")?.1.split('"').next());
        let id = ["--namespace-id", id.unwrap_or_default()];
        let own = ["--remote", "--namespace-id", &self.namespace];
        let steps: &[(&[&str], &[&str], &str)] = &[
            (
                &["key", "put", "w/ü", "hello", "--ttl", "100", "--metadata", r#"{"z":1}"#],
                &own,
                "Writing the value",
            ),
            (&["key", "get", "w/ü", "--text"], &own, "hello"),
            (&["key", "list", "--prefix", "w/"], &own, r#""name": "w/ü""#),
            (&["bulk", "put", &pairs], &own, "Success!"),
            (&["bulk", "get", &keys], &own, r#""w1": "one""#),
            (&["bulk", "delete", &keys, "--force"], &own, "Success!"),
            (&["key", "delete", "w/ü"], &own, "Deleting the key"),
            (&["key", "list", "--prefix", "w/"], &own, "[]"),
            (&["namespace", "list"], &[], "\"title\": \"made\""),
            (&["namespace", "rename", "--new-name", "renamed"], &id, "Successfully renamed"),
            (&["namespace", "delete"], &id, "Deleted KV namespace"),
        ];
        for (words, namespace, expected) in steps {
            wrong.extend(self.wrangler(&[*words, *namespace].concat(), expected)?.err());
        }
        wrong.extend(made.as_ref().err().cloned());
        println!("wrangler {WRANGLER}: {} commands, {} went wrong", steps.len() + 1, wrong.len());
        Ok(wrong)
    }

    fn wrangler(&self, words: &[&str], expected: &str) -> anyhow::Result<Result<String, String>> {
        let mut wrangler = Command::new(self.packages.join("node_modules/.bin/wrangler"));
        wrangler
            .arg("kv")
            .args(words)
            .current_dir(&self.folder)
            .env("CLOUDFLARE_API_BASE_URL", self.base())
            .env("CLOUDFLARE_API_TOKEN", &self.token)
            .env("CLOUDFLARE_ACCOUNT_ID", &self.namespace)
            .envs([("WRANGLER_SEND_METRICS", "false"), ("CI", "1"), ("HOME", ".")]);
        let said = wrangler.stdin(Stdio::null()).output().context("wrangler cannot be run")?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        if said.status.success() && text.contains(expected) {
            return Ok(Ok(text));
        }
        let more = String::from_utf8_lossy(&said.stderr);
        Ok(Err(format!("wrangler kv {}: expected {expected}: {text}{more}", words.join(" "))))
    }

    fn by_javascript(&self, base: &str) -> anyhow::Result<Vec<String>> {
        let mut node = Command::new("node");
        node.arg(judge_file("sdk.mjs")).arg(&self.packages).arg(base);
        node.env("NODE_EXTRA_CA_CERTS", &self.authority);
        self.by_sdk(&format!("npm cloudflare {JAVASCRIPT}, {base}"), &mut node)
    }

    fn by_python(&self, python: &Path, base: &str) -> anyhow::Result<Vec<String>> {
        let mut program = Command::new(python);
        program.arg(judge_file("sdk.py")).arg(base).env("SSL_CERT_FILE", &self.authority);
        self.by_sdk(&format!("PyPI cloudflare {PYTHON}, {base}"), &mut program)
    }

    fn by_sdk(&self, name: &str, program: &mut Command) -> anyhow::Result<Vec<String>> {
        let said = output(program.env("CLOUDFLARE_API_TOKEN", &self.token))?;
        let (wrong, steps) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
        let steps: u64 = steps.parse().with_context(|| format!("{name} did not finish"))?;
        let wrong: Vec<_> = wrong.lines().map(|line| format!("{name}, {line}")).collect();
        println!("{name}: {steps} steps, {} went wrong", wrong.len());
        Ok(wrong)
    }
}

fn get(port: u16) -> anyhow::Result<String> {
    let begin = now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        ensure!(begin.elapsed() < SOON, "nothing listens on port {port}");
        thread::park_timeout(Duration::from_millis(50));
    }
    output(Command::new("curl").arg("-sS").arg(format!("http://127.0.0.1:{port}/")))
}

#[expect(clippy::disallowed_methods, reason = "a judge waits for another program")]
fn now() -> Instant {
    Instant::now()
}

fn output(program: &mut Command) -> anyhow::Result<String> {
    let ended = program.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.with_context(|| format!("{program:?} cannot be run"))?;
    if !ended.status.success() {
        bail!("{program:?} failed: {}", String::from_utf8_lossy(&ended.stdout));
    }
    Ok(String::from_utf8(ended.stdout)?)
}

fn judge_file(name: &str) -> PathBuf {
    root().join("xtask/src/judge/kv").join(name)
}

fn packages() -> anyhow::Result<PathBuf> {
    let place = root().join("target/judge/kv");
    let has = |name: &str, version: &str| {
        let text = fs::read_to_string(place.join("node_modules").join(name).join("package.json"));
        text.is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
    };
    if !has("wrangler", WRANGLER) || !has("cloudflare", JAVASCRIPT) {
        println!("installing wrangler {WRANGLER} and cloudflare {JAVASCRIPT} into {}", place.display());
        fs::create_dir_all(&place)?;
        let packages = [format!("wrangler@{WRANGLER}"), format!("cloudflare@{JAVASCRIPT}")];
        install::npm(&place, &packages.each_ref().map(String::as_str))?;
    }
    Ok(place)
}

const SOON: Duration = Duration::from_secs(50);
const WRANGLER: &str = "4.86.0";
const JAVASCRIPT: &str = "7.3.0";
const PYTHON: &str = "5.9.0";

const NETWORK: &str = r#"
[network]
name = "judged"

[admin]
tokens = ["HASH"]

[[data_centre]]
name = "lhr"
listen = ["127.0.0.1:FRONT"]
certificate = "AUTHORITY/lhr.pem"
key = "AUTHORITY/lhr-key.pem"

[[zone]]
name = "none"
hosts = ["*"]
origin = ["http://127.0.0.1:1"]

[kv]
listen = ["127.0.0.1:PORT"]
listen_tls = ["127.0.0.1:OVER_TLS"]
store = "STORE"

[[kv.namespace]]
name = "judged"
id = "ID"
tokens = ["HASH"]
"#;

const WORKERD: &str = r#"
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "walk.js", esModule = embed "walk.js")],
      compatibilityDate = "2025-09-01",
      bindings = [(name = "KV", kvNamespace = "judged")],
    )),
    (name = "judged", external = (
      address = "127.0.0.1:PORT",
      http = (injectRequestHeaders = [(name = "Authorization", value = "Bearer TOKEN")]),
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:SOCKET", http = (), service = "main")],
);
"#;
