// Statistical parts of a report: simple approximations, but consistent with the samples.

export const round = (value) => Number(value.toPrecision(7));
export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values) => {
  const average = mean(values);
  return mean(values.map((value) => (value - average) ** 2));
};

/** Type 7: linear interpolation at (n - 1) p. */
export function quantile(sorted, share) {
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const high = Math.min(sorted.length - 1, low + 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/** E[max of N] = sum of x_(i) [ (i/n)^N - ((i-1)/n)^N ]. */
export function expectedExperienced(sorted, effective) {
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

const Z = 1.96;
export const INTERVALS = { level: 0.95, resamples: 1000, seed: 20 };

/** The normal distribution function [Abramowitz and Stegun 26.2.17]. */
function normal(z) {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly;
  return z > 0 ? 1 - tail : tail;
}

/** By ranks: binomial, pointwise at each share. Without a rank, the end is unbounded. */
export function quantileCi(sorted, share) {
  const n = sorted.length;
  const room = (Z * Math.sqrt(share * (1 - share) * n) + 1) / n;
  return [
    share - room <= 0 ? null : round(quantile(sorted, share - room)),
    share + room >= 1 ? null : round(quantile(sorted, share + room)),
  ];
}

const SHARES = [
  ...Array.from({ length: 90 }, (_, i) => i / 100),
  ...Array.from({ length: 80 }, (_, i) => 1 - 10 ** (-1 - i / 20)),
];
const sharesOf = (n) => [...SHARES.filter((share) => 1 - share >= 1 / n), 1];

export const band = (sorted) => {
  const share = sharesOf(sorted.length);
  return { share, ci_ms: share.map((one) => quantileCi(sorted, one)) };
};

/** The intervals of both sides are added like independent errors. */
export function difference(a, b, ci) {
  const share = sharesOf(Math.min(a.sorted.length, b.sorted.length));
  const at = (one) => {
    const [x, y] = [quantile(a.sorted, one), quantile(b.sorted, one)];
    const [p, q] = [quantileCi(a.sorted, one), quantileCi(b.sorted, one)];
    const end = (mine, theirs, sign) =>
      mine === null || theirs === null ? null : round(y - x + sign * Math.hypot(y - mine, theirs - x));
    return { value: round(y - x), ci: [end(q[0], p[1], -1), end(q[1], p[0], 1)] };
  };
  const all = share.map(at);
  return {
    first: a.label,
    second: b.label,
    share,
    difference_ms: all.map((one) => one.value),
    ci_ms: ci ? all.map((one) => one.ci) : [],
  };
}

/** Mean and standard error of one request's latency. */
export const requestMoments = (sorted) => [mean(sorted), Math.sqrt(variance(sorted) / sorted.length)];

/** The same for a page: the error from ten parts of the samples. */
export function pageMoments(sorted, effective) {
  const parts = Array.from({ length: 10 }, (_, part) => sorted.filter((_, i) => i % 10 === part)).filter(
    (part) => part.length > 0,
  );
  const spread = Math.sqrt(variance(parts.map((part) => expectedExperienced(part, effective))) / parts.length);
  return [expectedExperienced(sorted, effective), spread];
}

export const ciOf = ([value, error]) => [round(value - Z * error), round(value + Z * error)];

/** The probability that a page of one side is faster than a page of the other. */
function shareBetter(a, b, effective) {
  let wins = 0;
  const steps = 400;
  const at = (sorted, i) => quantile(sorted, ((i + 0.5) / steps) ** (1 / effective));
  const others = Array.from({ length: steps }, (_, i) => at(b, i));
  for (let i = 0; i < steps; i++) {
    const value = at(a, i);
    const above = others.filter((other) => other > value).length;
    wins += above + others.filter((other) => other === value).length / 2;
  }
  return wins / steps ** 2;
}

/** A verdict over sides with { label, sorted, moments }, by the means; a pair has a probability. */
export function verdict(sides, moments, effective, ci) {
  const [best, next] = sides.map((one, i) => ({ ...one, moments: moments[i] })).sort((a, b) => a.moments[0] - b.moments[0]);
  const lead = next.moments[0] - best.moments[0];
  if (lead <= 1e-6 * next.moments[0]) return { difference_ms: 0 };
  const plain = { better: best.label, difference_ms: round(lead), relative: round(lead / next.moments[0]) };
  if (!ci) return plain;
  const error = Math.hypot(best.moments[1], next.moments[1]);
  const share = shareBetter(best.sorted, next.sorted, effective);
  const sure = error === 0 ? 1 : Math.min(1, round(Math.round(normal(lead / error) * 1000) / 1000));
  const room = (Z * 0.5) / Math.sqrt(Math.min(best.sorted.length, next.sorted.length));
  return {
    ...plain,
    ci_ms: ciOf([lead, error]),
    share_better: round(share),
    share_better_ci: [round(Math.max(0, share - room)), round(Math.min(1, share + room))],
    sure,
    certainty: sure > 0.975 ? "sure" : sure >= 0.9 ? "likely" : "undecided",
  };
}

/** Renard series R10 around all values. */
export function heat(samples, interval_s) {
  const values = samples.map((sample) => sample.latency_ms);
  const edge = (k) => Number((10 ** (k / 10)).toPrecision(2));
  const least = Math.min(...values);
  const low = least < 0.001 ? -30 : Math.floor(10 * Math.log10(least)) - 1;
  let high = low + 1;
  while (edge(high) <= Math.max(...values)) high++;
  const edges_ms = Array.from({ length: high - low + 1 }, (_, i) => edge(low + i));
  if (least < 0.001) edges_ms.unshift(0);
  const rows = edges_ms.length - 1;
  const times = samples.map((sample) => sample.at_s);
  const first = Math.floor(Math.min(...times) / interval_s);
  const intervals = Math.floor(Math.max(...times) / interval_s) - first + 1;
  const counts = Array.from({ length: rows * intervals }, () => 0);
  for (const { at_s, latency_ms } of samples) {
    const row = edges_ms.findLastIndex((one) => one <= latency_ms);
    counts[(Math.floor(at_s / interval_s) - first) * rows + row]++;
  }
  return { interval_s, start_s: first * interval_s, intervals, edges_ms, counts };
}

/** Mean of each phase over the requests around each share; samples have `phases`, and the remaining time is
 * the rest. */
function phaseMeans(ordered, share) {
  const n = ordered.length;
  const width = Math.max(3, Math.round(n * Math.min(0.02, (1 - share) / 2)));
  const middle = Math.round(share * (n - 1));
  const around = ordered.slice(Math.max(0, middle - width), middle + width + 1);
  const names = Object.keys(ordered[0].phases);
  const means = names.map((name) => [name, mean(around.map((sample) => sample.phases[name]))]);
  const explained = means.reduce((sum, [, value]) => sum + value, 0);
  return [...means, ["rest", Math.max(0, mean(around.map((sample) => sample.latency_ms)) - explained)]];
}

const byLatency = (samples) => samples.toSorted((a, b) => a.latency_ms - b.latency_ms);

export function phaseStack(samples) {
  const ordered = byLatency(samples);
  const share = sharesOf(samples.length);
  const at = share.map((one) => phaseMeans(ordered, one));
  return {
    share,
    phases: at[0].map(([phase], i) => ({ phase, mean_ms: at.map((means) => round(means[i][1])) })),
  };
}

export function phaseDifferences(first, second) {
  const [a, b] = [byLatency(first), byLatency(second)];
  return ["50", "90", "99", "99.9"].map((percentile) => {
    const [x, y] = [a, b].map((ordered) => phaseMeans(ordered, Number(percentile) / 100));
    const phases = x.map(([phase, first_ms], i) => ({ phase, first_ms: round(first_ms), second_ms: round(y[i][1]) }));
    const total = phases.reduce((sum, one) => sum + one.second_ms - one.first_ms, 0);
    const part = (one) => (one.second_ms - one.first_ms) * Math.sign(total);
    const decisive = phases.toSorted((one, other) => part(other) - part(one))[0];
    return { percentile, phases, ...(total === 0 ? {} : { decisive: decisive.phase }) };
  });
}

/** The first two sides by `samples[].group`, sorted according to the report's schema. */
export function breakdown(label, a, b, effective, ci) {
  const all = a.samples.length + b.samples.length;
  const names = [...new Set([...a.samples, ...b.samples].map((sample) => sample.group))].filter(Boolean);
  const sortedOf = (samples, name) =>
    samples.filter((sample) => sample.group === name).map((sample) => sample.latency_ms).sort((x, y) => x - y);
  const sideOf = (sorted) => ({
    n: sorted.length,
    median_ms: round(quantile(sorted, 0.5)),
    expected_request_ms: round(mean(sorted)),
    expected_experienced_ms: round(expectedExperienced(sorted, effective)),
    thin: 0.5 >= (1 - 10 / sorted.length) ** effective,
  });
  const groups = names.map((name) => {
    const sides = [a, b].map((side) => ({ label: side.label, sorted: sortedOf(side.samples, name) }));
    const both = sides.every((side) => side.sorted.length > 0);
    const [first, second] = sides.map((side) => (side.sorted.length > 0 ? sideOf(side.sorted) : undefined));
    const experienced = both
      ? verdict(sides, sides.map((side) => pageMoments(side.sorted, effective)), effective, ci)
      : undefined;
    const n = (first?.n ?? 0) + (second?.n ?? 0);
    return { name, share: round(n / all), ...(first && { first }), ...(second && { second }), ...(experienced && { experienced }) };
  });
  const rank = (group) => (!group.experienced ? 2 : group.experienced.better === b.label ? 0 : 1);
  groups.sort((x, y) => rank(x) - rank(y) || y.share - x.share);
  const unlabelled = [...a.samples, ...b.samples].filter((sample) => !sample.group).length;
  return { label, groups, unlabelled };
}

/** Pages are runs of ten samples, if samples have page ids. */
export function independence(sides, effective) {
  const checked = sides.some((side) => side.samples.some((sample) => sample.page !== undefined));
  const found = sides.map(({ label, samples, sorted }) => {
    const timed = samples.every((sample) => sample.at_s !== undefined);
    const slow = quantile(sorted, 0.9);
    const after = samples.filter((_, i) => i > 0 && samples[i - 1].latency_ms > slow);
    const maxima = [];
    for (let i = 0; i + effective <= samples.length; i += effective)
      maxima.push(Math.max(...samples.slice(i, i + effective).map((sample) => sample.latency_ms)));
    const neighbours = {
      correlation: 0.12,
      slow_above_ms: round(slow),
      slow_share: round(samples.filter((sample) => sample.latency_ms > slow).length / samples.length),
      slow_after_slow: round(after.filter((sample) => sample.latency_ms > slow).length / Math.max(1, after.length)),
      ...(maxima.length > 1
        ? { observed_ms: round(mean(maxima)), observed_ci_ms: ciOf(requestMoments(maxima)), model_ms: round(expectedExperienced(sorted, effective)) }
        : {}),
    };
    return { label, ...(checked ? { pages: pageCheck(samples, sorted) } : {}), ...(timed ? { neighbours } : {}) };
  });
  const first = found.find((side) => side.pages)?.pages;
  return {
    checked,
    ...(first ? { model_ms: first.model_ms, observed_ms: first.observed_ms } : {}),
    sentence: first
      ? `For pages of 10 requests the model expects ${first.model_ms.toFixed(1)} ms; the pages had ${first.observed_ms.toFixed(1)} ms.`
      : "Requests are taken as independent; the samples carry no page ids, so that could not be checked.",
    sides: found,
  };
}

function pageCheck(samples, sorted) {
  const pages = Map.groupBy ? [...Map.groupBy(samples, (sample) => sample.page).values()] : grouped(samples);
  const maxima = pages.map((page) => Math.max(...page.map((sample) => sample.latency_ms)));
  const half = pages.map((page) => page.map((sample) => sample.latency_ms).sort((a, b) => a - b)[4] ?? 0);
  const [model_ms, observed, error] = [expectedExperienced(sorted, 10), ...requestMoments(maxima)];
  return {
    pages: pages.length,
    requests_min: Math.min(...pages.map((page) => page.length)),
    requests_median: 10,
    requests_max: Math.max(...pages.map((page) => page.length)),
    model_ms: round(model_ms),
    observed_ms: round(observed),
    observed_ci_ms: ciOf([observed, error]),
    off: round(model_ms / observed - 1),
    off_ci: [1, -1].map((sign) => round(model_ms / (observed + sign * Z * error) - 1)),
    first_model_ms: round(quantile(sorted, 0.45)),
    first_observed_ms: round(mean(half)),
  };
}

function grouped(samples) {
  const pages = new Map();
  for (const sample of samples) pages.set(sample.page, [...(pages.get(sample.page) ?? []), sample]);
  return [...pages.values()];
}
