// Generated from docs/schema/report.json by `npm run generate`: the report as Rust writes it. Do not edit.

/**
 * The source of people's waits.
 */
export type Basis = "observed pages" | "model";
/**
 * How sure a verdict is, in a word. It follows from `sure`, the level and the number of resamples only.
 */
export type Certainty = "sure" | "borderline" | "likely" | "undecided";
/**
 * A chart of a document of figures.
 */
export type Panel =
  | (Timeline & {
      kind: "timeline";
    })
  | (Scatter & {
      kind: "scatter";
    })
  | (Multiples & {
      kind: "multiples";
    })
  | (Bars & {
      kind: "bars";
    });
/**
 * The look of a line.
 */
export type Look = "solid" | "dashed" | "steps" | "crosses";
/**
 * How the values of an axis are spaced.
 */
export type Scale = "linear" | "log" | "share";
/**
 * The alignment of a column.
 */
export type Align = "text" | "number";
/**
 * What the line does while a sample is taken.
 */
export type During = "idle" | "download" | "upload";
/**
 * On which connection.
 */
export type On = "same" | "separate";
/**
 * How much a figure can be relied on.
 */
export type Confidence = "low" | "medium" | "high";
/**
 * How good a line is for something.
 */
export type Class = "bad" | "poor" | "average" | "good" | "great";
/**
 * Something that gets points.
 */
export type Input = "download" | "upload" | "latency" | "loaded_increase" | "jitter" | "loss";

/**
 * Everything that the report page shows; without chart data, everything in `result.json`.
 */
export interface Report {
  /**
   * Chart data, one entry per side, in the order of `comparison.sides`. Empty in `result.json`.
   */
  charts: SideCharts[];
  /**
   * Scenario claims, and whether they held. Empty for a plain comparison.
   */
  claims: Judgement[];
  /**
   * The output of commands.
   */
  commands: CommandResult[];
  comparison: Comparison;
  /**
   * The conditions of the measurement, in the order to show them.
   */
  conditions: Condition[];
  /**
   * How each other side differs from the first, percentile by percentile. Empty in `result.json`.
   */
  differences: DifferenceCurve[];
  /**
   * The same, and the reasons why the numbers are not valid, each with its kind. Doubts of the comparison that do
   * not make it invalid are in the comparison.
   */
  doubts: Caveat[];
  /**
   * Everything else that a scenario measured besides the latency of requests: one document of charts and tables
   * for each kind of measurement.
   */
  experiments: Figures[];
  /**
   * The faults on the scenario's timeline.
   */
  faults: FaultMark[];
  /**
   * How faithful the emulator was. Absent if nothing was emulated.
   */
  fidelity?: Fidelity | null;
  /**
   * The metric that every number below is about: "ttfb", "latency", ...
   */
  metric: string;
  /**
   * The longest time without an answer of each host, by side.
   */
  outages: Outages[];
  /**
   * How much of a scenario was measured, if it was interrupted. Then no claim is judged. Absent for a complete
   * run.
   */
  partial?: Partial | null;
  /**
   * The results of pings, one entry per side.
   */
  pings: PingResult[];
  /**
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.report/1";
  /**
   * The results of speed tests.
   */
  speeds: SpeedResult[];
  /**
   * When the measurement started, RFC 3339, if known.
   */
  start?: string | null;
  /**
   * One or two sentences on the question, if a scenario has them.
   */
  summary?: string | null;
  /**
   * The title of the page.
   */
  title: string;
  /**
   * The results of transfers.
   */
  transfers: TransferResult[];
  /**
   * False if this program was the bottleneck: then the numbers describe the tool and not what it measured.
   */
  valid: boolean;
  /**
   * What a reader must know before trusting the numbers, as sentences.
   */
  warnings: string[];
}
/**
 * The chart data of one side.
 */
export interface SideCharts {
  /**
   * The confidence band of the quantile function. Absent if there are no intervals.
   */
  band?: Band | null;
  /**
   * The experienced latencies for 1, 2, 3, ... effective requests: entry i is for i + 1.
   */
  experienced: Experienced[];
  /**
   * The whole distribution over time. Absent when samples carry no time.
   */
  heat?: Heat | null;
  /**
   * The side's label.
   */
  label: string;
  /**
   * Percentiles over time. Absent when samples carry no time; empty where they fill no interval.
   */
  over_time?: OverTime | null;
  /**
   * The waits of real page views, as a quantile function over page views. Absent unless samples carry page ids.
   */
  page_views?: Quantiles | null;
  /**
   * Its confidence band. Absent if there are no intervals.
   */
  page_views_band?: Band | null;
  /**
   * The time in each phase, by percentile of the metric. Absent when samples carry no phases.
   */
  phases?: PhaseStack | null;
  quantiles: Quantiles;
}
/**
 * A pointwise confidence band of a quantile function, as columns: it holds at each share, not for the whole curve at
 * once.
 */
export interface Band {
  /**
   * The interval at each share.
   */
  ci_ms: [number | null, number | null][];
  /**
   * Shares of requests, 0..=1, ascending. The corresponding share of visitors of a page is this share to the power
   * of the page's effective requests.
   */
  share: number[];
}
/**
 * What a person experiences, for one number of effective requests.
 */
export interface Experienced {
  /**
   * Expected experienced latency.
   */
  expected_ms: number;
  /**
   * Latency at the 50th, 75th, 90th, 95th, 99th, 99.9th and 99.99th percentile of people.
   *
   * @minItems 7
   * @maxItems 7
   */
  percentiles_ms: [number, number, number, number, number, number, number];
}
/**
 * The whole distribution over time: how many samples started in each interval and had a latency in each row.
 */
export interface Heat {
  /**
   * Sample counts by interval: all rows of the first interval from the lowest latency, then the next interval.
   */
  counts: number[];
  /**
   * The edges of the rows, ascending; one more than the number of rows.
   */
  edges_ms: number[];
  /**
   * Length of an interval in seconds.
   */
  interval_s: number;
  /**
   * How many intervals there are.
   */
  intervals: number;
  /**
   * Samples in a first or last interval that the recording covers only in part. They are not in `counts`.
   */
  left_out: number;
  /**
   * Start of the first interval, seconds since the measurement's start.
   */
  start_s: number;
}
/**
 * Percentiles over time as columns; one entry for each interval that has samples and that the recording covers.
 */
