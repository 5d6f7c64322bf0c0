// All requests of the page to its server. A failure is an error with a sentence for the user.
import type { Overview } from "./operator_types";
import type { Outcome, Sample } from "./types";

export type Step =
  | { kind: "warm_up"; bytes: number }
  | { kind: "latency"; samples: number }
  | { kind: Direction; bytes: number; count: number }
  | { kind: "loss"; messages: number };

export type Direction = "download" | "upload";

/** A plan in the format of the server (`crates/measure/speedtest/src/serve/browser.rs`). */
export interface Plan {
  name: string;
  stop_after_ms: number;
  /** If the fastest request of a set takes fewer round trips, its rate does not predict that of larger
   * bodies. */
  stop_after_round_trips: number;
  longest_set_ms: number;
  probe_every_ms: number;
  loaded_from_ms: number;
  /** Sets of larger bodies that may follow the steps. */
  larger: Larger | null;
  steps: Step[];
}

/** Each set's bodies are `by` times as large as those of the previous set, until one would take longer than
 * `within_ms`. */
export interface Larger {
  by: number;
  up_to: number;
  count: number;
  within_ms: number;
}

/** The server's response at the start of a test (`crates/measure/speedtest/src/wire.rs`). */
export interface Greeting {
  /** The name of the test, sent with its requests. */
  test: string;
  /** The maximum size of a body in bytes. */
  largest: number;
}

/** A body, as measured by its receiver. */
export interface Body {
  bytes: number;
  behind_first: number;
  over_ms: number;
  took_ms: number;
  /** For a download: its number in the test, by which the server finds the times of its acknowledgements. */
  number?: number;
}

/** All measurements of the page, from which the server computes the result. */
export interface Seen {
  plan: string;
  protocol: string;
  took_ms: number;
  interrupted: boolean;
  download: Body[];
  upload: Body[];
  latencies: Sample[];
  /** Null if it was not measured. */
  loss: Loss | null;
}

/** Datagrams sent and echoed, or the reason why loss is unknown. */
export type Loss = { sent: number; came_back: number } | { why: string };

/** A latency sample. */
export interface Look {
  ms: number;
  /** "http/1.1", "h2" or "h3"; empty if the browser does not report it. */
  protocol: string;
  /** Bytes of this test's uploads that the server had received. */
  received: number;
}

/** The reason why there is no result, as a sentence. */
export class Refusal extends Error {}

/** Arrival times of an upload (`crates/measure/speedtest/src/wire.rs`). */
interface Received {
  bytes: number;
  first_bytes: number;
  first_ns: number;
  last_ns: number;
}

type Moved = (bytes: number) => void;

export const plan = (name: string): Promise<Plan> => json<Plan>(`/__plan?plan=${name}`);

export const begin = (signal: AbortSignal): Promise<Greeting> => json<Greeting>("/__test", { method: "POST", signal });

export const conclude = (seen: Seen, test: string): Promise<Outcome> =>
  json<Outcome>(`/__result?test=${test}`, { method: "POST", body: JSON.stringify(seen) });

/** Exchanges the WebRTC offer for the answer of the server. */
export const negotiate = (offer: RTCSessionDescription, test: string, signal: AbortSignal): Promise<RTCSessionDescriptionInit> =>
  json<RTCSessionDescriptionInit>(`/__channel?test=${test}`, { method: "POST", body: JSON.stringify(offer), signal });

/** Whether and how the server keeps results (`crates/measure/speedtest/src/wire.rs`). */
export interface Offer {
  /** Retention time; null if it keeps no results. */
  keep_for_s: number | null;
  /** The part of the visitor's address that it keeps. */
  network: string | null;
}

export const offer = (): Promise<Offer> => json<Offer>("/__keep");

/** Stores a result at the server; returns its link. */
export const leave = (outcome: Outcome, test: string): Promise<{ link: string }> =>
  json<{ link: string }>(`/__keep?test=${test}`, { method: "POST", body: JSON.stringify(outcome) });

