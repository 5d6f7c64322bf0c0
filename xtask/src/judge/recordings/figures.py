"""Figures of a recording, computed with Python's standard library only: the reference for the program's figures."""

import datetime
import math


class Refused(Exception):
    """The file has an unknown format, or lacks data that the figures need."""


class Events:
    """Events one by one. A latency is in milliseconds."""

    def __init__(self):
        self.all = []

    def add(self, failed=False, **metrics):
        self.all.append((failed, {name: value for name, value in metrics.items() if value is not None}))

    def figures(self, metric):
        answered = [metrics for failed, metrics in self.all if not failed]
        if not self.all:
            raise Refused("no events")
        if metric is None:
            names = ("latency", "ttfb", "total")
            metric = next((name for metrics in answered for name in names if name in metrics), None)
        values = sorted(metrics[metric] for metrics in answered if metric in metrics)
        counts = {"read": len(self.all), "failed": len(self.all) - len(answered), "n": len(values)}
        return {"metric": metric, **counts, **exact(values)}


class Counts:
    """Values with their counts, and failed events. Stated figures are present only if the file contains them."""

    def __init__(self, pairs=(), failed=0, stated=None, n=None):
        self.pairs, self.failed, self.stated, self.n = sorted(pairs), failed, stated, n

    def figures(self, metric):
        del metric
        n = self.n if self.n is not None else sum(count for _, count in self.pairs)
        known = self.stated if self.stated is not None else of_counts(self.pairs)
        return {"metric": "latency", "read": n + self.failed, "failed": self.failed, "n": n, **known}


def exact(values):
    if not values:
        return {}
    return {
        "mean": math.fsum(values) / len(values),
        "p50": quantile(values, 0.5),
        "p99": quantile(values, 0.99),
        "max": values[-1],
    }


def quantile(values, share):
    """Type 7: linear between the two ranks around share x (n - 1)."""
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def of_counts(pairs):
    pairs = [(value, count) for value, count in pairs if count]
    n = sum(count for _, count in pairs)
    if not n:
        return {}

    def at(rank):
        for value, count in pairs:
            if rank < count:
                return value
            rank -= count
        return pairs[-1][0]

    def of(share):
        # In integers, because n may be large.
        place = share * (n - 1)
        low = math.floor(place)
        first, second = at(low), at(min(low + 1, n - 1))
        return first + (second - first) * (place - low)

    mean = math.fsum(value * count for value, count in pairs) / n
    return {"mean": mean, "p50": of(0.5), "p99": of(0.99), "max": pairs[-1][0]}


def thinned(pairs, failed):
    """Without failed events, which are assumed to be the same fraction of each value."""
    n = sum(count for _, count in pairs)
    kept = max(n - failed, 0)
    found, upto, given = [], 0, 0
    for value, count in sorted(pairs):
        upto += count
        rounded = (2 * upto * kept + n) // (2 * n) if n else 0
        found.append((value, rounded - given))
        given = rounded
    return [pair for pair in found if pair[1]]


UNITS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def with_unit(text):
    """"12.5ms" in milliseconds."""
    text = text.strip()
    for unit in ("ns", "us", "µs", "ms", "s"):
        number = text[: -len(unit)]
        if text.endswith(unit) and number[-1:].isdigit():
            return float(number) * UNITS[unit]
    raise Refused(f"{text!r} has no unit")


def positive(text):
    """A number that is a valid time."""
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise ValueError(text)
    return value


def epoch(text):
    """Seconds since 1970 of an ISO 8601 date."""
    text = text.replace("Z", "+00:00")
    if "." in text:
        before, after = text.split(".")
        digits = after[: len(after) - len(after.lstrip("0123456789"))]
        text = before + "." + (digits + "000000")[:6] + after[len(digits) :]
    return datetime.datetime.fromisoformat(text).timestamp()
