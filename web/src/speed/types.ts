// Generated from docs/schema/speed.json by `npm run generate`: the result of a speed test as Rust writes it. Do not edit.

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
   * By this name the schema is found in docs/schema.
   */
  schema: "longhaul.speed/1";
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