export interface OverTime {
  /**
   * Samples in the interval.
   */
  count: number[];
  /**
   * Length of an interval in seconds.
   */
  interval_s: number;
  /**
   * Samples in a first or last interval that the recording covers only in part. They are in no entry, because a
   * tail of fewer samples looks shorter.
   */
  left_out: number;
  /**
   * Maximum.
   */
  max_ms: number[];
  /**
   * Median.
   */
  p50_ms: number[];
  /**
   * 90th percentile.
   */
  p90_ms: number[];
  /**
   * 99th percentile.
   */
  p99_ms: number[];
  /**
   * Start of the interval, seconds since the measurement's start.
   */
  start_s: number[];
}
/**
 * A quantile function as columns.
 */
export interface Quantiles {
  /**
   * The latency at each share.
   */
  latency_ms: number[];
  /**
   * Shares of samples, 0..=1.
   */
  share: number[];
}
/**
 * The time that requests spend in each phase, by percentile of the metric, as columns.
 */
export interface PhaseStack {
  /**
   * The phases in the order in which they occur, and last the part that no phase explains. Their sum is the
   * metric.
   */
  phases: PhaseColumn[];
  /**
   * Shares of requests, 0..=1, ascending.
   */
  share: number[];
}
/**
 * One phase of a [`PhaseStack`].
 */
export interface PhaseColumn {
  /**
   * The mean over requests around each share; 0 if it never occurred.
   */
  mean_ms: number[];
  /**
   * "dns", "connect", "tls", "quic", "send", "wait", "load" or "rest".
   */
  phase: string;
}
/**
 * A claim and what came of it.
 */
export interface Judgement {
  /**
   * The claim as its author put it.
   */
  claim: string;
  /**
   * Whether the emulator's own error leaves the answer as it is. If not, it cannot be said on this machine.
   */
  decided: boolean;
  /**
   * The figures that decide it, as a sentence.
   */
  figure: string;
  /**
   * Whether it held, as it was measured and at both ends of the emulator's own error.
   */
  holds: boolean;
}
/**
 * The JSON that a command printed, and the numbers in it that claims are about.
 */
export interface CommandResult {
  /**
   * The numbers that claims are about.
   */
  figures: Figure[];
  /**
   * The host in which it ran.
   */
  host: string;
  /**
   * How much of the times in its output may be the emulator's doing, in ms: of the time for which it ran. Absent if that is
   * not known.
   */
  own_error_ms?: number | null;
  /**
   * The side that it measured.
   */
  side: string;
  /**
   * All of its output.
   */
  value: {
    [k: string]: unknown;
  };
}
/**
 * A number in a command's output.
 */
export interface Figure {
  /**
   * Its path: "json.summary.restart_s".
   */
  at: string;
  /**
   * The number with its unit, or the reason why it is missing.
   */
  text: string;
}
/**
 * Two or more recordings as people experience them: the object that `compare --json` prints.
 */
export interface Comparison {
  /**
   * The first two sides by the value of a label. Absent if none was requested.
   */
  breakdown?: Breakdown | null;
  /**
   * Request percentiles (in percent) at which the faster of the first two sides changes.
   */
  crossovers: Crossover[];
  /**
   * The differences between the other sides and the first in means and percentiles, not corrected for multiple
   * comparisons.
   */
  differences: Differences[];
  /**
   * The same, and the reasons why sides are invalid, each with its kind.
   */
  doubts: Caveat[];
  /**
   * Phases that were subtracted from it.
   */
  excluded_phases: string[];
  /**
   * Pairs of sides with the same samples, which cannot be compared.
   */
  identical: [string, string][];
  independence: Independence;
  /**
   * How the intervals were made. Absent if there are none.
   */
  intervals?: Intervals | null;
  /**
   * How quantiles were computed, as sentences.
   */
  method: string;
  /**
   * The metric compared.
   */
  metric: string;
  page: Page;
  /**
   * Every side against every other, if there are more than two.
   */
  pairs: Pair[];
  /**
   * For a share of visitors in percent ("50", "99"): the request percentile that decides their latency, in
   * percent.
   */
  percentile_to_watch: {
    [k: string]: number;
  };
  /**
   * Which phase makes the difference between the first two sides, percentile by percentile. Empty if a side has no
   * phases.
   */
  phases: PhaseDifference[];
  /**
   * "longhaul.compare/1".
   */
  schema: string;
  /**
   * One entry per input, in the given order.
   */
  sides: Side[];
  /**
   * The requested thresholds, and whether they held.
   */
  thresholds: Judgement[];
  /**
   * Whether no side is invalid.
   */
  valid: boolean;
  /**
   * Which side wins, first for one request, then for a person on the page. Absent for a single side.
   */
  verdict?: Verdicts | null;
  /**
   * What a reader must know before trusting the numbers, as sentences.
   */
  warnings: string[];
}
/**
 * The first two sides by the value of a label.
 */
export interface Breakdown {
  /**
   * Its values: first those for which the first side is worse, ordered by the number of people; then the others in
   * the same order; then those that only one side has.
   */
  groups: Group[];
  /**
   * The label.
   */
  label: string;
  /**
   * How many further values there are, each with fewer samples than these.
   */
  omitted: number;
  /**
   * Samples of the two sides without this label.
   */
  unlabelled: number;
}
/**
 * One value of a label.
 */
export interface Group {
  /**
   * Which side is better by the expected experienced latency; absent if only one side has such samples.
   */
  experienced?: Verdict | null;
  /**
   * The numbers of the first side; absent if it has no such samples.
   */
  first?: GroupSide | null;
  /**
   * The value.
   */
  name: string;
  /**
   * The numbers of the second side.
   */
  second?: GroupSide | null;
  /**
   * The share of all samples with this value, 0..=1. This is also the share of people, if all make the same number
   * of requests.
   */
  share: number;
}
/**
 * The best side by one number.
 */
