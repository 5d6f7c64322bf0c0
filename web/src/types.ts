// Generated from schema/report.json by `npm run generate`: the report as Rust writes it. Do not edit.

/**
 * All that the report page shows, and without the charts all that `result.json` holds.
 */
export interface Report {
  /**
   * Chart data, one entry a side, in the order of `comparison.sides`. Empty in `result.json`.
   */
  charts: SideCharts[];
  /**
   * Scenario claims and whether they held. Empty for a plain comparison.
   */
  claims: Judgement[];
  comparison: Comparison;
  /**
   * Under which conditions all this was measured, in the order to show them.
   */
  conditions: Condition[];
  /**
   * Faults that a scenario put on the timeline.
   */
  faults: FaultMark[];
  /**
   * The emulator's proof of innocence. Absent when nothing was emulated.
   */
  fidelity?: Fidelity | null;
  /**
   * The metric that every number below is about: "ttfb", "latency", ...
   */
  metric: string;
  /**
   * [`REPORT_SCHEMA`].
   */
  schema: string;
  /**
   * When the measurement started, RFC 3339, if known.
   */
  start?: string | null;
  /**
   * One or two sentences on what was asked, if a scenario says so.
   */
  summary?: string | null;
  /**
   * What the page is called.
   */
  title: string;
  /**
   * Whether nothing of ours was the bottleneck. If not, the numbers describe the tool and not what it measured.
   */
  valid: boolean;
  /**
   * What a reader must know before trusting the numbers, as sentences.
   */
  warnings: string[];
}
/**
 * What the charts draw of one side.
 */
export interface SideCharts {
  /**
   * The experienced numbers for effective requests 1, 2, 3, ...: entry i is for i + 1.
   */
  experienced: Experienced[];
  /**
   * The side's label.
   */
  label: string;
  /**
   * Percentiles over time. Absent when samples carry no time.
   */
  over_time?: OverTime | null;
  quantiles: Quantiles;
}
/**
 * What a person experiences for one number of effective requests.
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
 * Percentiles over time as columns; one entry an interval that has samples.
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
   * The latency at that share.
   */
  latency_ms: number[];
  /**
   * Shares of samples, 0..=1.
   */
  share: number[];
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
   * The figures that decide it, as a sentence.
   */
  figure: string;
  /**
   * Whether it held.
   */
  holds: boolean;
}
/**
 * Two (or more) recordings as people experience them: the object that `compare --json` prints.
 */
export interface Comparison {
  /**
   * Request percentiles (in percent) at which the faster of the first two sides changes.
   */
  crossovers: Crossover[];
  /**
   * How quantiles were computed, as a sentence.
   */
  method: string;
  /**
   * The metric compared.
   */
  metric: string;
  page: Page;
  /**
   * For a share of visitors in percent ("50", "99"): the request percentile, in percent, that decides for them.
   */
  percentile_to_watch: {
    [k: string]: number;
  };
  /**
   * "longhaul.compare/1".
   */
  schema: string;
  /**
   * One entry an input, in the order given.
   */
  sides: Side[];
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
 * A percentile at which the faster side changes.
 */
export interface Crossover {
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
 * A page: many requests, of which a share must finish before the person is served.
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
   * Share of them that is required, 0..=1.
   */
  required: number;
}
/**
 * One side of a comparison.
 */
export interface Side {
  /**
   * The mean of the slowest of `effective_requests` independent requests.
   */
  expected_experienced_ms: number;
  /**
   * The mean.
   */
  expected_request_ms: number;
  /**
   * Percentiles of what a person on the page experiences.
   */
  experienced_percentiles_ms: {
    [k: string]: number;
  };
  /**
   * The same for experienced percentiles. 0 when even the lowest is thin.
   */
  experienced_thin_above: number;
  /**
   * Samples that failed and so have no latency.
   */
  failed: number;
  /**
   * Why whatever measured this side may have shaped the numbers itself, as sentences. Empty when all is well.
   */
  invalid: string[];
  /**
   * What the side is called.
   */
  label: string;
  /**
   * The slowest sample.
   */
  max_ms: number;
  /**
   * The fastest sample.
   */
  min_ms: number;
  /**
   * Samples behind the numbers.
   */
  n: number;
  /**
   * Percentiles of one request.
   */
  request_percentiles_ms: {
    [k: string]: number;
  };
  /**
   * Standard deviation of the samples.
   */
  standard_deviation_ms: number;
  /**
   * Request percentiles at or above this one (in percent) have fewer than 10 samples beyond them.
   */
  thin_above: number;
  /**
   * Samples that carry no such metric.
   */
  without_metric: number;
}
/**
 * Who is better at what.
 */
export interface Verdicts {
  experienced: Verdict;
  median_request: Verdict;
  request: Verdict;
  /**
   * The verdicts as one sentence.
   */
  sentence: string;
}
/**
 * The best side by one number.
 */
export interface Verdict {
  /**
   * Label of the better side; absent for a tie.
   */
  better?: string | null;
  /**
   * By how much it beats the next best.
   */
  difference_ms: number;
}
/**
 * A named condition of the measurement.
 */
export interface Condition {
  /**
   * What.
   */
  name: string;
  /**
   * Its value.
   */
  value: string;
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
   * Bytes that the model dropped: loss and full queues.
   */
  bytes_dropped: number;
  /**
   * Bytes on the wire that entered the switch.
   */
  bytes_in: number;
  /**
   * Bytes still on their way when the counters were read. in = out + dropped + in flight.
   */
  bytes_in_flight: number;
  /**
   * Bytes on the wire that left it.
   */
  bytes_out: number;
  /**
   * Packets delivered.
   */
  delivered: number;
  /**
   * Share of packets that were later.
   */
  late_share: number;
  /**
   * How late a packet may be: this, in microseconds, or 1 % of its round trip if that is more.
   */
  lateness_limit_us: number;
  /**
   * How late packets were delivered, time to be read included, in microseconds, at percentiles "50", "99", "99.9" and "max". Empty when no
   * packet was delivered.
   */
  lateness_us: {
    [k: string]: number;
  };
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
