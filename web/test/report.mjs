// Makes a report from samples, as the Rust side would, for the walk: plain, slow and by the definitions.

/** A generator of numbers in 0..1, the same on every machine. */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A sample of the log-normal distribution with this median. */
export const lognormal = (random, median, sigma) =>
  median * Math.exp(sigma * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

const round = (value) => Number(value.toPrecision(7));
const REQUEST_PERCENTILES = ["50", "75", "90", "95", "99", "99.9", "99.99"];
const SLOWEST_KEPT = 100;

/** Type 7: linear interpolation at (n - 1) p. */
function quantile(sorted, share) {
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const high = Math.min(sorted.length - 1, low + 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

function quantileFunction(sorted) {
  const n = sorted.length;
  const shares = new Set([0, 1]);
  for (let i = 0; i <= 200; i++) shares.add(i / 200);
  for (let k = Math.max(0, n - SLOWEST_KEPT); k < n - 1; k++) shares.add(k / (n - 1));
  const share = [...shares].sort((a, b) => a - b);
  return { share, latency_ms: share.map((one) => round(quantile(sorted, one))) };
}

/** E[max of N] = sum of x_(i) [ (i/n)^N - ((i-1)/n)^N ]. */
function expectedExperienced(sorted, effective) {
  const n = sorted.length;
  let sum = 0;
  let below = 0;
  for (let i = 1; i <= n; i++) {
    const upTo = (i / n) ** effective;
    sum += sorted[i - 1] * (upTo - below);
    below = upTo;
  }
  return sum;
}

const experienced = (sorted, effective) => ({
  expected_ms: round(expectedExperienced(sorted, effective)),
  percentiles_ms: REQUEST_PERCENTILES.map((p) => round(quantile(sorted, (Number(p) / 100) ** (1 / effective)))),
});

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const byPercentile = (f) => Object.fromEntries(REQUEST_PERCENTILES.map((p) => [p, round(f(Number(p) / 100))]));

function side({ label, failed = 0, invalid = [] }, sorted, effective) {
  const n = sorted.length;
  const average = mean(sorted);
  const thin = 100 * Math.max(0, 1 - 10 / n);
  return {
    label,
    n,
    failed,
    without_metric: 0,
    invalid,
    expected_request_ms: round(average),
    standard_deviation_ms: round(Math.sqrt(mean(sorted.map((x) => (x - average) ** 2)))),
    expected_experienced_ms: round(expectedExperienced(sorted, effective)),
    min_ms: round(sorted[0]),
    max_ms: round(sorted[n - 1]),
    request_percentiles_ms: byPercentile((p) => quantile(sorted, p)),
    experienced_percentiles_ms: byPercentile((p) => quantile(sorted, p ** (1 / effective))),
    thin_above: thin,
    experienced_thin_above: 100 * (thin / 100) ** effective,
  };
}

function overTime(samples, interval) {
  const columns = { interval_s: interval, start_s: [], count: [], p50_ms: [], p90_ms: [], p99_ms: [], max_ms: [] };
  const groups = new Map();
  for (const sample of samples) {
    const index = Math.floor(sample.at_s / interval);
    groups.set(index, [...(groups.get(index) ?? []), sample]);
  }
  for (const [index, group] of [...groups].sort((a, b) => a[0] - b[0])) {
    const sorted = group.map((sample) => sample.latency_ms).sort((a, b) => a - b);
    columns.start_s.push(index * interval);
    columns.count.push(sorted.length);
    columns.p50_ms.push(round(quantile(sorted, 0.5)));
    columns.p90_ms.push(round(quantile(sorted, 0.9)));
    columns.p99_ms.push(round(quantile(sorted, 0.99)));
    columns.max_ms.push(round(sorted.at(-1)));
  }
  return columns;
}

/** Sign changes of Q_B - Q_A on a grid fine enough for a test. */
function crossovers(a, b) {
  const found = [];
  let before = 0;
  for (let i = 0; i <= 10000; i++) {
    const share = i / 10000;
    const sign = Math.sign(quantile(b.sorted, share) - quantile(a.sorted, share));
    if (before !== 0 && sign !== 0 && sign !== before) {
      found.push({
        percentile: round(share * 100),
        latency_ms: round(quantile(a.sorted, share)),
        faster_above: sign > 0 ? a.label : b.label,
      });
    }
    if (sign !== 0) before = sign;
  }
  return found;
}

function best(sides, of) {
  const sorted = [...sides].sort((a, b) => of(a) - of(b));
  const difference = round(of(sorted[1]) - of(sorted[0]));
  return difference === 0 ? { difference_ms: 0 } : { better: sorted[0].label, difference_ms: difference };
}

function verdicts(sides) {
  const request = best(sides, (one) => one.expected_request_ms);
  const people = best(sides, (one) => one.expected_experienced_ms);
  const by = (verdict, what) =>
    verdict.better
      ? `${verdict.better} is faster ${what} by ${verdict.difference_ms.toFixed(1)} ms`
      : `the sides tie ${what}`;
  return {
    median_request: best(sides, (one) => one.request_percentiles_ms["50"]),
    request,
    experienced: people,
    sentence: `${by(request, "for one request")}, but ${by(people, "for a person on the page")}.`,
  };
}

/**
 * `inputs`: one entry a side with label, samples ({ latency_ms, at_s? }), failed and invalid. `rest`: parts of the report that
 * do not follow from samples.
 */
export function makeReport(
  inputs,
  { requests = 180, required = 0.5, metric = "ttfb", most = 400, interval_s = 5, ...rest } = {},
) {
  const effective = Math.max(1, Math.round(requests * required));
  const sorted = inputs.map(({ label, samples }) => ({
    label,
    sorted: samples.map((sample) => sample.latency_ms).sort((a, b) => a - b),
  }));
  const sides = sorted.map((one, i) => side(inputs[i], one.sorted, effective));
  return {
    schema: "longhaul.report/1",
    title: "A comparison",
    metric,
    comparison: {
      schema: "longhaul.compare/1",
      metric,
      valid: sides.every((side) => side.invalid.length === 0),
      page: { requests, required, effective_requests: effective },
      percentile_to_watch: Object.fromEntries(
        ["50", "99"].map((p) => [p, round(100 * (Number(p) / 100) ** (1 / effective))]),
      ),
      sides,
      ...(sides.length > 1 ? { verdict: verdicts(sides) } : {}),
      crossovers: sides.length > 1 ? crossovers(sorted[0], sorted[1]) : [],
      method: "Quantiles are type 7 (linear interpolation at (n-1)p); requests of a page are taken as independent.",
      warnings: [],
    },
    charts: sorted.map((one, i) => ({
      label: one.label,
      quantiles: quantileFunction(one.sorted),
      experienced: Array.from({ length: most }, (_, n) => experienced(one.sorted, n + 1)),
      ...(inputs[i].samples.every((sample) => sample.at_s !== undefined)
        ? { over_time: overTime(inputs[i].samples, interval_s) }
        : {}),
    })),
    claims: [],
    faults: [],
    conditions: [],
    warnings: [],
    ...rest,
    valid: (rest.fidelity?.valid ?? true) && sides.every((side) => side.invalid.length === 0),
  };
}