export interface Verdict {
  /**
   * The source of people's waits. Absent for numbers of requests.
   */
  basis?: Basis | null;
  /**
   * Label of the side with the smaller number; absent for a tie, and where `within_own_error`. `certainty` tells whether to
   * believe it.
   */
  better?: string | null;
  /**
   * The word for it. Absent without intervals, or for a tie.
   */
  certainty?: Certainty | null;
  /**
   * The confidence interval of that difference; its lower end is below 0 if the other side may be better.
   *
   * @minItems 2
   * @maxItems 2
   */
  ci_ms?: [number | null, number | null] | null;
  /**
   * Its lead over the next best.
   */
  difference_ms: number;
  /**
   * The same as a share of the next best's number.
   */
  relative?: number | null;
  /**
   * How many times as many samples would decide it, if the difference stays the same. Absent if it is decided, or
   * if the samples cannot tell.
   */
  samples_needed?: number | null;
  /**
   * The share of requests (or page views) for which it is faster than the next best, if both draw one at random;
   * ties count half.
   */
  share_better?: number | null;
  /**
   * The confidence interval of that share.
   *
   * @minItems 2
   * @maxItems 2
   */
  share_better_ci?: [number, number] | null;
  /**
   * How sure it is that it is the better one, 0.5..=1. Corrected if several comparisons are made at once (Holm).
   */
  sure?: number | null;
  /**
   * Whether the emulator's own error of the next best may be all of that lead.
   */
  within_own_error?: boolean;
}
/**
 * One value of a label on one side.
 */
export interface GroupSide {
  /**
   * The mean of the slowest of `effective_requests` independent requests of this group.
   */
  expected_experienced_ms: number;
  /**
   * The mean.
   */
  expected_request_ms: number;
  /**
   * The median.
   */
  median_ms: number;
  /**
   * Samples.
   */
  n: number;
  /**
   * Whether fewer than 10 samples decide the wait of the median person of this group.
   */
  thin: boolean;
}
/**
 * A percentile at which the faster side changes.
 */
export interface Crossover {
  /**
   * Its confidence interval, in percent. Absent if the samples cannot bound it.
   *
   * @minItems 2
   * @maxItems 2
   */
  ci?: [number, number] | null;
  /**
   * The side that is faster above it.
   */
  faster_above: string;
  /**
   * The latency there.
   */
  latency_ms: number;
  /**
   * In percent.
   */
  percentile: number;
}
/**
 * One side minus the first, number by number. Not corrected for multiple comparisons: of twenty 95 % intervals, one
 * misses.
 */
export interface Differences {
  basis: Basis;
  /**
   * The same for what people on the page wait.
   */
  experienced: {
    [k: string]: Difference;
  };
  /**
   * The first side.
   */
  first: string;
  /**
   * Of requests: "mean", and percentiles by their names: "50", "75", "90", "95", "99".
   */
  request: {
    [k: string]: Difference;
  };
  /**
   * The side that is compared with it.
   */
  second: string;
}
/**
 * The difference between two sides in one number.
 */
export interface Difference {
  /**
   * The word for it.
   */
  certainty?: Certainty | null;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  ci_ms?: [number | null, number | null] | null;
  /**
   * The second side's number minus the first's: if above 0, the second is slower.
   */
  difference_ms: number;
  /**
   * The same as a share of the first's number. Absent if that is 0.
   */
  relative?: number | null;
  /**
   * The interval, as shares of the first's number.
   *
   * @minItems 2
   * @maxItems 2
   */
  relative_ci?: [number | null, number | null] | null;
  /**
   * How sure it is which of the two is smaller, 0.5..=1.
   */
  sure?: number | null;
  /**
   * Whether fewer than 10 samples lie beyond the number on a side.
   */
  thin: boolean;
}
/**
 * A doubt in a document.
 */
export interface Caveat {
  /**
   * Whether it makes the numbers worthless: they describe the tool and not what it measured. Otherwise it weakens them.
   */
  invalid: boolean;
  /**
   * Which doubt it is, in a word that stays the same from version to version: "late_packets".
   */
  kind: string;
  /**
   * What it is, as a sentence.
   */
  sentence: string;
}
/**
 * The independent model compared with real pages.
 */
export interface Independence {
  /**
   * Whether samples of a side carry page ids, so that real pages could be looked at.
   */
  checked: boolean;
  /**
   * What the model expects people to experience, for the side with the largest error; for the pages of the
   * recording, not for the requested page. Absent if unchecked.
   */
  model_ms?: number | null;
  /**
   * What people did experience there.
   */
  observed_ms?: number | null;
  /**
   * The findings as a sentence.
   */
  sentence: string;
  /**
   * One entry per side, in order.
   */
  sides: SideIndependence[];
}
/**
 * The findings for one side.
 */
export interface SideIndependence {
  /**
   * The side.
   */
  label: string;
  /**
   * From the order of its samples in time; absent if they carry no time.
   */
  neighbours?: NeighbourCheck | null;
  /**
   * From its page ids; absent if it has none.
   */
  pages?: PageCheck | null;
}
/**
 * Neighbours in time compared with the model.
 */
export interface NeighbourCheck {
  /**
   * The probability that independent samples have so many slow ones after slow ones, 0..=1.
   */
  chance: number;
  /**
   * Correlation of neighbours' ranks, -1..=1; 0 if they are unrelated.
   */
  correlation: number;
  /**
   * The same if requests were independent.
   */
  model_ms?: number | null;
  /**
   * How many samples were checked.
   */
  n: number;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  observed_ci_ms?: [number | null, number | null] | null;
  /**
   * Mean of the slowest of each `effective_requests` neighbours; absent if there are too few.
   */
  observed_ms?: number | null;
  /**
   * The threshold above which a request counts as slow.
   */
  slow_above_ms: number;
  /**
   * The share of slow requests among those that follow a slow one.
   */
  slow_after_slow: number;
  /**
   * The share of slow requests.
   */
  slow_share: number;
}
/**
 * Real pages compared with the model.
 */
export interface PageCheck {
  /**
   * Whether there are enough of them to judge the model.
   */
  conclusive: boolean;
  /**
   * Mean time until the required number of requests has finished, whichever they are, if requests were
   * independent.
   */
  first_model_ms: number;
  /**
   * The same for the recorded pages.
   */
  first_observed_ms: number;
  /**
   * Mean wait for the required requests of a page, if requests were independent.
   */
  model_ms: number;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  observed_ci_ms?: [number | null, number | null] | null;
  /**
   * Mean wait of the recorded pages: for a random choice of required requests, if not all are required.
   */
  observed_ms: number;
  /**
   * The error of the model: model/observed - 1. Above 0 it is pessimistic.
   */
  off: number;
  /**
   * The confidence interval of that, which includes the model's own sampling error.
   *
   * @minItems 2
   * @maxItems 2
   */
  off_ci: [number, number];
  /**
   * Page views in the recording.
   */
  pages: number;
  /**
   * The most requests of a page.
   */
  requests_max: number;
  /**
   * The median number of requests.
   */
  requests_median: number;
  /**
   * The fewest requests of a page.
   */
  requests_min: number;
  /**
   * Samples without a page.
   */
  unpaged: number;
}
/**
 * How confidence intervals were made.
 */
