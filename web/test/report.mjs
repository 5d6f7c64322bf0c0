// Creates a report from samples like the Rust program, for the tests: simple and slow, directly from the
// definitions.
import {
  band,
  breakdown,
  ciOf,
  difference,
  expectedExperienced,
  heat,
  independence,
  INTERVALS,
  mean,
  pageMoments,
  phaseDifferences,
  phaseStack,
  quantile,
  quantileCi,
  requestMoments,
  round,
  verdict,
} from "./parts.mjs";

/** A generator of numbers in 0..1, identical on every machine. */
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

const REQUEST_PERCENTILES = ["50", "75", "90", "95", "99", "99.9", "99.99"];
const SLOWEST_KEPT = 100;

function quantileFunction(sorted) {
  const n = sorted.length;
  const shares = new Set([0, 1]);
  for (let i = 0; i <= 200; i++) shares.add(i / 200);
  for (let k = Math.max(0, n - SLOWEST_KEPT); k < n - 1; k++) shares.add(k / (n - 1));
  const share = [...shares].sort((a, b) => a - b);
  return { share, latency_ms: share.map((one) => round(quantile(sorted, one))) };
}

const experienced = (sorted, effective) => ({
  expected_ms: round(expectedExperienced(sorted, effective)),
  percentiles_ms: REQUEST_PERCENTILES.map((p) => round(quantile(sorted, (Number(p) / 100) ** (1 / effective)))),
});

const byPercentile = (f) => Object.fromEntries(REQUEST_PERCENTILES.map((p) => [p, round(f(Number(p) / 100))]));
const cisByPercentile = (f, ci) =>
  Object.fromEntries(ci ? REQUEST_PERCENTILES.map((p) => [p, f(Number(p) / 100)]) : []);

