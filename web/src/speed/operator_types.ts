// Generated from web/schema/operator.json by `npm run generate`: all results that a speed server keeps as Rust writes it. Do not edit.

/**
 * All results that are kept, or those that are wanted.
 */
export interface Overview {
  all: Group;
  /**
   * The same by network, that with the most results first; the first 100 of them.
   */
  by_network: Group[];
  /**
   * The same by time, UTC, the latest last; the last 100 of them.
   */
  by_time: Group[];
  /**
   * For how long results are kept, s.
   */
  keep_for_s: number;
  /**
   * Results that are kept, wanted or not.
   */
  kept: number;
  /**
   * The last 50, the latest first.
   */
  latest: Row[];
  /**
   * How many networks there are.
   */
  networks: number;
  /**
   * What the groups of `by_time` are: "hour", "day" or "month".
   */
  period: string;
  /**
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.speed.kept/1";
}
/**
 * Results that have something in common.
 */
export interface Group {
  figures: Figures;
  /**
   * How many there are.
   */
  n: number;
  /**
   * What: a network, "2026-05-04", ...
   */
  name: string;
}
/**
 * Distributions of figures. Null where no result has that figure.
 */
export interface Figures {
  /**
   * Bits a second.
   */
  download_bps: Spread | null;
  /**
   * Latency with the line idle, ms.
   */
  idle_ms: Spread | null;
  /**
   * Jitter, ms.
   */
  jitter_ms: Spread | null;
  /**
   * Latency with the line full, in the worse direction of each, ms.
   */
  loaded_ms: Spread | null;
  /**
   * Share of lost datagrams.
   */
  loss_ratio: Spread | null;
  /**
   * Bits a second.
   */
  upload_bps: Spread | null;
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
 * A result in short, as an operator has it in a list.
 */
export interface Row {
  /**
   * Names it in links.
   */
  id: string;
  /**
   * When it was left here, seconds since 1970, UTC, by the server's clock.
   */
  kept_s: number;
  measured: Measured;
  /**
   * The network that it was left from: 24 bits of IPv4, 48 of IPv6.
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