export interface Intervals {
  /**
   * The coverage of an interval: 0.95.
   */
  level: number;
  /**
   * The number of resamples.
   */
  resamples: number;
  /**
   * The seed of the random draws; the same seed gives the same intervals.
   */
  seed: number;
}
/**
 * A page: many requests, of which a share must finish before the page is usable.
 */
export interface Page {
  /**
   * max(1, round(requests x required)).
   */
  effective_requests: number;
  /**
   * Requests a page makes.
   */
  requests: number;
  /**
   * The share of them that is required, 0..=1.
   */
  required: number;
}
/**
 * Two sides against each other.
 */
export interface Pair {
  experienced: Verdict;
  /**
   * The one side.
   */
  first: string;
  request: Verdict;
  /**
   * The other.
   */
  second: string;
}
/**
 * Where the difference between the first two sides comes from at one percentile of the metric.
 */
export interface PhaseDifference {
  /**
   * The phase with most of the difference; absent for a tie.
   */
  decisive?: string | null;
  /**
   * In percent, as text: "99".
   */
  percentile: string;
  /**
   * The mean time in each phase of requests around this percentile; the last entry is the part that no phase
   * explains.
   */
  phases: PhaseShare[];
}
/**
 * One phase on both sides.
 */
export interface PhaseShare {
  /**
   * The first side.
   */
  first_ms: number;
  /**
   * "dns", "connect", "tls", "quic", "send", "wait", "load" or "rest".
   */
  phase: string;
  /**
   * The second side.
   */
  second_ms: number;
}
/**
 * One side of a comparison. If all of its requests failed, it has no figures of latency: `expected_request_ms`, percentiles and so on are
 * absent.
 */
export interface Side {
  /**
   * How many neighbours in time were resampled together, because they depend on each other. Absent if samples were
   * treated as independent.
   */
  block_length?: number | null;
  /**
   * Samples outside the requested period.
   */
  excluded: number;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  expected_experienced_ci_ms?: [number | null, number | null] | null;
  /**
   * The mean of the slowest of `effective_requests` independent requests.
   */
  expected_experienced_ms?: number;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  expected_request_ci_ms?: [number | null, number | null] | null;
  /**
   * The mean.
   */
  expected_request_ms?: number;
  /**
   * Their confidence intervals. Empty if there are none.
   */
  experienced_percentiles_ci_ms?: {
    /**
     * @minItems 2
     * @maxItems 2
     */
    [k: string]: [number | null, number | null];
  };
  /**
   * Percentiles of what a person on the page experiences.
   */
  experienced_percentiles_ms?: {
    [k: string]: number;
  };
  /**
   * The same for experienced percentiles. 0 if even the lowest is thin.
   */
  experienced_thin_above?: number;
  /**
   * Samples that failed and so have no latency.
   */
  failed: number;
  failures: Failures;
  /**
   * The format that it was read from.
   */
  format: string;
  /**
   * Why the measuring program may have shaped the numbers itself, as sentences. Empty if there is no reason.
   */
  invalid: string[];
  /**
   * The side's name.
   */
  label: string;
  /**
   * The slowest sample.
   */
  max_ms?: number;
  /**
   * The fastest sample.
   */
  min_ms?: number;
  /**
   * Samples used for the numbers.
   */
  n: number;
  /**
   * How much of its figures may be the emulator's own doing, at most. Absent if nothing was emulated, or if that is not
   * known.
   */
  own_error_ms?: OwnError | null;
  /**
   * The waits of its real page views. Absent unless samples carry page ids of at least two pages.
   */
  pages?: ObservedPages | null;
  /**
   * Samples read: the sum of the following four.
   */
  read: number;
  /**
   * The relative error of each value, as a share. Absent if values are exact.
   */
  relative_error?: number | null;
  /**
   * Their confidence intervals. Empty if there are none.
   */
  request_percentiles_ci_ms?: {
    /**
     * @minItems 2
     * @maxItems 2
     */
    [k: string]: [number | null, number | null];
  };
  /**
   * Percentiles of one request.
   */
  request_percentiles_ms?: {
    [k: string]: number;
  };
  /**
   * Moments at which the latency changed for a longer time.
   */
  shifts: Shift[];
  /**
   * Standard deviation of the samples: the root of the mean squared deviation, which is numpy's default.
   */
  standard_deviation_ms?: number;
  /**
   * Request percentiles at or above this one (in percent) have fewer than 10 samples beyond them.
   */
  thin_above?: number;
  /**
   * Samples without this metric.
   */
  without_metric: number;
}
/**
 * How many requests and page views of a side failed.
 */
export interface Failures {
  /**
   * Whether these are page views of the recording or of the model: 1 - (1 - request_share)^effective_requests.
   */
  basis?: Basis | null;
  /**
   * The share of page views that failed, 0..=1, because a request that the page requires failed.
   */
  page_share: number;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  page_share_ci?: [number, number] | null;
  /**
   * The share of its requests that failed, 0..=1.
   */
  request_share: number;
  /**
   * Its confidence interval (Clopper and Pearson).
   *
   * @minItems 2
   * @maxItems 2
   */
  request_share_ci?: [number, number] | null;
}
/**
 * How much of each figure of a side may be the emulator's own doing, at most: the truth lies between the figure and the
 * figure less this. In ms.
 */
export interface OwnError {
  /**
   * Of the mean of the slowest of `effective_requests`.
   */
  expected_experienced: number;
  /**
   * Of the mean.
   */
  expected_request: number;
  /**
   * Of percentiles of what a person on the page experiences.
   */
  experienced_percentiles: {
    [k: string]: number;
  };
  /**
   * Of the slowest sample.
   */
  max: number;
  /**
   * Of percentiles of one request.
   */
  request_percentiles: {
    [k: string]: number;
  };
}
/**
 * Page views as they were recorded.
 */
