"""HdrHistogram: interval logs (V0, V1, V2, and double histograms), and percentiles as text."""

import base64
import struct
import zlib

from figures import UNITS, Counts, Refused


def log(text, options):
    unit = UNITS.get(options.get("unit") or "", None)
    pairs = {}
    for line in text.splitlines():
        if line.startswith("#[Unit: "):
            unit = UNITS[line[8:].rstrip("]")]
        if not line.strip() or line.startswith(("#", '"')):
            continue
        for value, count in histogram(base64.b64decode(line.split(",")[-1])):
            pairs[value] = pairs.get(value, 0) + count
    if unit is None:
        raise Refused("a log does not name its unit")
    return Counts([(value * unit, count) for value, count in pairs.items()])


def histogram(data):
    (cookie,) = struct.unpack_from(">i", data)
    if cookie in (0x0C72124E, 0x0C72124F):
        return of_decimals(data)
    base = cookie & ~0xF0
    if base in (0x1C849304, 0x1C849302, 0x1C849309):
        (length,) = struct.unpack_from(">i", data, 4)
        return histogram(zlib.decompress(data[8 : 8 + length]))
    if base == 0x1C849308:
        digits, lowest, _, _ = struct.unpack_from(">iqqq", data, 4)
        return values(digits, lowest, words(data[32:], (cookie & 0xF0) >> 4), 1.0)
    length, _, digits, lowest, _, ratio = struct.unpack_from(">iiiqqd", data, 4)
    body = data[40 : 40 + length]
    counts = zigzag(body) if base == 0x1C849303 else words(body, (cookie & 0xF0) >> 4 & 0xE)
    return values(digits, lowest, counts, ratio)


def of_decimals(data):
    return histogram(data[16:])


def words(body, size):
    kind = {2: "h", 4: "i", 8: "q"}[size]
    return list(struct.unpack(f">{len(body) // size}{kind}", body[: len(body) // size * size]))


def zigzag(body):
    counts, at = [], 0
    while at < len(body):
        number, shift = 0, 0
        while True:
            byte = body[at]
            at += 1
            if shift == 56:
                number |= byte << shift
                break
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        number = (number >> 1) ^ -(number & 1)
        counts.extend([0] * -number if number < 0 else [number])
    return counts


def values(digits, lowest, counts, ratio):
    """The middle of each bucket that has events."""
    unit = max(lowest, 1).bit_length() - 1
    magnitude = (2 * 10**digits - 1).bit_length()
    half = 1 << (magnitude - 1)
    for index, count in enumerate(counts):
        if not count:
            continue
        bucket, sub = index // half - 1, index % half + half
        if bucket < 0:
            bucket, sub = 0, sub - half
        low, size = sub << (bucket + unit), 1 << (bucket + unit)
        yield ((low + (size - 1) / 2 if ratio == 1.0 else low + size / 2) * ratio, count)


def percentiles(text, options):
    """Each row has a value and the number of events up to it. Values between two rows count at their middle."""
    del options
    rows, separator = [], None
    for line in text.splitlines():
        words_of = line.split(separator)
        if "Percentile" in line and "Value" in line:
            separator = "," if "," in line else None
            rows = []
        elif len(words_of) >= 3 and all(is_number(word) for word in words_of[:3]):
            rows.append((float(words_of[0]), float(words_of[1]), int(words_of[2])))
    if not rows:
        raise Refused("no rows of percentiles")
    stated = {"max": rows[-1][0]}
    n = rows[-1][2]
    for value, share, _ in rows:
        if share == 0.5:
            stated["p50"] = value
        if share == 0.99:
            stated["p99"] = value
    return Counts(stated=stated, n=n)


def is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True
