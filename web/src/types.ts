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
 * The load of the line during a sample.
 */
export type During = "idle" | "download" | "upload";
/**
 * The connection of a sample.
 */
export type On = "same" | "separate";
/**
 * The reliability of a figure.
 */
export type Confidence = "low" | "medium" | "high";
/**
 * The suitability of a line for an application.
 */
export type Class = "bad" | "poor" | "average" | "good" | "great";
/**
 * A scored value.
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
 * A claim and its verdict.
 */
export interface Judgement {
  /**
   * The claim as written by its author.
   */
  claim: string;
  /**
   * Whether the verdict is the same at both ends of the emulator's own error. If not, this machine cannot
   * decide the claim.
   */
  decided: boolean;
  /**
   * The deciding figures, as a sentence.
   */
  figure: string;
  /**
   * Whether the claim holds, for the measured values and at both ends of the emulator's own error.
   */
  holds: boolean;
}
/**
 * The JSON output of a command, and the numbers in it that claims are about.
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
   * The bound of the emulator's error in the times of the output, in ms, over the duration of the command.
   * Absent if unknown.
   */
  own_error_ms?: number | null;
  /**
   * The measured side.
   */
  side: string;
  /**
   * The whole output.
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
   * Whether it invalidates the numbers, which then describe the tool and not the measured system.
   * Otherwise it weakens them.
   */
  invalid: boolean;
  /**
   * A stable identifier of the kind of doubt, such as "late_packets". It does not change between versions.
   */
  kind: string;
  /**
   * The description, as a sentence.
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
 * The fidelity of an emulated run.
 */
