// Generated from web/schema/operator.json by `npm run generate`: all results that a speed server keeps as Rust writes it. Do not edit.

/**
 * All stored results, or the filtered ones.
 */
export interface Overview {
  all: Group;
  /**
   * Groups by network, the largest first; at most 100.
   */
  by_network: Group[];
  /**
   * Groups by time (UTC), the latest last; at most the last 100.
   */
  by_time: Group[];
  /**
   * Retention time of results, s.
   */
  keep_for_s: number;
  /**
   * Number of stored results, without the filter.
   */
  kept: number;
  /**
   * The last 50 results, the latest first.
   */
  latest: Row[];
  /**
   * Number of networks.
   */
  networks: number;
  /**
   * The period of `by_time`: "hour", "day" or "month".
   */
  period: string;
  /**
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.speed.kept/1";
}
/**
 * A group of results.
 */
export interface Group {
  figures: Figures;
  /**
   * Number of results.
   */
  n: number;
  /**
   * Its name: a network, "2026-05-04", ...
   */
  name: string;
}
/**
 * Distributions of figures. Null if no result contains the figure.
 */
export interface Figures {
  /**
   * Bits per second.
   */
  download_bps: Spread | null;
  /**
   * Idle latency, ms.
   */
  idle_ms: Spread | null;
  /**
   * Jitter, ms.
   */
  jitter_ms: Spread | null;
  /**
   * Latency under load, in the worse direction of each result, ms.
   */
  loaded_ms: Spread | null;
  /**
   * Share of lost datagrams.
   */
  loss_ratio: Spread | null;
  /**
   * Bits per second.
   */
  upload_bps: Spread | null;
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
 * The summary of a stored result, for the operator's list.
 */
export interface Row {
  /**
   * Identifies the result in links.
   */
  id: string;
  /**
   * Time of storage, Unix time in seconds, on the server's clock.
   */
  kept_s: number;
  measured: Measured;
  /**
   * The client's network: 24 bits of IPv4, 48 of IPv6.
   */
  network: string;
  /**
   * The plan's name.
   */
  plan: string;
  /**
   * "http/1.1", "h2" or "h3".
   */
  protocol: string;
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
