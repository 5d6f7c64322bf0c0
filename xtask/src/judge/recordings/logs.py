"""Access logs of servers, proxies and CDNs: with a format string, in JSON, or in a special format."""

import json
import re

from figures import Events, Refused, epoch, positive


def skipping(lines, take):
    """Lines that do not match the format are skipped, unless they are the majority."""
    events, wrong = Events(), 0
    for line in lines:
        if not line.strip():
            continue
        before = len(events.all)
        try:
            take(line, events)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            del events.all[before:]
            wrong += not line.startswith("#")
    if wrong > len(events.all):
        raise Refused("most lines have another format")
    return events


NAMED = {
    "nginx": '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time',
    "apache": 'combined %D',
    "varnishncsa": 'combined %D',
    "tomcat9": 'tomcat9:combined %D',
    "tomcat10": 'tomcat10:combined %D',
    "envoy": '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"',
}
BASES = {"combined": '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"', "common": '%h %l %u %t "%r" %>s %b'}
UNIT_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}


def by_format(text, options):
    form = NAMED.get(options["log_format"], options["log_format"])
    dialect = "apache"
    for name in ("tomcat9", "tomcat10", "tomcat", "nginx", "envoy", "apache", "varnishncsa"):
        if form.startswith(name + ":"):
            dialect, form = name, form[len(name) + 1 :]
    for name, base in BASES.items():
        if re.match(name + r"\b", form):
            form = base + form[len(name) :]
    if re.search(r"\$\{?[a-z]", form):
        return nginx(text, form, options)
    if re.search(r"%[A-Z_]{3,}(\([^)]*\))?(:\d+)?%", form):
        return envoy(text, form, options)
    return apache(text, form, dialect, options)


# Numeric variables, with one value or one per upstream. Clients may control the text of other variables.
NUMBERS = (r"_time\}?$", r"status\}?$", r"%(\{[mu]?s\})?[DTF]$", r"%>?s$", r"%\^FB$", r"DURATION%$", r"RESPONSE_CODE%$", r"time_firstbyte\}x$")
TIMES = r"(?:-|[\d.]+)(?:(?:, | : )(?:-|[\d.]+))*"


def compiled(form, variable):
    """A pattern with a group for each variable, and the variables."""
    pattern, names, at = "", [], 0
    for found in re.finditer(variable, form):
        content = TIMES if any(re.search(part, found.group(0)) for part in NUMBERS) else ".*?"
        pattern += re.escape(form[at : found.start()]) + f"(?P<v{len(names)}>{content})"
        names.append(found.group(0))
        at = found.end()
    return re.compile(pattern + re.escape(form[at:]) + "$"), names


def fields(pattern, names, line):
    found = pattern.match(line)
    return [(name, found.group(f"v{index}")) for index, name in enumerate(names)]


def absent(value):
    return value in ("", "-")


def added(value):
    """Times of several upstreams: "0.1, 0.2 : -"."""
    times = [positive(part) for part in re.split(r", | : ", value) if part != "-"]
    return sum(times) if times else None


def nginx(text, form, options):
    pattern, names = compiled(form, r"\$\{?[a-z0-9_]+\}?")
    unit = UNIT_MS[options.get("unit") or "s"]
    of_users = columns(options)

    def take(line, events):
        metrics, failed = {}, False
        for name, value in fields(pattern, names, line):
            bare = name.strip("${}")
            if bare == "status" and not absent(value):
                failed = int(value) == 499
            meaning = {"request_time": "latency", "upstream_header_time": "ttfb", "upstream_response_time": "total"}.get(bare)
            scale = unit
            if bare in of_users:
                meaning, given = of_users[bare]
                scale = UNIT_MS[given] if given else unit
            elif meaning in [metric for metric, _ in of_users.values()]:
                meaning = None
            if meaning and not absent(value):
                took = added(value)
                metrics[meaning] = None if took is None else took * scale
        events.add(failed, **metrics)

    return skipping(text.splitlines(), take)


def proven(values, options):
    """A fractional value proves that the unit of a log is seconds; whole numbers may have any unit."""
    values = [str(value) for value in values]
    if not options.get("unit") and not any("." in value for value in values) and any(value.strip("0") for value in values):
        raise Refused("durations of an unknown unit")


def columns(options):
    """From "latency=request_time:ms" to {"request_time": ("latency", "ms")}."""
    found = {}
    for column in options.get("columns", ()):
        metric, header = column.split("=", 1)
        header, _, unit = header.rpartition(":") if header.rpartition(":")[2] in UNIT_MS else (header, "", None)
        found[header.lower().strip("$%@{}")] = (metric, unit)
    return found


