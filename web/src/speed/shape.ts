// Checks whether data from a link, which is untrusted, has the shape of a result. Lists and texts are
// limited.
import type { Outcome } from "./types";

type Is = (value: unknown) => boolean;

const number: Is = (value) => typeof value === "number" && Number.isFinite(value);
const amount: Is = (value) => number(value) && (value as number) >= 0 && (value as number) < 1e15;
const text: Is = (value) => typeof value === "string" && value.length <= 500;
const flag: Is = (value) => typeof value === "boolean";
const one =
  (...words: string[]): Is =>
  (value) =>
    words.includes(value as string);
const maybe =
  (is: Is): Is =>
  (value) =>
    value === null || value === undefined || is(value);
const list =
  (is: Is, most: number): Is =>
  (value) =>
    Array.isArray(value) && value.length <= most && value.every(is);
const object =
  (fields: Record<string, Is>): Is =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(fields).every(([name, is]) => is((value as Record<string, unknown>)[name]));

const spread = object({ n: amount, min: amount, p25: amount, p50: amount, p75: amount, max: amount });
const set = object({
  bytes: amount,
  n: amount,
  bps: list(amount, 1000),
  min: maybe(amount),
  p25: maybe(amount),
  p50: maybe(amount),
  p75: maybe(amount),
  max: maybe(amount),
});
const bandwidth = object({ bps_p90: maybe(amount), sets: list(set, 100), limited_by: maybe(text) });
const during = one("idle", "download", "upload");
const on = one("same", "separate");
const latency = object({
  idle_ms: maybe(spread),
  loaded_down_ms: maybe(amount),
  loaded_up_ms: maybe(amount),
  jitter_ms: maybe(amount),
  loaded: list(object({ during, on, ms: spread }), 10),
  samples: list(object({ at_s: amount, during, on, ms: amount }), 5000),
});
const level = one("bad", "poor", "average", "good", "great");
const score = object({
  points: number,
  points_at_best: number,
  max: number,
  class: level,
  class_at_best: level,
  why: list(object({ text }), 10),
});
const outcome = object({
  schema: one("longhaul.speed/1"),
  url: text,
  started: text,
  took_s: amount,
  plan: text,
  protocol: text,
  streams: amount,
  download: bandwidth,
  upload: bandwidth,
  latency,
  loss: maybe(object({ sent: amount, lost: amount, ratio: amount, low: maybe(amount), high: maybe(amount) })),
  scores: object({ streaming: score, gaming: score, rtc: score }),
  rubric: text,
  rpm: object({ value: maybe(amount), method: text }),
  sentence: (value) => typeof value === "string" && value.length <= 2000,
  missing: list(object({ what: text, why: text }), 20),
  interrupted: flag,
});

export const isOutcome = (value: unknown): value is Outcome => outcome(value);
