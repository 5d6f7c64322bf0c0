"""Reads recordings of any format independently, and prints their figures: standard input is a list of files and options in JSON,
standard output is a list of results. `cargo xtask judge recordings` compares the program with it.

It uses no code of the program, and only Python's standard library.
"""

import bz2
import gzip
import json
import lzma
import re
import sys

import hdr
import logs
import tools
from figures import Refused


def main():
    answers = []
    for task in json.load(sys.stdin):
        try:
            answers.append(figures(task))
        except Refused as why:
            answers.append({"refused": str(why)})
        except Exception as error:  # pylint: disable=broad-except
            answers.append({"failed_to_read": f"{type(error).__name__}: {error}"})
    json.dump(answers, sys.stdout)


def figures(task):
    with open(task["path"], "rb") as file:
        text = decoded(unpacked(file.read()))
    # A later line of a log may contain some.
    if any(ord(letter) < 9 for letter in text[:64]):
        raise Refused("no text")
    options = task.get("options", {})
    if task.get("format_first"):
        # In the seeds of the fuzz target, the format string precedes the log.
        options["log_format"], text = text.split("\n", 1)
    text = logs.within_container(text)
    name, read = kind(text, options)
    found = read(text, options).figures(options.get("metric"))
    return {"kind": name, **found}


def unpacked(data):
    packers = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
    return next((unpack(data) for magic, unpack in packers.items() if data.startswith(magic)), data)


def decoded(data):
    for mark, name in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(name)
    text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")


def kind(text, options):
    """Detects the format of a text."""
    if options.get("log_format"):
        return "access log", logs.by_format
    head = text[:65536].lstrip()
    first = head.split("\n", 1)[0]

    def has(*names):
        return all(f'"{name}"' in head for name in names)

    if head.startswith(("{", "[")) and not re.match(r"\[[\d.]+\] ", head) and not re.match(r"\[\d{4}-\d\d-\d\dT", head):
        return of_json(head, first, has)
    by_first_line = [
        (r"#.*|\"StartTimestamp\".*", "HdrHistogram log", hdr.log) if "HIST" in head and "#Fields:" not in head else None,
        (r"#(Version|Software|Fields).*", "W3C log", logs.w3c),
        (r"request-start,DNS,DNS\+dialup,.*", "oha CSV", tools.oha_rows),
        (r"metric_name,timestamp,metric_value,.*", "k6 CSV", tools.k6_rows),
        (r"\d{19},\d{1,3},\d+,\d+,\d+,.*", "vegeta CSV", tools.vegeta_rows),
        (r"timeStamp[,;\t|]elapsed[,;\t|].*", "JMeter CSV", tools.jmeter_rows) if not options.get("columns") else None,
        (r"response-time,DNS\+dialup,DNS,.*", "hey CSV", tools.hey) if not options.get("columns") else None,
        (r"starttime\tseconds\tctime\tdtime\tttime\twait", "ab", tools.ab),
        (r"Percentage served,Time in ms", "ab -e", tools.nothing),
        (r"Type,Name,Request Count,Failure Count,.*", "Locust CSV", tools.locust),
        (r"Timestamp,User Count,Type,Name,Requests/s,.*", "Locust history", tools.locust_history),
        (r"\s*(\S+\s+)*loss\s+(\S+\s+)*ping1\s.*", "smokeping", tools.smokeping),
        (r"[xhpd] \d+ .*", "mtr", tools.mtr),
        (r"<\?xml.*|<testResults.*", "JMeter XML", tools.jmeter_tree) if "<testResults" in head else None,
    ]
    for entry in by_first_line:
        if entry and re.fullmatch(entry[0], first, re.S):
            return entry[1], entry[2]
    by_any_line = [
        (r"^.*Value.*Percentile.*1/\(1-Percentile\)", "HdrHistogram percentiles", hdr.percentiles),
        (r"^[^,\n]*,.*,D?HIST[A-Za-z0-9+/=]{12,}$", "HdrHistogram log", hdr.log),
        (r"^Running .* test @ ", "wrk", tools.wrk),
        (r"^RUN\t", "Gatling", tools.gatling),
        (r"^\w+_bucket\{.*le=\"", "Prometheus", tools.prometheus),
        (r"^(\[[\d.]+\] )?(PING .* data|PING6\(|.* bytes from .*time=)", "ping", tools.ping),
        (r"^(Pinging .* bytes of data:|.*[=<]\d+ ?ms TTL=\d+)", "Windows ping", tools.windows_ping),
        (r"^(\[[\d.]+\] )?\S+\s* : (\[\d+\], |([\d.]+|-)( |$))", "fping", tools.fping),
        (r"\[\d\d/\w{3}/\d{4}:[\d:.]+\] \S+ \S+ -?\d+/-?\d+/-?\d+/-?\d+/\+?-?\d+ ", "HAProxy log", logs.haproxy),
        (r"^((http|https|h2|ws|wss|grpcs) )?\d{4}-\d\d-\d\dT[\d:.]+Z \S+ \S+:\d+ ", "AWS load balancer log", logs.elb),
        (r"^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] \"", "Envoy log", lambda text, options: logs.by_format(text, {**options, "log_format": "envoy"})),
        (r"\" (\d+|-) \"[^\"]+\" \"[^\"]+\" \d+ms\s*$", "Traefik log", logs.traefik),
    ]
    for pattern, name, read in by_any_line:
        if re.search(pattern, head, re.M):
            return name, read
    rest = head.split("\n", 1)[-1]
    if rest.startswith("{") and has("request", "duration", "status"):
        return "Caddy log", logs.caddy
    return "CSV", tools.table