def envoy(text, form, options):
    form = form.removesuffix("\\n").removesuffix("\n")
    pattern, names = compiled(form.replace("%%", "\0"), r"%[A-Z_]+(\([^)]*\))?(:\d+)?%")
    pattern = re.compile(pattern.pattern.replace("\0", "%").replace("\\x00", "%"))
    unit = UNIT_MS[options.get("unit") or "ms"]

    def take(line, events):
        metrics, failed = {}, False
        for name, value in fields(pattern, names, line):
            if name == "%RESPONSE_CODE%" and not absent(value):
                failed |= int(value) in (0, 499)
            if name == "%RESPONSE_FLAGS%":
                failed |= bool({"DC", "DR"} & set(value.split(",")))
            meaning = {"%DURATION%": "latency", "%RESPONSE_DURATION%": "ttfb"}.get(name)
            if meaning and not absent(value):
                metrics[meaning] = positive(value) * unit
        events.add(failed, **metrics)

    return skipping(text.splitlines(), take)


def apache(text, form, dialect, options):
    pattern, names = compiled(form, r"%[<>]?(\{[^}]*\})?\^?[a-zA-Z]{1,2}(?![a-zA-Z])")
    given = options.get("unit")
    of_d = UNIT_MS[given or ("ms" if dialect == "tomcat9" else "us")]

    def take(line, events):
        found, failed = {}, False
        for name, value in fields(pattern, names, line):
            argument = re.search(r"\{([^}]*)\}", name)
            letter = re.sub(r"\{[^}]*\}", "", name).lstrip("%<>")
            if letter == "X" and value == "X":
                failed = True
            if letter == "s" and not absent(value):
                failed |= int(value) == 499
            if absent(value):
                continue
            if letter == "D":
                found[("latency", 1)] = positive(value) * of_d
            elif letter == "T":
                unit = argument.group(1) if argument else "s"
                fine = {"ms": 2, "us": 0, "s": 3}[unit]
                scale = UNIT_MS[unit] if argument else UNIT_MS[given or "s"]
                found[("latency", fine)] = positive(value) * scale
            elif letter == "^FB" or (letter == "F" and dialect.startswith("tomcat")):
                found[("ttfb", 0)] = positive(value) * (1.0 if letter == "F" else 1e-3)
            elif argument and argument.group(1) == "Varnish:time_firstbyte":
                found[("ttfb", 0)] = positive(value) * 1e3
        # Of several latencies, the one with the finest unit counts.
        metrics = {}
        for (metric, _), value in sorted(found.items(), key=lambda item: -item[0][1]):
            metrics[metric] = value
        events.add(failed, **metrics)

    return skipping(text.splitlines(), take)


def objects(text, meaning):
    def take(line, events):
        found = meaning(json.loads(line))
        if found is not None:
            failed, metrics = found
            events.add(failed, **metrics)

    return skipping(text.splitlines(), take)


def number(value):
    """A number, or a number as text; otherwise None."""
    if value is None or absent(str(value)):
        return None
    return positive(value)


def scaled(value, scale):
    value = number(value)
    return None if value is None else value * scale


def nginx_json(text, options):
    unit = UNIT_MS[options.get("unit") or "s"]
    of_users = columns(options)

    def meaning(entry):
        if "request_time" not in entry:
            return None
        metrics = {}
        for key, value in entry.items():
            bare = key.lstrip("$@")
            metric = {"request_time": "latency", "upstream_header_time": "ttfb", "upstream_response_time": "total"}.get(bare)
            scale = unit
            if bare in of_users:
                metric, given = of_users[bare]
                scale = UNIT_MS[given] if given else unit
            elif metric in [replaced for replaced, _ in of_users.values()]:
                metric = None
            if metric and value is not None and not absent(str(value)):
                took = added(str(value))
                metrics[metric] = None if took is None else took * scale
        return str(entry.get("status")) == "499", metrics

    return objects(text, meaning)


def envoy_json(text, options):
    del options

    def meaning(entry):
        if "response_code" not in entry or "duration" not in entry:
            return None
        flags = set(str(entry.get("response_flags") or "").split(","))
        failed = number(entry["response_code"]) in (0, 499) or bool(flags & {"DC", "DR"})
        return failed, {"latency": scaled(entry["duration"], 1.0), "ttfb": scaled(entry.get("response_duration"), 1.0)}

    return objects(text, meaning)


def traefik_json(text, options):
    del options

    def meaning(entry):
        if "DownstreamStatus" not in entry or "Duration" not in entry:
            return None
        metrics = {"latency": scaled(entry["Duration"], 1e-6), "total": scaled(entry.get("OriginDuration"), 1e-6)}
        return entry["DownstreamStatus"] in (0, 499), metrics

    return objects(text, meaning)


def cloudflare(text, options):
    del options

    def meaning(entry):
        start, end = entry.get("EdgeStartTimestamp"), entry.get("EdgeEndTimestamp")
        metrics = {"ttfb": scaled(entry.get("EdgeTimeToFirstByteMs"), 1.0)}
        if start is not None and end is not None:
            ns = [int(at) if str(at).isdigit() else round(epoch(at) * 1e9) for at in (start, end)]
            if min(ns) > 1e17:
                metrics["latency"] = (ns[1] - ns[0]) / 1e6
        metrics["total"] = scaled(entry.get("OriginResponseDurationMs") or None, 1.0)
        return entry.get("EdgeResponseStatus") in (0, 499), metrics

    return objects(text, meaning)