export interface ObservedPages {
  /**
   * How many consecutive views were resampled together, because they depend on each other. Absent if views were
   * treated as independent.
   */
  block_length?: number | null;
  /**
   * Its confidence interval.
   *
   * @minItems 2
   * @maxItems 2
   */
  expected_ci_ms?: [number | null, number | null] | null;
  /**
   * The mean wait of complete page views. Absent if there are none.
   */
  expected_ms?: number | null;
  /**
   * Their confidence intervals. Empty if there are none.
   */
  percentiles_ci_ms: {
    /**
     * @minItems 2
     * @maxItems 2
     */
    [k: string]: [number | null, number | null];
  };
  /**
   * Percentiles of the waits of complete page views. Empty if there are none.
   */
  percentiles_ms: {
    [k: string]: number;
  };
  /**
   * The most requests of a page.
   */
  requests_max: number;
  /**
   * The median number of requests.
   */
  requests_median: number;
  /**
   * The fewest requests of a page, failed ones included.
   */
  requests_min: number;
  /**
   * Percentiles at or above this one (in percent) have fewer than 10 views beyond them.
   */
  thin_above: number;
  /**
   * Page views.
   */
  views: number;
  /**
   * Complete page views: no request that the page requires failed. Only they have a wait.
   */
  whole: number;
}
/**
 * A moment at which the latency changed for a longer time.
 */
export interface Shift {
  /**
   * The median until the next shift.
   */
  after_ms: number;
  /**
   * Seconds since the recording's start.
   */
  at_s: number;
  /**
   * The median since the previous shift.
   */
  before_ms: number;
  /**
   * How sure it is that this is not chance, 0..=1.
   */
  sure: number;
}
/**
 * Which side is better, by several numbers.
 */
export interface Verdicts {
  /**
   * How sure that is, for how many people, and how many page views were complete. Absent if none of that is known.
   */
  certainty?: string | null;
  experienced?: Verdict;
  /**
   * Which side fails more. Absent if nothing failed.
   */
  failures?: FailureVerdict | null;
  /**
   * The answer: which side is faster, and by how much; that it is undecided; or that all requests of a side failed.
   */
  headline: string;
  median_request?: Verdict;
  /**
   * The verdict of the model of independent requests for the requested page, if real page views decide.
   */
  model?: Verdict | null;
  request?: Verdict;
  /**
   * Both together.
   */
  sentence: string;
}
/**
 * Which side fails more.
 */
export interface FailureVerdict {
  /**
   * Label of the side that fails more often than chance explains (Fisher's exact test at the level of the
   * intervals). Absent if there is none.
   */
  more?: string | null;
  /**
   * "page views" where all sides have page ids, else "requests".
   */
  of: string;
  /**
   * All shares as a sentence.
   */
  sentence: string;
  /**
   * How sure it is.
   */
  sure: number;
  /**
   * Label of the side that it is compared with.
   */
  than?: string | null;
}
/**
 * A named condition of the measurement.
 */
export interface Condition {
  /**
   * The name.
   */
  name: string;
  /**
   * The value.
   */
  value: string;
}
/**
 * The difference between a side and the first, percentile by percentile, as columns.
 */
export interface DifferenceCurve {
  /**
   * The interval at each share. Empty if there are none.
   */
  ci_ms: [number | null, number | null][];
  /**
   * The second side's latency minus the first's: if above 0, the second is slower.
   */
  difference_ms: number[];
  /**
   * The first side.
   */
  first: string;
  /**
   * The side that is compared with it.
   */
  second: string;
  /**
   * Shares of requests, 0..=1, ascending.
   */
  share: number[];
}
/**
 * Everything that a page of figures shows.
 */
export interface Figures {
  /**
   * The conditions of the measurement, in the order to show them.
   */
  conditions: Condition[];
  /**
   * The reasons and the warnings, each with its kind.
   */
  doubts: Caveat[];
  /**
   * The charts, in the order to show them. Adjacent charts of one kind are drawn as one: timelines share their
   * time axis and a cursor, scatters with the same axes share their limits.
   */
  panels: Panel[];
  /**
   * The reasons, as sentences. Empty if it is valid.
   */
  reasons: string[];
  /**
   * [`FIGURES_SCHEMA`].
   */
  schema: string;
  /**
   * What it shows, in one or two sentences.
   */
  summary: string;
  /**
   * The tables, shown below the charts.
   */
  tables: Table[];
  /**
   * The title of the page.
   */
  title: string;
  /**
   * False if this program was the bottleneck: then the numbers describe the tool and not what it measured.
   */
  valid: boolean;
  /**
   * What a reader must know before trusting the numbers, as sentences.
   */
  warnings: string[];
}
/**
 * Lines of one unit over time, and what happened in that time.
 */
