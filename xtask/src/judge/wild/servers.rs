//! The compared servers, each with its scripted origin.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context;

use super::origin::Origin;
use crate::{
    judge::{Ended, accepts, data_centre, free_port},
    release, root,
};

pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) port: u16,
    pub(super) origin: Origin,
    _program: Ended,
}

pub(super) fn start(folder: &Path) -> anyhow::Result<[Server; 3]> {
    Ok([edge(folder)?, nginx(folder)?, varnish(folder)?])
}

pub(super) fn program() -> anyhow::Result<PathBuf> {
    match env::var_os("LONGHAUL") {
        Some(program) => Ok(PathBuf::from(program)),
        None => {
            release::build()?;
            Ok(root().join("target/release/longhaul"))
        }
    }
}

fn edge(folder: &Path) -> anyhow::Result<Server> {
    let (port, origin) = (free_port()?, Origin::start()?);
    let zone = |name: &str, hosts: &str, more: &str| {
        let origin = origin.port;
        format!(
            "[[zone]]\nname = \"{name}\"\nhosts = [\"{hosts}\"]\norigin = [\"http://127.0.0.1:{origin}\"]\n{more}\n"
        )
    };
    let network = format!(
        "[network]\nname = \"wild\"\n[[data_centre]]\nname = \"lhr\"\nlisten = [\"127.0.0.1:{port}\"]\n{}{}{}{}",
        zone("plain", "*", ""),
        zone("errors", "sie.test", "stale_if_error = \"1h\""),
        zone("parts", "parts.test", "largest = \"10KB\""),
        zone("rules", "rules.test", RULES),
    );
    let program = data_centre(Command::new(program()?), folder, &network, &[])?;
    accepts(port)?;
    Ok(Server { name: "longhaul", port, origin, _program: program })
}

/// Without `proxy_cache_use_stale updating`, nginx follows the origin's stale-while-revalidate.
fn nginx(folder: &Path) -> anyhow::Result<Server> {
    let (port, origin) = (free_port()?, Origin::start()?);
    let place = folder.join("nginx");
    fs::create_dir_all(&place)?;
    let location = |path: &str, more: &str| {
        let key = if path == "/q/" { "$uri$arg_v" } else { "$request_uri$more" };
        format!(
            "location {path} {{ proxy_pass http://127.0.0.1:{}; proxy_http_version 1.1; proxy_set_header Connection \"\";
            proxy_set_header Host $http_host; proxy_cache c; proxy_cache_key $scheme$host{key}; proxy_cache_revalidate on;
            proxy_cache_background_update on; proxy_cache_lock on; proxy_next_upstream off; {more} }}\n",
            origin.port
        )
    };
    let server =
        |name: &str, locations: &str| format!("server {{ listen 127.0.0.1:{port}; {name} {locations} }}\n");
    let ignoring = "proxy_ignore_headers Cache-Control Expires;";
    let rules = [
        location("/", ""),
        location("/static/", &format!("proxy_cache_valid 1h; {ignoring}")),
        location("/short/", &format!("proxy_cache_valid 1s; {ignoring}")),
        location("/ck/", "proxy_cache_valid 1h;"),
        location("/q/", "proxy_cache_valid 1h;"),
        format!("location /admin/ {{ proxy_pass http://127.0.0.1:{}; }}\n", origin.port),
    ]
    .concat();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {0}/{name}; ", place.display()))
        .concat();
    let config = format!(
        "daemon off; master_process off; pid {0}/pid; error_log {0}/error.log;
events {{ }}
http {{ access_log off; {temporary} proxy_cache_path {0}/cache keys_zone=c:10m;
map $uri $more {{ default \"\"; ~^/ck/ $cookie_lang$http_x_dev; }}
{1}{2}{3} }}\n",
        place.display(),
        server("", &location("/", "")),
        server(
            "server_name sie.test;",
            &location("/", "proxy_cache_use_stale error timeout http_500 http_502 http_503 http_504;")
        ),
        server("server_name rules.test;", &rules),
    );
    let file = place.join("nginx.conf");
    fs::write(&file, config)?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(&place).arg("-c").arg(&file);
    peer("nginx", port, origin, &mut command)
}

fn varnish(folder: &Path) -> anyhow::Result<Server> {
    let (port, origin) = (free_port()?, Origin::start()?);
    let place = folder.join("varnish");
    fs::create_dir_all(&place)?;
    let file = place.join("rules.vcl");
    fs::write(&file, VCL.replace("PORT", &origin.port.to_string()))?;
    let mut command = Command::new("varnishd");
    // The default grace is a stale-while-revalidate without consent of the origin; without keep, Varnish does not revalidate.
    command.args(["-j", "none", "-F", "-s", "malloc,64m", "-p", "default_grace=0", "-p", "default_keep=60"]);
    command.arg("-a").arg(format!("127.0.0.1:{port}")).arg("-f").arg(&file).arg("-n").arg(place.join("run"));
    peer("varnish", port, origin, &mut command)
}

fn peer(name: &'static str, port: u16, origin: Origin, command: &mut Command) -> anyhow::Result<Server> {
    // Debian installs servers outside of the PATH of ordinary users.
    let path = format!("{}:/usr/sbin:/usr/local/sbin", env::var("PATH").unwrap_or_default());
    let program =
        command.env("PATH", path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let missing = || format!("{name} cannot be started; on Debian: apt-get install {name}");
    let program = Ended(program.with_context(missing)?);
    accepts(port).with_context(|| format!("{name} does not listen"))?;
    Ok(Server { name, port, origin, _program: program })
}

const RULES: &str = "\
[[zone.rule]]\npath = \"/admin/*\"\nbypass = true
[[zone.rule]]\npath = \"/static/*\"\nedge_ttl = \"1h\"
[[zone.rule]]\npath = \"/short/*\"\nedge_ttl = \"1s\"
[[zone.rule]]\npath = \"/ck/*\"\nedge_ttl = \"1h\"\nkey = { cookie = [\"lang\"], header = [\"X-Dev\"] }
[[zone.rule]]\npath = \"/q/*\"\nedge_ttl = \"1h\"\nkey = { query = [\"v\"] }";

const VCL: &str = "\
vcl 4.1;
backend default { .host = \"127.0.0.1\"; .port = \"PORT\"; }
sub vcl_recv {
    if (req.http.host == \"rules.test\" && req.url ~ \"^/admin/\") { return (pass); }
}
sub vcl_hash {
    if (req.http.host == \"rules.test\" && req.url ~ \"^/ck/\") { hash_data(req.http.Cookie + req.http.X-Dev); }
    if (req.http.host == \"rules.test\" && req.url ~ \"^/q/\") {
        hash_data(regsub(req.url, \"[?].*\", \"\") + regsub(req.url, \".*[?&]v=([^&]*).*\", \"\\1\"));
        hash_data(req.http.host);
        return (lookup);
    }
}
sub vcl_backend_response {
    if (bereq.http.host == \"rules.test\" && (beresp.status == 200 || beresp.status == 301 || beresp.status == 302)) {
        if (bereq.url ~ \"^/(static|ck|q)/\") { set beresp.ttl = 1h; return (deliver); }
        if (bereq.url ~ \"^/short/\") { set beresp.ttl = 1s; return (deliver); }
    }
}
";