/** A stored result. */
export const kept = (id: string): Promise<Outcome> => json<Outcome>(`/__kept?id=${encodeURIComponent(id)}`);

/** All stored results; needs the operator's token. */
export const overview = (token: string, query: URLSearchParams): Promise<Overview> =>
  json<Overview>(`/operator.json?${query}`, { headers: { Authorization: `Bearer ${token}` } });

/** Downloads and discards `bytes` bytes. `name` is the test and the number of the download in it. */
export async function download(bytes: number, name: [string, number] | null, signal: AbortSignal, moved: Moved): Promise<Body> {
  const began = performance.now();
  const named = name === null ? "" : `&test=${name[0]}&number=${name[1]}`;
  const response = await answered(`/__down?bytes=${bytes}${named}`, { signal });
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Refusal("This browser does not support reading a response body as a stream.");
  let [first, atFirst, came, last] = [0, 0, 0, 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    last = performance.now();
    came += value.byteLength;
    moved(value.byteLength);
    if (first === 0) [first, atFirst] = [last, came];
  }
  if (came !== bytes) throw new Refusal(`The server sent ${came} bytes instead of ${bytes}.`);
  const body = { bytes, behind_first: bytes - atFirst, over_ms: last - first, took_ms: last - began };
  return name === null ? body : { ...body, number: name[1] };
}

/** Uploads `bytes` bytes; the response contains the arrival times. */
export async function upload(bytes: number, test: string, signal: AbortSignal): Promise<Body> {
  const began = performance.now();
  const received = await json<Received>(`/__up?test=${test}`, { method: "POST", body: noise(bytes), signal });
  return {
    bytes,
    behind_first: received.bytes - received.first_bytes,
    over_ms: (received.last_ns - received.first_ns) / 1e6,
    took_ms: performance.now() - began,
  };
}

/** Measures the latency of an empty request, without the processing time that the server reports. */
export async function look(test: string, signal: AbortSignal): Promise<Look> {
  const path = `/__down?bytes=0&test=${test}&look=${looks++}`;
  const began = performance.now();
  const response = await answered(path, { signal });
  const head = performance.now();
  await response.arrayBuffer();
  const received = Number(response.headers.get("received-bytes") ?? 0);
  const [entry] = performance.getEntriesByName(new URL(path, location.href).href) as PerformanceResourceTiming[];
  performance.clearResourceTimings();
  if (entry === undefined || entry.requestStart === 0) return { ms: head - began, protocol: "", received };
  const own = entry.serverTiming.reduce((sum, { duration }) => sum + duration, 0);
  const took = entry.responseStart - entry.requestStart;
  return { ms: took > own ? took - own : took, protocol: entry.nextHopProtocol, received };
}

let looks = 0;

/** Incompressible data. */
function noise(bytes: number): Blob {
  if (block === undefined) {
    const random = new Uint8Array(1 << 20);
    // The browser returns at most 64 KiB per call.
    for (let at = 0; at < random.length; at += 1 << 16) crypto.getRandomValues(random.subarray(at, at + (1 << 16)));
    block = new Blob([random]);
  }
  // Parts of a blob are references, not copies: a blob of a gigabyte is created immediately.
  const parts: Blob[] = [];
  for (let left = bytes; left > 0; left -= block.size) parts.push(left < block.size ? block.slice(0, left) : block);
  return new Blob(parts);
}

let block: Blob | undefined;

async function json<T>(path: string, options: RequestInit = {}): Promise<T> {
  const response = await answered(path, options);
  return (await response.json()) as T;
}

async function answered(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal(LOST);
  }
  if (!response.ok) throw refused(response.status, await response.text());
  return response;
}

const refused = (status: number, words: string): Refusal =>
  new Refusal(`The server responded with status ${status}: ${words.trim() || "without a reason"}.`);

const LOST = "The server cannot be reached.";