def fastly(text, options):
    def meaning(entry):
        metrics = {"ttfb": scaled(entry.get("time_to_first_byte"), 1e3)}
        for key, scale in (("time_elapsed_usec", 1e-3), ("time_elapsed_msec", 1.0), ("time_elapsed", None)):
            if key in entry:
                value = str(entry[key])
                unit = 1e3 if "." in value else UNIT_MS[options.get("unit") or "us"]
                metrics["latency"] = scaled(value, unit if scale is None else scale)
        return entry.get("response_status") in (0, 499), metrics

    return objects(text, meaning)


def caddy(text, options):
    given, numbers = options.get("unit"), []

    def meaning(entry):
        logger = entry.get("logger")
        if logger is not None and not str(logger).startswith("http.log.access"):
            return None
        if logger is None and not all(key in entry for key in ("request", "duration", "status")):
            return None
        duration = entry.get("duration")
        if isinstance(duration, str):
            took = go_duration(duration)
        else:
            took = scaled(duration, UNIT_MS[given or "s"])
            numbers.append(duration)
        return entry.get("status") in (0, 499), {"latency": took}

    events = objects(text, meaning)
    proven(numbers, options)
    return events


def go_duration(text):
    units = {"h": 3.6e6, "m": 6e4, "s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ns": 1e-6}
    parts = re.findall(r"([\d.]+)(h|ms|m|us|µs|μs|ns|s)", text)
    if "".join(number + unit for number, unit in parts) != text:
        raise ValueError(text)
    return sum(float(number) * units[unit] for number, unit in parts)


def traefik(text, options):
    del options

    def take(line, events):
        found = re.search(r'" (\d+|-) (?:\d+|-) "[^"]*" "[^"]*" (?:\d+|-) "[^"]*" "[^"]*" (\d+)ms\s*$', line)
        events.add(found.group(1) in ("0", "499"), latency=float(found.group(2)))

    return skipping(text.splitlines(), take)


def haproxy(text, options):
    del options
    form = r"\[\d\d/\w{3}/\d{4}:[\d:.]+\] \S+ \S+ (-?\d+)/(-?\d+)/(-?\d+)/(-?\d+)/(\+?-?\d+) (-?\d+) \+?\d+ \S+ \S+ (\S{4}) "

    def take(line, events):
        found = re.search(form, line)
        if not found:
            # A message of the server, or a line of a different log.
            return
        request, queue, connect, response = (int(found.group(index)) for index in range(1, 5))
        total, state = found.group(5), found.group(7)
        latency = None if total.startswith("+") or int(total) < 0 else float(total)
        times = (request, queue, connect, response)
        ttfb = None if response < 0 else float(sum(time for time in times if time > 0))
        failed = state[0] in "Cc" or state[1] == "D"
        events.add(failed, latency=latency, ttfb=ttfb)

    return skipping(text.splitlines(), take)


def elb(text, options):
    del options

    def take(line, events):
        words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', line)
        is_classic = words[0][:2].isdigit()
        first = 4 if is_classic else 5
        times = [float(word) for word in words[first : first + 3]]
        status, target = words[first + 3], words[first + 4]
        latency = None if any(time < 0 for time in times) else sum(times) * 1e3
        code = int(status) if status.isdigit() else 0
        failed = code == 460 or (code >= 500 and target == "-") or code == 0
        events.add(failed, latency=latency)

    return skipping(text.splitlines(), take)


def w3c(text, options):
    """IIS and CloudFront: #Fields: names the columns."""
    names, separator, scale = [], " ", 1.0
    is_cloudfront = "x-edge-location" in text[:65536]
    if is_cloudfront:
        separator, scale = "\t", 1e3
    elif options.get("unit"):
        scale = UNIT_MS[options["unit"]]
    of_users = columns(options)

    def take(line, events):
        nonlocal names
        if line.startswith("#Fields:"):
            names = line[8:].split()
        if line.startswith("#"):
            return
        values = line.split(separator)
        if len(values) != len(names):
            raise ValueError("another number of columns")
        row = dict(zip(names, values))
        metrics = {}
        for name, metric in (("time-taken", "latency"), ("time-to-first-byte", "ttfb")):
            if name in row and not absent(row[name]):
                metrics[metric] = positive(row[name]) * scale
        for name, (metric, unit) in of_users.items():
            metrics[metric] = positive(row[name]) * UNIT_MS[unit]
        status = row.get("sc-status", "-")
        failed = (not absent(status) and int(status) in (0, 499)) or row.get("sc-win32-status") in ("64", "1236")
        events.add(failed, **metrics)

    return skipping(text.splitlines(), take)


def within_container(text):
    """The log inside of Docker's json-file or CRI's lines, or the unchanged text."""
    lines = text.splitlines()
    if not lines:
        return text
    if lines[0].startswith('{"log":"'):
        return "".join(json.loads(line)["log"] for line in lines if line.strip())
    form = re.compile(r"^\S+ (?:stdout|stderr) ([FP])(?:\S*) ?(.*)$")
    if form.match(lines[0]) and lines[0][:4].isdigit():
        found = [form.match(line) for line in lines if line.strip()]
        return "".join(one.group(2) + ("\n" if one.group(1) == "F" else "") for one in found if one)
    return text
