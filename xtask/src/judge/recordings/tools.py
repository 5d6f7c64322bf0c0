"""Output formats of load generators, browsers, test tools and pings."""

import csv
import io
import json
import re
import xml.etree.ElementTree as tree

from figures import UNITS, Counts, Events, Refused, epoch, positive, thinned, with_unit


def lines_of_json(text):
    """Objects line by line; a truncated last line is skipped."""
    lines = [line for line in text.split("\n") if line.strip()]
    for index, line in enumerate(lines):
        try:
            yield json.loads(line)
        except ValueError:
            if index + 1 < len(lines) or text.endswith("\n"):
                raise Refused("a line is no JSON") from None


def documents(text):
    """A sequence of JSON values."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        while at < len(text) and text[at].isspace():
            at += 1
        if at < len(text):
            value, at = decoder.raw_decode(text, at)
            yield value


def native(text, options):
    del options
    events = Events()
    rows = lines_of_json(text)
    if next(rows).get("schema") != "longhaul.recording/1":
        raise Refused("another schema")
    for row in rows:
        if "end" in row:
            continue
        stated = row.get("stated_ns") or {}
        phases = [row.get(f"{name}_ns") for name in ("dns", "connect", "tls", "quic", "send", "wait")]
        ttfb = sum(phase or 0 for phase in phases) if row.get("wait_ns") is not None else row.get("ttfb_ns")
        metrics = {"latency": row.get("latency_ns"), "ttfb": ttfb, "total": row.get("last_byte_ns"), **stated}
        metrics = {name: value / 1e6 for name, value in metrics.items() if value is not None}
        events.add(row.get("error") is not None, **metrics)
    return events


PHASES = ("dns", "connect", "tls", "quic", "send", "wait")
METRICS = {"latency", "ttfb", "total", "load", *PHASES}


def table(text, options):
    """CSV: a header row with metrics and units, or only numbers."""
    text = text.removeprefix("\ufeff")
    if text.startswith("sep="):
        text = text.split("\n", 1)[1]
    first = text.split("\n", 1)[0]
    separator = next((mark for mark in ";\t," if mark in first), ",")
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]

    def value(cell, scale):
        cell = cell.strip()
        if separator != ",":
            cell = cell.replace(",", ".")
        return None if not cell else with_unit(cell) if cell[-1].isalpha() and scale is None else positive(cell) * scale

    if not rows:
        raise Refused("an empty file")
    try:
        positive(rows[0][0].replace(",", "."))
        if len(rows[0]) > 1:
            raise Refused("several columns of numbers and no names")
        scale, body, roles = UNITS[options.get("unit") or "ms"], rows, [("latency", None)]
        roles = [("latency", scale)]
    except ValueError:
        roles, body = [role(name, options) for name in rows[0]], rows[1:]
    named = [metric for metric, _ in roles if metric in METRICS]
    if not named:
        # A single column with a different name and a unit is the latency.
        others = [(at, re.search(r"[ _(\[](ns|us|ms|s)[)\]]?$", name.strip().lower())) for at, name in enumerate(rows[0])]
        others = [(at, UNITS[found.group(1)]) for at, found in others if found]
        if len(others) == 1:
            roles[others[0][0]] = ("latency", others[0][1])
            named = ["latency"]
    if not named:
        raise Refused("no column of a metric")
    events = Events()
    for row in body:
        metrics, failed = {}, False
        for (metric, scale), cell in zip(roles, row):
            if metric == "error":
                failed |= bool(cell.strip())
            elif metric in METRICS:
                metrics[metric] = value(cell, scale)
        if "ttfb" not in named and "wait" in named and metrics.get("wait") is not None:
            metrics["ttfb"] = sum(metrics.get(name) or 0.0 for name in PHASES)
        events.add(failed, **metrics)
    return events


def role(name, options):
    """The metric of a column and its scale; None if each cell has a unit."""
    plain = name.strip().lower()
    for column in options.get("columns", ()):
        field, header = column.split("=", 1)
        header, _, unit = header.rpartition(":") if header.rpartition(":")[2] in UNITS else (header, "", None)
        if header.lower() == plain:
            return field, UNITS[unit or options.get("unit") or "ms"]
    found = re.fullmatch(r"(\w+?)[ _]?[\[(]?(ns|us|ms|s)[\])]?", plain)
    if found and found.group(1).strip(" _") in METRICS:
        return found.group(1).strip(" _"), UNITS[found.group(2)]
    if plain == "error":
        return "error", None
    if plain in METRICS:
        return plain, UNITS[options["unit"]] if options.get("unit") else None
    return "", None


def har(text, options):
    del options
    events = Events()
    entries = json.loads(text)["log"]["entries"]
    times = [(entry.get("timings") or {}, entry.get("time") or 0) for entry in entries if isinstance(entry, dict)]

    def present(timings, name):
        value = timings.get(name)
        return value if value is not None and value >= 0 else None

    # In Firefox, connect excludes ssl; in other browsers it includes ssl. The sum that equals the stated time decides.
    def distance(timings, time, sign):
        parts = [present(timings, name) or 0 for name in ("blocked", "dns", "connect", "send", "wait", "receive")]
        return abs(sum(parts) + sign * (present(timings, "ssl") or 0) - time)

    with_ssl = [pair for pair in times if (present(pair[0], "ssl") or 0) > 0 and (present(pair[0], "connect") or 0) > 0]
    # In old exports of Chrome, "time" includes waits that are in no part, so the sum is the time.
    beside = sum(distance(timings, time, 1) < min(distance(timings, time, 0), 2) for timings, time in with_ssl)
    longer = sum((timings.get("connect") or 0) < (timings.get("ssl") or 0) for timings, _ in with_ssl)
    is_beside = max(beside, longer) * 2 > len(with_ssl)
    for entry in entries:
        try:
            timings = entry.get("timings") or {}
            # Time in the browser's queue is in no phase.
            parts = [timings.get(key) for key in ("dns", "connect", "ssl", "send", "wait", "receive")]
            bad = any(value is not None and value < 0 and value != -1 for value in parts)
            if entry.get("startedDateTime"):
                epoch(entry["startedDateTime"])
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        if bad:
            continue
        ssl, connect = present(timings, "ssl"), present(timings, "connect") or None
        if ((entry.get("request") or {}).get("url") or "").startswith("http://"):
            # Cleartext; Playwright writes a TLS time nevertheless.
            ssl = None
        if connect and ssl and not is_beside:
            connect -= ssl
        parts = {"dns": present(timings, "dns"), "connect": connect, "ssl": ssl if connect is not None else None, "send": present(timings, "send")}
        wait = present(timings, "wait")
        ttfb = None if wait is None else sum(part or 0 for part in parts.values()) + wait
        if not (entry.get("time") or 0) > 0 and not any((present(timings, part) or 0) > 0 for part in ("blocked", "dns", "connect", "send", "wait", "receive")):
            # Zeros that are no measurements.
            events.add(bool((entry.get("response") or {}).get("_error")) or not ((entry.get("response") or {}).get("status") or 0) > 0)
            continue
        status = (entry.get("response") or {}).get("status")
        response = entry.get("response") or {}
        failed = response.get("_error") or response.get("_failureText") or entry.get("_error") or status is None or status <= 0
        total = entry.get("time")
        events.add(bool(failed), ttfb=ttfb, total=total if total is not None and total >= 0 else None)
    return events


def timing(text, options):
    del options
    events = Events()

    def entries(value):
        if isinstance(value, dict) and "entries" in value:
            return entries(value["entries"])
        if isinstance(value, list):
            return [entry for one in value for entry in entries(one)]
        return [value]

    for document in documents(text):
        own = next((entry["name"] for entry in entries(document) if entry.get("entryType") == "navigation" and "name" in entry), None)
        for entry in entries(document):
            if entry.get("entryType") not in ("resource", "navigation"):
                continue
            if entry.get("finalResponseHeadersStart"):
                # After an interim response, responseStart is the time of that response.
                entry = {**entry, "responseStart": entry["finalResponseHeadersStart"]}
            stamp = {key: value for key, value in entry.items() if isinstance(value, (int, float)) and value > 0}
            start = entry.get("startTime", 0)
            end = stamp.get("responseEnd")
            phases = [("domainLookupStart", "domainLookupEnd"), ("connectStart", "connectEnd"), ("requestStart", "responseStart")]
            times = [stamp[to] - stamp[since] if since in stamp and to in stamp else None for since, to in phases]
            ttfb = sum(time or 0 for time in times) if times[2] is not None else None
            # Browsers also write 0 for cross-origin resources that the page itself loads, not one of its scripts.
            is_scripted = entry.get("initiatorType") in ("fetch", "xmlhttprequest")
            is_of_another = own is not None and not is_scripted and origin(entry.get("name", "")) != origin(own)
            failed = entry.get("responseStatus") == 0 and not is_of_another
            events.add(failed, ttfb=ttfb, total=None if end is None else end - start)
    return events


def origin(url):
    return "/".join(url.split("/")[:3])


def curl(text, options):
    del options
    events = Events()
    for row in documents(text):
        stamp = {key[5:]: row[key] * 1e3 for key in row if key.startswith("time_") and isinstance(row[key], (int, float))}
        # Before 8.10 curl had no time_posttransfer; sending is then a part of waiting. Both are in the sum.
        reached = stamp.get("appconnect") or stamp.get("connect") or stamp.get("namelookup") or 0
        reached -= stamp.get("queue") or 0
        if re.match(r"\w+://(?:[\d.]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:/|$)", row.get("url") or ""):
            # The URL has an IP address: there was no DNS lookup.
            reached -= stamp.get("namelookup") or 0
        began = stamp.get("pretransfer") or 0
        ttfb = None
        if stamp.get("starttransfer"):
            ttfb = stamp["starttransfer"] - began + max(reached, 0.0) if began else stamp["starttransfer"]
            if not row.get("num_connects"):
                ttfb = stamp["starttransfer"] - began
        if row.get("num_redirects"):
            ttfb = None
        events.add(bool(row.get("exitcode")), ttfb=ttfb, total=stamp.get("total") or None)
    return events


def k6(text, options):
    del options
    events = Events()
    for row in lines_of_json(text):
        if row["type"] == "Point":
            k6_point(events, row["metric"], row["data"]["value"], row["data"].get("tags") or {})
    return events


def k6_point(events, metric, value, tags):
    """A completed request has a duration. A failed request has a count, with or without a duration."""
    failed = bool(tags.get("error") or tags.get("error_code")) and int(tags.get("status") or 0) == 0
    if metric == "http_req_duration" and not failed:
        events.add(latency=positive(value))
    if metric == "http_reqs" and failed:
        events.add(True)


def k6_rows(text, options):
    del options
    events = Events()
    for row in csv.DictReader(io.StringIO(text)):
        k6_point(events, row["metric_name"], row["metric_value"], row)
    return events


def vegeta(text, options):
    del options
    events = Events()
    for row in lines_of_json(text):
        events.add(row["code"] == 0, latency=row["latency"] / 1e6)
    return events


def vegeta_rows(text, options):
    del options
    events = Events()
    for row in csv.reader(io.StringIO(text)):
        if row:
            events.add(int(row[1]) == 0, latency=int(row[2]) / 1e6)
    return events


def jmeter_rows(text, options):
    del options
    events = Events()
    first = text.split("\n", 1)[0]
    separator = max(",;\t|", key=first.count)
    for row in csv.DictReader(io.StringIO(text), delimiter=separator):
        # Transaction controllers are sums of other samples in the file.
        if str(row.get("responseMessage", "")).startswith("Number of samples in transaction"):
            continue
        events.add(jmeter_failed(row.get("success"), row.get("responseCode")), latency=positive(row["elapsed"]))
    return events


def jmeter_failed(success, code):
    return str(success).lower() == "false" and not (str(code).isdigit() and int(code) >= 400)


def jmeter_tree(text, options):
    del options
    events = Events()

    def take(element):
        for sample in element:
            if sample.tag not in ("httpSample", "sample"):
                continue
            if str(sample.get("rm", "")).startswith("Number of samples in transaction"):
                take(sample)
            else:
                events.add(jmeter_failed(sample.get("s"), sample.get("rc")), latency=positive(sample.get("t")))

    take(tree.fromstring(text))
    return events


def hey(text, options):
    del options
    events = Events()
    for row in csv.DictReader(io.StringIO(text)):
        events.add(latency=positive(row["response-time"]) * 1e3)
    return events


def ab(text, options):
    del options
    events = Events()
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        events.add(latency=positive(row["ttime"]))
    return events


def nothing(text, options):
    raise Refused("percentiles of an unknown number of requests")


def gatling(text, options):
    del options
    events = Events()
    for line in text.splitlines():
        words = line.split("\t")
        if words[0] != "REQUEST":
            continue
        times = [int(word) for word in words if word.isdigit() and len(word) == 13]
        kind = next(index for index, word in enumerate(words) if word in ("OK", "KO"))
        message = " ".join(words[kind + 1 :])
        found = re.search(r"(?:found|actually|but was) (\d{3})", message)
        is_response = found is not None and int(found.group(1)) >= 400
        events.add(words[kind] == "KO" and not is_response, latency=float(times[1] - times[0]))
    return events


def otlp(text, options):
    del options
    events = Events()
    for document in documents(text):
        for resource in document.get("resourceSpans", ()):
            for scope in resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans") or ():
                for span in scope.get("spans", ()):
                    took = (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e6
                    attributes = {one["key"]: list(one["value"].values())[0] for one in span.get("attributes", ())}
                    status = attributes.get("http.response.status_code") or attributes.get("http.status_code") or 0
                    failed = (span.get("status") or {}).get("code") in (2, "STATUS_CODE_ERROR") and int(status) < 400
                    events.add(failed, latency=took)
    return events


def lighthouse(text, options):
    del options
    events = Events()
    document = json.loads(text)
    document = document.get("lighthouseResult", document)
    for item in document["audits"]["network-requests"]["details"]["items"]:
        start, end = item.get("networkRequestTime"), item.get("networkEndTime")
        took = None if start is None or end is None or end < start else end - start
        events.add(item.get("statusCode") == -1 or item.get("finished") is False, latency=took)
    return events


def ping(text, options):
    """iputils, BSD and busybox: by sequence numbers, and by the count at the end."""
    del options
    events, runs = Events(), []
    seen, highest, first, is_whole = set(), None, None, False
    replies = unreachable = 0

    def end(sent):
        nonlocal seen, highest, first, is_whole, replies, unreachable
        if sent is None and highest is not None:
            sent = highest + 1 - (min(first, 1) if is_whole else first)
        runs.append((unreachable, max((sent or 0) - replies - unreachable, 0)))
        seen, highest, first, is_whole, replies, unreachable = set(), None, None, False, 0, 0

    for line in text.splitlines():
        number = re.search(r"(?:icmp_)?seq[= ](\d+)", line)
        if line.startswith(("PING ", "PING6(")):
            end(None)
            is_whole = True
        if " packets transmitted" in line:
            end(int(line.split()[0]))
        if number:
            count = int(number.group(1))
            first = count if first is None else first
            highest = count if highest is None else max(highest, count)
        if "DUP!" in line:
            continue
        reply = re.search(r" bytes from .*time=([\d.]+) ?(us|ms|s|sec)\b", line)
        if reply and is_whole and number and number.group(1) in seen:
            # Another host of the group.
            continue
        if reply and number:
            seen = {number.group(1)}
        if reply:
            replies += 1
            events.add(latency=positive(reply.group(1)) * UNITS[reply.group(2).removesuffix("ec")])
        elif number and ("Unreachable" in line or "exceeded" in line):
            unreachable += 1
    end(None)
    for gone, silent in runs:
        for _ in range(gone + silent):
            events.add(True)
    return events


def windows_ping(text, options):
    """Whole milliseconds; "<1ms" counts as 0.5 ms. Windows also counts ICMP errors of other machines as received."""
    del options
    events = Events()
    replies = refusals = silent = 0
    for line in text.splitlines():
        found = re.search(r"[=<](\d+) ?ms(?:\s|$)", line)
        counts = re.fullmatch(r"    [^:]+: ?[^=]+= (\d+), [^=]+= (\d+), [^=]+= (\d+)(?:,| \(.*)?", line)
        if counts:
            silent += int(counts.group(1)) - replies - refusals
            replies = refusals = 0
        elif found and ("TTL=" in line or re.search(r"[0-9a-f]*:[0-9a-f:]*: ", line)):
            replies += 1
            value = float(found.group(1))
            events.add(latency=value / 2 if "<" in found.group(0) else value)
        elif line.startswith("Reply from "):
            refusals += 1
            events.add(True)
    for _ in range(silent):
        events.add(True)
    return events


def fping(text, options):
    del options
    events = Events()
    for line in text.splitlines():
        line = re.sub(r"^\[[\d.]+\] ", "", line)
        if "duplicate" in line or "xmt/rcv/%loss" in line:
            continue
        one = re.search(r" : \[\d+\], (?:timed out|\d+ bytes, ([\d.]+) ms)", line)
        every = re.fullmatch(r"\S+\s* : ((?:(?:[\d.]+|-) ?)+)", line)
        if one:
            events.add(one.group(1) is None, latency=None if one.group(1) is None else float(one.group(1)))
        elif every:
            for word in every.group(1).split():
                events.add(word == "-", latency=None if word == "-" else float(word))
    return events


def mtr(text, options):
    """The replies of the destination in `mtr --raw`: the first hop with its address."""
    del options
    sent, replies, hosts = {}, {}, {}
    last = -1
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] not in ("x", "p", "h"):
            continue
        hop = int(words[1])
        if words[0] == "h":
            hosts[hop] = words[2]
            continue
        if words[0] == "x":
            sent.setdefault(hop, []).append(words[2])
        else:
            last = max(last, hop)
            replies.setdefault(hop, {})[words[3] if len(words) > 3 else len(replies.get(hop, {}))] = int(words[2]) / 1e3
    last = min((hop for hop in hosts if hosts[hop] == hosts.get(last)), default=last)
    events = Events()
    for value in replies.get(last, {}).values():
        events.add(latency=value)
    for _ in range(len(sent.get(last, ())) - len(replies.get(last, {}))):
        events.add(True)
    return events


def smokeping(text, options):
    del options
    events = Events()
    names = text.split("\n", 1)[0].split()
    for line in text.splitlines()[1:]:
        if not line.strip():
            continue
        row = dict(zip(names, (float(word) for word in line.split(":", 1)[1].split())))
        pings = [value for name, value in row.items() if re.fullmatch(r"ping\d+", name) and value == value]
        for value in pings:
            events.add(latency=value * 1e3)
        lost = row["loss"]
        for _ in range(round(lost) if lost == lost else 0):
            events.add(True)
    return events


def atlas(text, options):
    del options
    events = Events()
    found = list(documents(text))
    for result in found[0] if isinstance(found[0], list) else found:
        for reply in result["result"]:
            if "dup" in reply:
                continue
            events.add("rtt" not in reply, latency=reply.get("rtt"))
    return events


def ghz(text, options):
    del options
    run = json.loads(text)
    if run.get("details"):
        events = Events()
        for call in run["details"]:
            events.add(call["status"] != "OK", latency=call["latency"] / 1e6)
        return events
    failed = sum(count for status, count in run["statusCodeDistribution"].items() if status != "OK")
    points = {float(one["percentage"]): one["latency"] / 1e6 for one in run.get("latencyDistribution") or ()}
    return Counts(failed=failed, n=run["count"] - failed, stated=stated(points, run["slowest"] / 1e6, run["count"] - failed))


def stated(points, slowest, n):
    """With few events, several percentiles are the same event, so not all stated percentiles can be reproduced."""
    enough = {50: 10, 99: 300}
    known = {f"p{percent}": points[percent] for percent, least in enough.items() if percent in points and n >= least}
    return {**known, "max": slowest}


def oha_rows(text, options):
    del options
    events = Events()
    for row in csv.DictReader(io.StringIO(text)):
        events.add(latency=positive(row["request-duration"]) * 1e3)
    return events


def oha(text, options):
    del options
    run = json.loads(text)
    # Requests in flight at the end of the run did not fail.
    errors = run.get("errorDistribution") or {}
    failed = sum(count for reason, count in errors.items() if reason != "aborted due to deadline")
    n = sum(run["responseTimeHistogram"].values())
    points = {float(name[1:]): seconds * 1e3 for name, seconds in run["latencyPercentiles"].items() if seconds is not None}
    slowest = run["summary"]["slowest"]
    # A percentile that equals the slowest value contains less information.
    points = {percent: ms for percent, ms in points.items() if ms < slowest * 1e3}
    return Counts(failed=failed, n=n, stated=stated(points, slowest * 1e3, n))


def wrk(text, options):
    del options
    points = {float(percent): go_time(time) for percent, time in re.findall(r"^ *([\d.]+)% +(\S+)$", text, re.M)}
    if not points:
        raise Refused("no percentiles")
    slowest = go_time(re.search(r"Latency +\S+ +\S+ +(\S+)", text).group(1))
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    failed = sum(int(count) for count in errors.groups()) if errors else 0
    return Counts(failed=failed, n=requests, stated=stated(points, max(slowest, points.get(99.0, 0.0)), requests))


def go_time(text):
    return float(text[:-1]) * 6e4 if text.endswith("m") else with_unit(text)


def autocannon(text, options):
    del options
    run = json.loads(text)
    points = {float(key[1:].replace("_", ".")): value for key, value in run["latency"].items() if re.fullmatch(r"p[\d_]+", key)}
    n = run["latency"].get("totalCount", run["requests"]["total"])
    return Counts(failed=run["errors"], n=n, stated=stated(points, run["latency"]["max"], n))


def bombardier(text, options):
    del options
    result = json.loads(text)["result"]
    n = sum(result[f"req{kind}xx"] for kind in range(1, 6))
    points = {float(percent): us / 1e3 for percent, us in result["latency"]["percentiles"].items()}
    return Counts(failed=result["others"], n=n, stated=stated(points, result["latency"]["max"] / 1e3, n))


def locust(text, options):
    del options
    row = next(row for row in csv.DictReader(io.StringIO(text)) if row["Name"] in ("Aggregated", "Total"))
    failed = int(row["Failure Count"])
    slowest = float(row["Max Response Time"])
    points = {float(name[:-1]): min(float(value), slowest) for name, value in row.items() if name.endswith("%") and value != "N/A"}
    return Counts(failed=failed, n=int(row["Request Count"]) - failed, stated=stated(points, slowest, int(row["Request Count"]) - failed))


def locust_json(text, options):
    del options
    pairs, failed = {}, 0
    for entry in json.loads(text):
        failed += entry["num_failures"]
        for value, count in thinned([(float(ms), count) for ms, count in entry["response_times"].items()], entry["num_failures"]):
            pairs[value] = pairs.get(value, 0) + count
    return Counts(pairs.items(), failed)


def locust_history(text, options):
    """The last row contains the total counts; percentiles are per window."""
    del options
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["Name"] in ("Aggregated", "Total")]
    failed = int(rows[-1]["Total Failure Count"])
    slowest = max(float(row["100%"]) for row in rows if row["100%"] != "N/A")
    return Counts(failed=failed, n=int(rows[-1]["Total Request Count"]) - failed, stated={"max": slowest})


def k6_summary(text, options):
    del options
    metrics = json.loads(text)["metrics"]
    figures = {name: metric.get("values", metric) for name, metric in metrics.items()}
    duration = figures["http_req_duration"]
    points = {float(name[2:-1]): value for name, value in duration.items() if name.startswith("p(")}
    points[50.0] = duration["med"]
    return Counts(n=int(figures["http_reqs"]["count"]), stated=stated(points, duration["max"], int(figures["http_reqs"]["count"])))


def fortio(text, options):
    del options
    run = json.loads(text)
    failed = int(run.get("RetCodes", {}).get("-1", 0))
    pairs = [((one["Start"] + one["End"]) / 2 * 1e3, int(one["Count"])) for one in run["DurationHistogram"]["Data"]]
    return Counts(thinned(pairs, failed), failed)


def nighthawk(text, options):
    del options
    results = json.loads(text)["results"]
    all_of_them = next((result for result in results if result["name"] == "global"), results[0])
    statistic = next((one for one in all_of_them["statistics"] if one["id"] == "benchmark_http_client.request_to_response"), None)
    if statistic is None:
        raise Refused("no times of requests")
    points = {point["percentile"] * 100: with_unit(point["duration"]) for point in statistic["percentiles"]}
    counters = {counter["name"]: int(counter["value"]) for counter in all_of_them.get("counters", ())}
    failed = sum(counters.get(name, 0) for name in ("benchmark.stream_resets", "benchmark.pool_connection_failure"))
    return Counts(failed=failed, n=int(statistic["count"]), stated=stated(points, with_unit(statistic["max"]), int(statistic["count"])))


def artillery(text, options):
    del options
    run = json.loads(text)["aggregate"]
    times = run.get("summaries", {}).get("http.response_time") or run["latency"]
    points = {50.0: times["median"]}
    points.update({float(f"{name[1:3]}.{name[3:] or 0}"): value for name, value in times.items() if re.fullmatch(r"p\d\d+", name)})
    counters = run.get("counters", {})
    failed = sum(count for name, count in counters.items() if name.startswith("errors.")) + sum(run.get("errors", {}).values())
    return Counts(failed=failed, n=int(times.get("count", run.get("requestsCompleted"))), stated=stated(points, times["max"], int(times.get("count", run.get("requestsCompleted")))))


def prometheus(text, options):
    """Events count at the middle of their bucket, above the last bound at that bound. Of several scrapes, the difference counts."""
    wanted = next((column.split("=", 1)[1] for column in options.get("columns", ())), None)
    series = {}
    for line in text.splitlines():
        found = re.match(r'(\w+)_bucket(?:\{(.*)\})? ([\d.eE+]+)', line)
        if not found:
            continue
        name, labels, value = found.group(1), dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found.group(2) or "")), float(found.group(3))
        bound = labels.pop("le")
        series.setdefault(name, {}).setdefault((tuple(sorted(labels.items())), bound), []).append(value)
    sets = {(name, labels) for name, found in series.items() for labels, _ in found}
    name = wanted or (list(series)[0] if len(sets) == 1 else None)
    if name not in series:
        raise Refused("several histograms, or not this one")
    scale = {"_seconds": 1e3, "_milliseconds": 1.0, "_microseconds": 1e-3, "_nanoseconds": 1e-6}
    factor = next((value for end, value in scale.items() if name.endswith(end)), None) or UNITS[options["unit"]]
    counts = {}
    for (_, bound), values in series[name].items():
        counts[bound] = counts.get(bound, 0) + (values[-1] - values[0] if len(values) > 1 else values[0])
    bounds = sorted(counts, key=float)
    pairs, before, low = [], 0, 0.0
    for bound in bounds:
        high = low if float(bound) == float("inf") else float(bound)
        pairs.append(((low + high) / 2 * factor, round(counts[bound] - before)))
        before, low = counts[bound], high
    return Counts(pairs)