function side({ label, failed = 0, excluded = 0, format = "native", invalid = [], shifts = [], ...more }, sorted, effective, ci) {
  const n = sorted.length;
  const average = mean(sorted);
  const thin = 100 * Math.max(0, 1 - 10 / n);
  return {
    label,
    format,
    read: n + failed + excluded,
    n,
    failed,
    without_metric: 0,
    excluded,
    ...(more.relative_error === undefined ? {} : { relative_error: more.relative_error }),
    invalid,
    shifts,
    expected_request_ms: round(average),
    ...(ci
      ? {
          expected_request_ci_ms: ciOf(requestMoments(sorted)),
          expected_experienced_ci_ms: ciOf(pageMoments(sorted, effective)),
          block_length: 12,
        }
      : {}),
    standard_deviation_ms: round(Math.sqrt(mean(sorted.map((x) => (x - average) ** 2)))),
    expected_experienced_ms: round(expectedExperienced(sorted, effective)),
    min_ms: round(sorted[0]),
    max_ms: round(sorted[n - 1]),
    request_percentiles_ms: byPercentile((p) => quantile(sorted, p)),
    experienced_percentiles_ms: byPercentile((p) => quantile(sorted, p ** (1 / effective))),
    request_percentiles_ci_ms: cisByPercentile((p) => quantileCi(sorted, p), ci),
    experienced_percentiles_ci_ms: cisByPercentile((p) => quantileCi(sorted, p ** (1 / effective)), ci),
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

/** Sign changes of Q_B - Q_A on a grid that is fine enough for tests. */
function crossovers(a, b, ci) {
  const found = [];
  let before = 0;
  for (let i = 0; i <= 10000; i++) {
    const share = i / 10000;
    const sign = Math.sign(quantile(b.sorted, share) - quantile(a.sorted, share));
    if (before !== 0 && sign !== 0 && sign !== before) {
      found.push({
        percentile: round(share * 100),
        ...(ci && share > 0.002 && share < 0.998 ? { ci: [round(share * 100 - 0.15), round(share * 100 + 0.12)] } : {}),
        latency_ms: round(quantile(a.sorted, share)),
        faster_above: sign > 0 ? a.label : b.label,
      });
    }
    if (sign !== 0) before = sign;
  }
  return found;
}

function verdicts(sides, effective, ci) {
  const of = (moments, effectiveOf) => verdict(sides, sides.map(moments), effectiveOf, ci);
  const request = of((one) => requestMoments(one.sorted), 1);
  const people = of((one) => pageMoments(one.sorted, effective), effective);
  const by = (one, what) =>
    one.better ? `${one.better} is faster ${what} by ${one.difference_ms.toFixed(1)} ms` : `the sides tie ${what}`;
  return {
    median_request: of((one) => [quantile(one.sorted, 0.5), medianError(one.sorted)], 1),
    request,
    experienced: people,
    headline: `${by(request, "for one request")}, but ${by(people, "for a person on the page")}.`,
    sentence: `${by(request, "for one request")}, but ${by(people, "for a person on the page")}.`,
  };
}

function medianError(sorted) {
  const [low, high] = quantileCi(sorted, 0.5);
  return ((high ?? sorted.at(-1)) - (low ?? sorted[0])) / 3.92;
}

function allPairs(sides, effective, ci) {
  return sides.flatMap((first, i) =>
    sides.slice(i + 1).map((second) => {
      const { request, experienced } = verdicts([first, second], effective, ci);
      return { first: first.label, second: second.label, request, experienced };
    }),
  );
}

const has = (samples, part) => samples.every((sample) => sample[part] !== undefined);

/**
 * `inputs`: one entry per side with label, samples ({ latency_ms, at_s?, phases?, group?, page? }) and other
 * fields of the side. `ci`: whether the report contains intervals. `by`: the label of the samples' groups.
 * `rest`: parts of the report that do not follow from the samples.
 */
export function makeReport(
  inputs,
  { requests = 180, required = 0.5, metric = "ttfb", most = 400, interval_s = 5, ci = true, by, thresholds = [], ...rest } = {},
) {
  const effective = Math.max(1, Math.round(requests * required));
  const sorted = inputs.map(({ label, samples }) => ({
    label,
    samples,
    sorted: samples.map((sample) => sample.latency_ms).sort((a, b) => a - b),
  }));
  const sides = sorted.map((one, i) => side(inputs[i], one.sorted, effective, ci));
  const many = sides.length > 1;
  const phased = inputs.map(({ samples }) => has(samples, "phases"));
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
      excluded_phases: [],
      ...(ci ? { intervals: INTERVALS } : {}),
      sides,
      ...(many ? { verdict: verdicts(sorted, effective, ci) } : {}),
      pairs: sides.length > 2 ? allPairs(sorted, effective, ci) : [],
      crossovers: many ? crossovers(sorted[0], sorted[1], ci) : [],
      independence: independence(sorted, effective),
      phases: many && phased[0] && phased[1] ? phaseDifferences(inputs[0].samples, inputs[1].samples) : [],
      ...(by ? { breakdown: breakdown(by, inputs[0], inputs[1], effective, ci) } : {}),
      thresholds,
      method: "Quantiles are type 7 (linear interpolation at (n-1)p); requests of a page are taken as independent.",
      warnings: [],
    },
    charts: sorted.map((one, i) => ({
      label: one.label,
      quantiles: quantileFunction(one.sorted),
      experienced: Array.from({ length: most }, (_, n) => experienced(one.sorted, n + 1)),
      ...(inputs[i].samples.every((sample) => sample.at_s !== undefined)
        ? { over_time: overTime(inputs[i].samples, interval_s), heat: heat(inputs[i].samples, interval_s) }
        : {}),
      ...(ci ? { band: band(one.sorted) } : {}),
      ...(phased[i] ? { phases: phaseStack(inputs[i].samples) } : {}),
    })),
    differences: sorted.slice(1).map((other) => difference(sorted[0], other, ci)),
    experiments: [],
    outages: [],
    transfers: [],
    pings: [],
    commands: [],
    claims: [],
    faults: [],
    conditions: [],
    warnings: [],
    ...rest,
    valid: (rest.fidelity?.valid ?? true) && sides.every((side) => side.invalid.length === 0),
  };
}