export interface Fidelity {
  /**
   * Bytes that the model dropped: loss, queues and faults.
   */
  bytes_dropped: number;
  /**
   * Bytes that the model duplicated.
   */
  bytes_duplicated: number;
  /**
   * Bytes of IP packets, as on a wire, that hosts sent and that routers sent in reply.
   */
  bytes_in: number;
  /**
   * Bytes in flight when the counters were read. in + duplicated = out + dropped + in flight.
   */
  bytes_in_flight: number;
  /**
   * Bytes that reached a host, or a router that replied.
   */
  bytes_out: number;
  /**
   * Packets delivered.
   */
  delivered: number;
  /**
   * The violated limits, with the kind of each.
   */
  doubts: Caveat[];
  held_up: HeldUp;
  /**
   * Share of packets that exceeded the limit.
   */
  late_share?: number | null;
  /**
   * The lateness as a histogram. Each bin is twice as wide as the one before; the last bin is unbounded.
   */
  lateness_histogram: Bin[];
  /**
   * The permitted lateness in microseconds, or 1 % of the round trip if that is more. Absent if the world
   * has no such limit; claims are then judged at both ends of the emulator's error.
   */
  lateness_limit_us?: number | null;
  /**
   * Lateness of delivered packets in microseconds, including the time until they are read: the "mean", the
   * percentiles "50", "99", "99.9" and the "max". Empty if no packet was delivered.
   */
  lateness_us: {
    [k: string]: number;
  };
  /**
   * The flows with the latest packets since the planet started, the latest first: at most 10. Only in
   * results of runs.
   */
  latest_flows?: LateFlow[];
  /**
   * Share of all cores that were busy during the run.
   */
  machine_cpu_share?: number | null;
  /**
   * Packets that were lost by the emulator itself and not by the model.
   */
  own_drops: number;
  /**
   * The violated limits, as sentences.
   */
  reasons: string[];
  /**
   * The receive mode: "slice", "segment" or "gso".
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
 * Delays of packets and programs, by the place where they were measured.
 */
export interface HeldUp {
  /**
   * Time during which at least one program waited for memory. Absent if the kernel does not count it
   * (CONFIG_PSI).
   */
  memory_ms?: number | null;
  /**
   * Total time during which programs of hosts waited for a processor or were stopped by something other
   * than a fault.
   */
  programs_ms: number;
  /**
   * Total time in milliseconds during which a processor was stalled by the hypervisor or by interrupts.
   * Measured by the same threads.
   */
  stalls_ms: number;
  /**
   * Total steal time of the processors. Absent if it cannot be read.
   */
  steal_ms?: number | null;
  /**
   * Time from a program through a kernel to the switch, and from there to a program, including both
   * wake-ups, in microseconds: the percentiles "50", "95" and "99". Measured by a periodic thread on each
   * processor. Empty before the first heartbeat.
   */
  wake_us: {
    [k: string]: number;
  };
}
/**
 * A bin of the lateness histogram.
 */
export interface Bin {
  /**
   * Number of packets.
   */
  packets: number;
  /**
   * Upper bound of the lateness, in microseconds.
   */
  up_to_us: number;
}
/**
 * Lateness of a flow: the packets of one service from one host to another.
 */
export interface LateFlow {
  /**
   * The sending host.
   */
  from: string;
  /**
   * Lateness in microseconds: the percentiles "50" and "99", rounded up by at most a factor of two, and
   * the "max".
   */
  lateness_us: {
    [k: string]: number;
  };
  /**
   * Packets delivered.
   */
  packets: number;
  /**
   * The service: "tcp/443" by the lower port, "udp" if there were too many ports to track separately,
   * "icmp".
   */
  service: string;
  /**
   * The receiving host.
   */
  to: string;
}
/**
 * The longest outages of the hosts of a side.
 */
export interface Outages {
  /**
   * The longest outage of each host, in the order of the file.
   */
  hosts: Outage[];
  /**
   * The maximum over the hosts.
   */
  max_s: number;
  /**
   * The median over the hosts.
   */
  p50_s: number;
  /**
   * The side.
   */
  side: string;
}
/**
 * The longest time that a host received no response.
 */
export interface Outage {
  /**
   * Start, in seconds since this host's measurement started.
   */
  at_s: number;
  /**
   * The host.
   */
  host: string;
  /**
   * Length in seconds.
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
   * Difference between round trips and the world's, without queues and faults. Absent if there was no
   * reply.
   */
  error_ms?: RoundTripError | null;
  /**
   * Sending hosts.
   */
  hosts: number;
  /**
   * The upper bound of the emulator's part of each of these. Absent if unknown.
   */
  own_error_ms?: RoundTripError | null;
  /**
   * Pairs of a sending host and a target.
   */
  pairs: number;
  /**
   * Pings with a reply in time; duplicate replies are not counted.
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
   * The first few pairs without any reply.
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
   * The 99th percentile. Absent with fewer than 10 replies beyond it.
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
 * The result of a speed test: its two hosts, the figures, and the output of its client.
 */
export interface SpeedResult {
  /**
   * Added round-trip time under load, in the worse direction, in ms. Absent if one direction was not
   * measured.
   */
  added_ms?: number | null;
  /**
   * The client.
   */
  from: string;
  measured: Measured;
  outcome: Outcome;
  /**
   * The side.
   */
  side: string;
  /**
   * The server.
   */
  to: string;
}
/**
 * Measured values of a line. Values that were not measured are absent.
 */
export interface Measured {
  /**
   * Bits per second.
   */
  download_bps?: number | null;
  /**
   * Idle latency, ms.
   */
  idle_ms?: number | null;
  /**
   * Mean difference of consecutive latency samples, ms.
   */
  jitter_ms?: number | null;
  /**
   * Latency during downloads, ms.
   */
  loaded_down_ms?: number | null;
  /**
   * Latency during uploads, ms.
   */
  loaded_up_ms?: number | null;
  /**
   * Share of lost packets, 0 to 1.
   */
  loss_ratio?: number | null;
  /**
   * Bits per second.
   */
  upload_bps?: number | null;
}
/**
 * The result of a test.
 */
export interface Outcome {
  download: Bandwidth;
  /**
   * Whether the user stopped the test early.
   */
  interrupted: boolean;
  latency: Latency;
  /**
   * Datagram loss. Null if not measured.
   */
  loss: Loss | null;
  /**
   * Values that were not measured, with reasons.
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
   * The version of the rubric.
   */
  rubric: string;
  /**
   * Identifies the schema.
   */
  schema: string;
  scores: Scores;
  /**
   * The suitability as text.
   */
  sentence: string;
  /**
   * Address of the server.
   */
  server: string | null;
  /**
   * Start of the test, UTC.
   */
  started: string;
  /**
   * Concurrent requests in each transfer.
   */
  streams: number;
  /**
   * Duration, s.
   */
  took_s: number;
  upload: Bandwidth;
  /**
   * The server's URL.
   */
  url: string;
}
/**
 * The bandwidth of a direction.
 */
export interface Bandwidth {
  /**
   * Bits per second: the 90th percentile of the requests of all sizes whose fastest request took at
   * least ten round trips, or of all requests if no request did. Null if no request has a rate.
   */
  bps_p90: number | null;
  /**
   * The main limit: "network", "receiver window", "send buffer", "application" or "device" (the
   * receiver's). Null if not measured: with HTTP/3, or without kernel statistics on the server.
   */
  limited_by: string | null;
  /**
   * The share of time for each limit.
   */
  limits: Limits | null;
  /**
   * Statistics of each size.
   */
  sets: Set[];
}
/**
 * Shares of the time in which bodies were transferred.
 */
export interface Limits {
  /**
   * Limited by the sending program or its CPU.
   */
  application: number;
  /**
   * Limited by the receiving device, which did not read received data in time. Measured only for
   * downloads of a browser.
   */
  device: number;
  /**
   * Limited by the network.
   */
  network: number;
  /**
   * Limited by the receiver's window.
   */
  receiver_window: number;
  /**
   * Share of retransmitted segments.
   */
  retransmitted: number;
  /**
   * Limited by the send buffer.
   */
  send_buffer: number;
}
/**
 * Statistics of the requests of one size.
 */
export interface Set {
  /**
   * The rate of each request of at least 10 ms, bits per second, in the order of the test.
   */
  bps: number[];
  /**
   * The size of each body.
   */
  bytes: number;
  /**
   * Maximum.
   */
  max: number | null;
  /**
   * Minimum rate. This and the next four values are null if no request has a rate.
   */
  min: number | null;
  /**
   * Number of requests.
   */
  n: number;
  /**
   * First quartile.
   */
  p25: number | null;
  /**
   * The median.
   */
  p50: number | null;
  /**
   * Third quartile.
   */
  p75: number | null;
}
/**
 * The latency results of a test.
 */
export interface Latency {
  /**
   * Idle latency, ms. Null if not measured.
   */
  idle_ms: Spread | null;
  /**
   * Mean difference of consecutive idle samples, ms. Null with fewer than two samples.
   */
  jitter_ms: number | null;
  /**
   * All statistics of latency under load.
   */
  loaded: Loaded[];
  /**
   * Latency during downloads, ms: the median on a separate connection, as other users of the line
   * observe it, or on the same connection if there is no other, as in a browser with HTTP/2. Null if no
   * download took long enough.
   */
  loaded_down_ms: number | null;
  /**
   * Latency during uploads, ms.
   */
  loaded_up_ms: number | null;
  /**
   * All samples, in chronological order.
   */
  samples: Sample[];
}
/**
 * Minimum, quartiles and maximum of some figures, in their unit. Quantiles are of type 7, as in numpy and
 * R.
 */
export interface Spread {
  /**
   * Maximum.
   */
  max: number;
  /**
   * Minimum.
   */
  min: number;
  /**
   * Number of figures.
   */
  n: number;
  /**
   * First quartile.
   */
  p25: number;
  /**
   * Median.
   */
  p50: number;
  /**
   * Third quartile.
   */
  p75: number;
}
/**
 * Latency with the line loaded in one direction, on one kind of connection.
 */
export interface Loaded {
  during: During;
  ms: Spread;
  on: On;
}
/**
 * A latency sample.
 */
export interface Sample {
  /**
   * Time since the start of the test, s.
   */
  at_s: number;
  during: During;
  /**
   * Round-trip time, ms.
   */
  ms: number;
  on: On;
}
/**
 * Loss of datagrams that the server echoes.
 */
export interface Loss {
  /**
   * Upper bound of it.
   */
  high: number;
  /**
   * Number of datagrams that did not return in time.
   */
  lost: number;
  /**
   * Lower bound of the 95 % confidence interval of the line's loss, if losses are independent.
   */
  low: number;
  /**
   * Share of lost datagrams.
   */
  ratio: number;
  /**
   * Number of datagrams sent.
   */
  sent: number;
}
/**
 * A value that was not measured.
 */
export interface Missing {
  /**
   * Its name in the result: "download", "loss", "rpm", ...
   */
  what: string;
  /**
   * The reason, and how to measure it.
   */
  why: string;
}
/**
 * The responsiveness of a line under load.
 */
export interface Responsiveness {
  /**
   * Stability of the figure: the figure of each quarter of the probes is within 5 % of their mean
   * ("high"), 20 % ("medium"), or neither ("low").
   */
  confidence: Confidence | null;
  /**
   * The formula, the probes, and the direction.
   */
  method: string;
  /**
   * Round trips per minute in the worse direction. Null if it cannot be measured.
   */
  value: number | null;
}
/**
 * The suitability of a line for each application.
 */
export interface Scores {
  gaming: Score;
  rtc: Score;
  streaming: Score;
}
/**
 * Points for one application, and their class.
 */
export interface Score {
  class: Class;
  class_at_best: Class;
  /**
   * The maximum of any line.
   */
  max: number;
  /**
   * Inputs that were not measured, or not in both directions.
   */
  missing: Input[];
  /**
   * The guaranteed points; the exact points if nothing is missing.
   */
  points: number;
  /**
   * The points if all missing inputs were as good as possible.
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
   * The figure in the unit of the rubric: Mbit/s, ms or percent. Null if not measured; if only one
   * direction was measured, the lower bound.
   */
  figure: number | null;
  input: Input;
  /**
   * The points; their lower bound if the figure is missing.
   */
  points: number;
  /**
   * The upper bound of the points.
   */
  points_at_best: number;
  /**
   * The reason as text.
   */
  text: string;
}
/**
 * The result of a transfer: its two hosts and its sender's summary.
 */
export interface TransferResult {
  /**
   * Received bytes with a wrong value.
   */
  bytes_bad?: number | null;
  /**
   * Sent bytes minus received bytes.
   */
  bytes_lost?: number | null;
  /**
   * Bytes received by the server. Absent without a receipt, as all values of the server.
   */
  bytes_received?: number | null;
  /**
   * Bytes accepted by the sender's kernel.
   */
  bytes_sent: number;
  /**
   * Bytes not acknowledged by the server's kernel at the last sample. Only without a receipt.
   */
  bytes_unacknowledged?: number | null;
  /**
   * The congestion control algorithm. Absent if the kernel did not report it.
   */
  congestion?: string | null;
  /**
   * Time from the first to the last counted arrival at the server.
   */
  duration_s?: number | null;
  /**
   * Whether MPTCP was requested and fell back to TCP.
   */
  fell_back: boolean;
  /**
   * The sending host.
   */
  from: string;
  /**
   * Received bits that count, divided by that time. Absent if all bytes arrived at the same time.
   */
  goodput_mbps?: number | null;
  /**
   * Bytes received in each interval since the server was ready, in order and without gaps.
   */
  intervals: Interval[];
  /**
   * Memory of the sender's kernel for unacknowledged data. Absent if it did not report it.
   */
  memory?: Memory | null;
  /**
   * Bytes that arrived within this time after the server became ready do not count for `duration_s` and
   * `goodput_mbps`. Absent if all bytes count.
   */
  omitted_s?: number | null;
  /**
   * The bound of the emulator's error in the duration, in ms. Absent if unknown.
   */
  own_error_ms?: number | null;
  /**
   * The requested protocol, "tcp" or "mptcp".
   */
  protocol: string;
  /**
   * Segments retransmitted by the sender's kernel. Absent if it did not report them.
   */
  retransmits?: number | null;
  /**
   * Minimum round-trip time measured by the sender's kernel.
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
   * The side.
   */
  side: string;
  /**
   * The longest time between two arrivals. Absent if all bytes arrived at the same time.
   */
  stall?: Stall | null;
  /**
   * Maximum number of concurrent subflows. Absent without MPTCP.
   */
  subflows?: number | null;
  /**
   * The receiving host.
   */
  to: string;
  /**
   * Time from the start of sending to the server's receipt.
   */
  took_s?: number | null;
  /**
   * The reason why there is no receipt; the received bytes are then unknown. Absent with a receipt.
   */
  unfinished?: string | null;
}
/**
 * The bytes of one interval.
 */
export interface Interval {
  /**
   * Bytes that arrived in this interval.
   */
  bytes: number;
  /**
   * Start, since the server was ready.
   */
  t_s: number;
}
/**
 * Memory of the sender's socket, sampled after writes, up to a hundred times per second.
 */
export interface Memory {
  /**
   * Number of samples.
   */
  looks: number;
  /**
   * The mean.
   */
  mean_bytes: number;
  /**
   * The maximum.
   */
  most_bytes: number;
}
/**
 * A time without arrivals.
 */
export interface Stall {
  /**
   * Start, since the server was ready.
   */
  at_s: number;
  /**
   * Duration.
   */
  longest_s: number;
}