export interface Timeline {
  /**
   * The lines; x is seconds since the start.
   */
  lines: Line[];
  /**
   * What was done when, drawn as bands.
   */
  phases: Phase[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
   */
  title: string;
  y: Axis;
}
/**
 * A line as columns.
 */
export interface Line {
  look: Look;
  /**
   * Its name, shown where it ends: there is room for twelve letters.
   */
  name: string;
  /**
   * Ascending.
   */
  x: number[];
  /**
   * The value at each; null where the line has a gap.
   */
  y: (number | null)[];
}
/**
 * Something that was done for a while.
 */
export interface Phase {
  /**
   * When it began, seconds since the start.
   */
  from_s: number;
  /**
   * Its name: "slow".
   */
  label: string;
  /**
   * When it ended, seconds since the start.
   */
  to_s: number;
}
/**
 * An axis.
 */
export interface Axis {
  scale: Scale;
  /**
   * Its title: "throughput".
   */
  title: string;
  /**
   * The unit of its values, shown after them: "Mbit/s". Empty for plain numbers.
   */
  unit: string;
}
/**
 * Single events as points, in classes of different colours.
 */
export interface Scatter {
  /**
   * The classes: even and odd ports, for instance.
   */
  classes: Points[];
  /**
   * Summaries of the points, drawn over them.
   */
  lines: Line[];
  /**
   * Events without a height, such as errors, marked at the upper edge.
   */
  marks: Marks[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
   */
  title: string;
  x: Axis;
  y: Axis;
}
/**
 * A class of points as columns.
 */
export interface Points {
  /**
   * How many points there are; more than are kept if many lie on one spot.
   */
  count: number;
  /**
   * Its name: short.
   */
  name: string;
  /**
   * The x of each kept point, ascending.
   */
  x: number[];
  /**
   * Its y.
   */
  y: number[];
}
/**
 * Events without a height.
 */
export interface Marks {
  /**
   * How many there are; more than are kept if many lie on one spot.
   */
  count: number;
  /**
   * Their name: "errors".
   */
  name: string;
  /**
   * The x of each kept mark, ascending.
   */
  x: number[];
}
/**
 * Small charts with the same axes: rows and columns for two settings, lines for a third.
 */
export interface Multiples {
  /**
   * The charts, row by row. Lines with the same name have the same colour in all of them.
   */
  charts: Small[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
   */
  title: string;
  x: Axis;
  y: Axis;
}
/**
 * One of [`Multiples`].
 */
export interface Small {
  /**
   * The setting of its column: "cubic". May be empty.
   */
  column: string;
  /**
   * Its lines: a few points each, which are drawn as dots too.
   */
  lines: Line[];
  /**
   * The setting of its row: "1 Gbit/s". May be empty.
   */
  row: string;
}
/**
 * A few amounts side by side.
 */
export interface Bars {
  axis: Axis;
  /**
   * The bars, from the top.
   */
  bars: Bar[];
  /**
   * The message, as a sentence.
   */
  sentence: string;
  /**
   * The title.
   */
  title: string;
}
/**
 * One of [`Bars`].
 */
export interface Bar {
  /**
   * Its name.
   */
  label: string;
  /**
   * Its amount, 0 or more.
   */
  value: number;
}
/**
 * A table of figures that are already formatted.
 */
export interface Table {
  /**
   * Its columns. The first one names the rows.
   */
  columns: Column[];
  /**
   * Notes for the reader, as sentences; may be empty.
   */
  note: string;
  /**
   * Its rows: a text for each column, "" if there is none.
   */
  rows: string[][];
  /**
   * The title.
   */
  title: string;
}
/**
 * A column of a [`Table`].
 */
export interface Column {
  align: Align;
  /**
   * Its title, with the unit of its figures: "round trip (ms)".
   */
  title: string;
  /**
   * Whether it is shown only if there is room for everything: on a page, and on a terminal with all details.
   */
  wide?: boolean;
}
/**
 * A fault on the timeline.
 */
export interface FaultMark {
  /**
   * When it began, seconds since measuring started.
   */
  at_s: number;
  /**
   * What happened, as a phrase: "london-newyork: loss 5%".
   */
  label: string;
  /**
   * When it ended; absent if it lasted to the end.
   */
  until_s?: number | null;
}
/**
 * How faithful a run was.
 */
export interface Fidelity {
  /**
   * Bytes that the model dropped: loss, queues and faults.
   */
  bytes_dropped: number;
  /**
   * Bytes that the model made twice.
   */
  bytes_duplicated: number;
  /**
   * Bytes of IP packets, as a wire would carry them, that hosts sent, and routers in answer.
   */
  bytes_in: number;
  /**
   * Bytes still on their way when the counters were read. in + duplicated = out + dropped + in flight.
   */
  bytes_in_flight: number;
  /**
   * Bytes that reached a host, or a router that answered.
   */
  bytes_out: number;
  /**
   * Packets delivered.
   */
  delivered: number;
  /**
   * The same with the kind of each.
   */
  doubts: Caveat[];
  held_up: HeldUp;
  /**
   * Share of packets that were later.
   */
  late_share?: number | null;
  /**
   * The same as a histogram: how many packets were at most so late and later than the bin before. Each bin is twice as
   * wide; the last one has all that is later.
   */
  lateness_histogram: Bin[];
  /**
   * How late a packet may be: this, in microseconds, or 1 % of its round trip if that is more. Absent: the world has no
   * such limit, and claims are judged at both ends of the emulator's error.
   */
  lateness_limit_us?: number | null;
  /**
   * How late packets were delivered, time to be read included, in microseconds: the "mean", and percentiles "50", "99", "99.9"
   * and "max". Empty when no packet was delivered.
   */
  lateness_us: {
    [k: string]: number;
  };
  /**
   * The flows whose packets were latest since the planet came up, the latest first: at most 10. Only in results of runs.
   */
  latest_flows?: LateFlow[];
  /**
   * Share of all cores that were busy during the run.
   */
  machine_cpu_share?: number | null;
  /**
   * Packets that the emulator itself lost, not the model.
   */
  own_drops: number;
  /**
   * Which limits were broken, as sentences.
   */
  reasons: string[];
  /**
   * How packets reach a receiver: "slice", "segment" or "gso".
   */
  receive: string;
  /**
   * Share of one core that the switch used.
   */
  switch_cpu_share: number;
  /**
   * Whether the emulator stayed within its limits. If not, the numbers describe the emulator.
   */
  valid: boolean;
}
/**
 * What held up packets and programs, by where it was seen.
 */
export interface HeldUp {
  /**
   * For how long some program waited for memory. Absent where the kernel does not count it (CONFIG_PSI).
   */
  memory_ms?: number | null;
  /**
   * For how long programs of hosts waited for a processor or were stopped by something else than a fault, all together.
   */
  programs_ms: number;
  /**
   * For how long a processor stood still, in milliseconds: the hypervisor had it, or interrupts. Seen by the same threads.
   */
  stalls_ms: number;
  /**
   * The time that the hypervisor took from the processors, all together. Absent where it cannot be read.
   */
  steal_ms?: number | null;
  /**
   * How long a packet takes from a program through a kernel to the switch, and from there to a program, both of which it
   * wakes, in microseconds: the percentiles "50", "95" and "99". Seen by a thread on each processor that is always due.
   * Empty before its first beat.
   */
  wake_us: {
    [k: string]: number;
  };
}
/**
 * Packets that were about as late.
 */
export interface Bin {
  /**
   * How many.
   */
  packets: number;
  /**
   * At most so late, in microseconds.
   */
  up_to_us: number;
}
/**
 * How late the packets of a flow were: those of one service from one host to another.
 */
export interface LateFlow {
  /**
   * The host that sent them.
   */
  from: string;
  /**
   * How late they were, in microseconds: at most so late the percentiles "50" and "99", to a factor of two, and "max".
   */
  lateness_us: {
    [k: string]: number;
  };
  /**
   * Packets delivered.
   */
  packets: number;
  /**
   * What for: "tcp/443" by the lower port, "udp" where there were too many ports to keep apart, "icmp".
   */
  service: string;
  /**
   * The host that got them.
   */
  to: string;
}
/**
 * The longest times that the hosts of a side went without an answer.
 */
export interface Outages {
  /**
   * The longest of each host, in the order of the file.
   */
  hosts: Outage[];
  /**
   * The longest of all.
   */
  max_s: number;
  /**
   * The median of its hosts' longest times without an answer.
   */
  p50_s: number;
  /**
   * The side.
   */
  side: string;
}
/**
 * The longest time that a host went without an answer.
 */
export interface Outage {
  /**
   * When it began, seconds since this host's measurement started.
   */
  at_s: number;
  /**
   * The host.
   */
  host: string;
  /**
   * How long it was.
   */
  longest_s: number;
}
/**
 * How much of a scenario was measured when it was interrupted.
 */
export interface Partial {
  /**
   * When it was interrupted, seconds since measuring started.
   */
  after_s: number;
  /**
   * How long the whole measurement would have taken, seconds, according to the file.
   */
  of_s: number;
}
/**
 * The pings of a side.
 */
export interface PingResult {
  /**
   * How far round trips differ from the world's, without queues and faults. Absent if nothing was answered.
   */
  error_ms?: RoundTripError | null;
  /**
   * Hosts that sent.
   */
  hosts: number;
  /**
   * How much of each of these the emulator accounts for, at most. Absent if that is not known.
   */
  own_error_ms?: RoundTripError | null;
  /**
   * Pairs of a sending host and a target.
   */
  pairs: number;
  /**
   * Pings that were answered in time, each counted once.
   */
  received: number;
  /**
   * Pings that were due.
   */
  sent: number;
  /**
   * The side.
   */
  side: string;
  /**
   * Pairs without any answer: the first few.
   */
  silent: Pair2[];
}
/**
 * The distribution of |measured - world's| round-trip times.
 */
export interface RoundTripError {
  /**
   * The maximum.
   */
  max: number;
  /**
   * The mean.
   */
  mean: number;
  /**
   * The median.
   */
  p50: number;
  /**
   * The 99th percentile. Absent if fewer than 10 answers lie beyond it.
   */
  p99?: number | null;
}
/**
 * A pair of hosts.
 */
export interface Pair2 {
  /**
   * The sender.
   */
  from: string;
  /**
   * The target.
   */
  to: string;
}
/**
 * What a speed test found: its two hosts, the figures, and all that its client printed.
 */
export interface SpeedResult {
  /**
   * How much longer a round trip is with the line full, in the worse direction, in ms. Absent if it was not measured in both.
   */
  added_ms?: number | null;
  /**
   * The client.
   */
  from: string;
  measured: Measured;
  outcome: Outcome;
  /**
   * The side that it belongs to.
   */
  side: string;
  /**
   * The server.
   */
  to: string;
}
/**
 * What a line was measured at. What was not is absent.
 */
export interface Measured {
  /**
   * Bits a second.
   */
  download_bps?: number | null;
  /**
   * Latency with the line idle, ms.
   */
  idle_ms?: number | null;
  /**
   * The mean difference of two samples of latency, ms.
   */
  jitter_ms?: number | null;
  /**
   * Latency while something is downloaded, ms.
   */
  loaded_down_ms?: number | null;
  /**
   * Latency while something is uploaded, ms.
   */
  loaded_up_ms?: number | null;
  /**
   * The share of packets that were lost, 0 to 1.
   */
  loss_ratio?: number | null;
  /**
   * Bits a second.
   */
  upload_bps?: number | null;
}
/**
 * A whole test.
 */
export interface Outcome {
  download: Bandwidth;
  /**
   * Whether somebody ended the test before its end.
   */
  interrupted: boolean;
  latency: Latency;
  /**
   * Datagrams that did not come back. Null if that was not measured.
   */
  loss: Loss | null;
  /**
   * What was not measured, and why.
   */
  missing: Missing[];
  /**
   * The plan's name.
   */
  plan: string;
  /**
   * "http/1.1", "h2" or "h3".
   */
  protocol: string;
  rpm: Responsiveness;
  /**
   * By which rubric.
   */
  rubric: string;
  /**
   * By this name the schema is found.
   */
  schema: string;
  scores: Scores;
  /**
   * The same in words.
   */
  sentence: string;
  /**
   * Where the server is.
   */
  server: string | null;
  /**
   * When it began, UTC.
   */
  started: string;
  /**
   * Requests at once in each transfer.
   */
  streams: number;
  /**
   * How long it took, seconds.
   */
  took_s: number;
  upload: Bandwidth;
  /**
   * What was tested against.
   */
  url: string;
}
/**
 * What a direction carries.
 */
export interface Bandwidth {
  /**
   * Bits a second: the 90th percentile of the requests of all sizes whose fastest took ten round trips or more; of all requests if none
   * took so long. Null if none has a rate.
   */
  bps_p90: number | null;
  /**
   * What kept it from being more: "network", "receiver window", "send buffer", "application" or "device", the one that received it. Null
   * if it was not measured: HTTP/3, or a server whose kernel does not tell.
   */
  limited_by: string | null;
  /**
   * By which share of the time each.
   */
  limits: Limits | null;
  /**
   * One for each size.
   */
  sets: Set[];
}
/**
 * Shares of the time in which bodies moved.
 */
export interface Limits {
  /**
   * The sender's program, or its processor, had no more.
   */
  application: number;
  /**
   * The receiver's device had not read what had arrived, or had no room for more because of that. Only where that was measured: of a
   * browser's downloads.
   */
  device: number;
  /**
   * The network let no more through.
   */
  network: number;
  /**
   * The receiver had room for no more.
   */
  receiver_window: number;
  /**
   * Of all segments, those that were sent again.
   */
  retransmitted: number;
  /**
   * The sender's kernel had room for no more.
   */
  send_buffer: number;
}
/**
 * The requests of one size.
 */
export interface Set {
  /**
   * The rate of each that took at least 10 ms, bits a second, in the order of the test.
   */
  bps: number[];
  /**
   * The size of each body.
   */
  bytes: number;
  /**
   * The most.
   */
  max: number | null;
  /**
   * The least of them. These five are null if no request has a rate.
   */
  min: number | null;
  /**
   * How many there were.
   */
  n: number;
  /**
   * A quarter is not above it.
   */
  p25: number | null;
  /**
   * The median.
   */
  p50: number | null;
  /**
   * Three quarters are not above it.
   */
  p75: number | null;
}
/**
 * Latency, as the test saw it.
 */
export interface Latency {
  /**
   * With the line idle, ms. Null if it was not measured.
   */
  idle_ms: Spread | null;
  /**
   * The mean difference of two idle samples that follow each other, ms. Null if there are no two.
   */
  jitter_ms: number | null;
  /**
   * All that is known about latency under load.
   */
  loaded: Loaded[];
  /**
   * While something is downloaded, ms: the median on a separate connection, as somebody else on the line has it; on the same one if
   * there was no other, as in a browser with HTTP/2. Null if no download took long enough.
   */
  loaded_down_ms: number | null;
  /**
   * The same while something is uploaded.
   */
  loaded_up_ms: number | null;
  /**
   * Each sample, in the order in which they were taken.
   */
  samples: Sample[];
}
/**
 * Least, quartiles and most of some figures, in their unit. Quantiles are of type 7, as numpy and R have them.
 */
export interface Spread {
  /**
   * The most.
   */
  max: number;
  /**
   * The least.
   */
  min: number;
  /**
   * How many there are.
   */
  n: number;
  /**
   * A quarter is not above it.
   */
  p25: number;
  /**
   * The median.
   */
  p50: number;
  /**
   * Three quarters are not above it.
   */
  p75: number;
}
/**
 * Latency with the line full in one direction, on one kind of connection.
 */
export interface Loaded {
  during: During;
  ms: Spread;
  on: On;
}
/**
 * One look at the latency.
 */
export interface Sample {
  /**
   * When, seconds since the test began.
   */
  at_s: number;
  during: During;
  /**
   * The time there and back, ms.
   */
  ms: number;
  on: On;
}
/**
 * Datagrams that the server was to send back.
 */
export interface Loss {
  /**
   * Nor above this.
   */
  high: number;
  /**
   * How many did not come back in time.
   */
  lost: number;
  /**
   * The share of this line is not below this with a confidence of 95 %, if losses are independent of each other.
   */
  low: number;
  /**
   * Their share.
   */
  ratio: number;
  /**
   * How many were sent.
   */
  sent: number;
}
/**
 * Something that a test did not measure.
 */
export interface Missing {
  /**
   * By its name in the result: "download", "loss", "rpm", ...
   */
  what: string;
  /**
   * Why, and what it would take.
   */
  why: string;
}
/**
 * How responsive a line is with something else on it.
 */
export interface Responsiveness {
  /**
   * How steady it was: the figure of each quarter of the probes is within 5 % of their mean ("high"), 20 % ("medium") or not ("low").
   */
  confidence: Confidence | null;
  /**
   * By which formula, over which probes, in which direction.
   */
  method: string;
  /**
   * Round trips a minute, in the direction where there are fewer. Null if it cannot be measured.
   */
  value: number | null;
}
/**
 * What a line is good for.
 */
export interface Scores {
  gaming: Score;
  rtc: Score;
  streaming: Score;
}
/**
 * Points for one use, and what they mean.
 */
export interface Score {
  class: Class;
  class_at_best: Class;
  /**
   * The most that a line can get.
   */
  max: number;
  /**
   * Inputs that were not measured, or not in both directions.
   */
  missing: Input[];
  /**
   * The points that are sure. If nothing is missing, the points.
   */
  points: number;
  /**
   * The points if all that is missing were as good as can be.
   */
  points_at_best: number;
  /**
   * Each input and its points.
   */
  why: Reason[];
}
/**
 * The points of an input.
 */
export interface Reason {
  /**
   * The figure, in the unit of the rubric: Mbit/s, ms or percent. Null if it was not measured; if only one direction was, the least.
   */
  figure: number | null;
  input: Input;
  /**
   * Its points; the least that they can be.
   */
  points: number;
  /**
   * The most that they can be.
   */
  points_at_best: number;
  /**
   * The same in words.
   */
  text: string;
}
/**
 * The result of a transfer: its two hosts and its sender's summary.
 */
export interface TransferResult {
  /**
   * Bytes that arrived as something else.
   */
  bytes_bad?: number | null;
  /**
   * Sent less received.
   */
  bytes_lost?: number | null;
  /**
   * Bytes that the server counted. Absent without a receipt, as are all figures of the server's.
   */
  bytes_received?: number | null;
  /**
   * Bytes handed to the sender's kernel.
   */
  bytes_sent: number;
  /**
   * Bytes that the server's kernel had not acknowledged when last looked at. Only without a receipt.
   */
  bytes_unacknowledged?: number | null;
  /**
   * The congestion control. Absent if the kernel did not say.
   */
  congestion?: string | null;
  /**
   * From the first arrival at the server that counts to the last.
   */
  duration_s?: number | null;
  /**
   * Whether MPTCP was asked for and became TCP.
   */
  fell_back: boolean;
  /**
   * The host that sent.
   */
  from: string;
  /**
   * Bits that count, received over that time. Absent for what arrived all at once.
   */
  goodput_mbps?: number | null;
  /**
   * What the server received in each interval since it was ready, in order and without gaps.
   */
  intervals: Interval[];
  /**
   * Memory that the sender's kernel held for what was written and not acknowledged. Absent if it did not say.
   */
  memory?: Memory | null;
  /**
   * What arrived before this, since the server was ready, does not count for `duration_s` and `goodput_mbps`. Absent if
   * all counts.
   */
  omitted_s?: number | null;
  /**
   * How much of the time that it took may be the emulator's doing, in ms. Absent if that is not known.
   */
  own_error_ms?: number | null;
  /**
   * "tcp" or "mptcp": what was asked for.
   */
  protocol: string;
  /**
   * Segments that the sender's kernel sent again. Absent if it did not say.
   */
  retransmits?: number | null;
  /**
   * The least round-trip time that the sender's kernel saw.
   */
  rtt_min_ms?: number | null;
  /**
   * Always "longhaul.transfer/1".
   */
  schema: string;
  /**
   * The server's address.
   */
  server: string;
  /**
   * The side that it belongs to.
   */
  side: string;
  /**
   * The longest time without any arrival between the first and the last. Absent for what arrived all at once.
   */
  stall?: Stall | null;
  /**
   * The most subflows at the same time. Absent without MPTCP.
   */
  subflows?: number | null;
  /**
   * The host that received.
   */
  to: string;
  /**
   * From the beginning of sending to the server's receipt.
   */
  took_s?: number | null;
  /**
   * Why there is no receipt, so that it is not known what arrived. Absent if there is one.
   */
  unfinished?: string | null;
}
/**
 * What arrived in one interval.
 */
export interface Interval {
  /**
   * Bytes that arrived in it.
   */
  bytes: number;
  /**
   * When it began, since the server was ready.
   */
  t_s: number;
}
/**
 * Memory of the sender's socket, looked at after writing, up to a hundred times a second.
 */
export interface Memory {
  /**
   * How often it was looked at.
   */
  looks: number;
  /**
   * The mean.
   */
  mean_bytes: number;
  /**
   * The most.
   */
  most_bytes: number;
}
/**
 * A time without any arrival.
 */
export interface Stall {
  /**
   * When it began, since the server was ready.
   */
  at_s: number;
  /**
   * How long it was.
   */
  longest_s: number;
}
