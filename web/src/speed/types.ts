// Generated from docs/schema/speed.json by `npm run generate`: the result of a speed test as Rust writes it. Do not edit.

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
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.speed/1";
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