def of_json(head, first, has):
    table = [
        ('"longhaul.recording' in first, "native", tools.native),
        (has("prb_id", "result"), "RIPE Atlas", tools.atlas),
        (has("response_times", "num_requests"), "Locust JSON", tools.locust_json),
        (has("DurationHistogram", "RetCodes"), "fortio", tools.fortio),
        (has("fastest", "slowest", "statusCodeDistribution") and not has("latencyPercentiles"), "ghz", tools.ghz),
        (has("lighthouseVersion"), "Lighthouse", tools.lighthouse),
        (has("aggregate") and (has("summaries") or has("latency")), "artillery", tools.artillery),
        ('"benchmark_http_client.' in head or has("results", "statistics", "pstdev"), "nighthawk", tools.nighthawk),
        (has("entryType"), "Resource Timing", tools.timing),
        (has("log", "entries") or re.match(r'\{\s*"log"\s*:', head) is not None, "HAR", tools.har),
        ('"type":"Point"' in head or '"type":"Metric"' in head, "k6", tools.k6),
        (has("metrics", "http_req_duration"), "k6 summary", tools.k6_summary),
        (has("time_total") or has("time_starttransfer"), "curl", tools.curl),
        (has("latency", "timestamp", "code"), "vegeta", tools.vegeta),
        (has("summary", "latencyPercentiles"), "oha JSON", tools.oha),
        (has("connections", "pipelining", "latency"), "autocannon", tools.autocannon),
        (has("spec", "result", "req2xx"), "bombardier", tools.bombardier),
        (has("resourceSpans"), "OpenTelemetry", tools.otlp),
        (has("request_time"), "nginx JSON log", logs.nginx_json),
        (has("DownstreamStatus", "Duration"), "Traefik JSON log", logs.traefik_json),
        (has("response_code", "duration"), "Envoy JSON log", logs.envoy_json),
        (has("EdgeStartTimestamp"), "Cloudflare log", logs.cloudflare),
        ("time_elapsed" in head, "Fastly log", logs.fastly),
        (has("request", "duration", "status"), "Caddy log", logs.caddy),
    ]
    for is_it, name, read in table:
        if is_it:
            return name, read
    raise Refused("JSON of nothing known")


if __name__ == "__main__":
    main()
