// What the page asks of its server: the only place that fetches. A failure is a sentence that is shown.
import type { Overview } from "./operator_types";
import type { Outcome, Sample } from "./types";

export type Step =
  | { kind: "warm_up"; bytes: number }
  | { kind: "latency"; samples: number }
  | { kind: Direction; bytes: number; count: number }
  | { kind: "loss"; messages: number };

export type Direction = "download" | "upload";

/** A plan as the server writes it (`crates/speed/src/serve/browser.rs`). */
export interface Plan {
  name: string;
  stop_after_ms: number;
  /** How many round trips a set's fastest request takes at least before it says anything of larger ones. */
  stop_after_round_trips: number;
  longest_set_ms: number;
  probe_every_ms: number;
  loaded_from_ms: number;
  /** Sets of larger bodies that may follow the steps. */
  larger: Larger | null;
  steps: Step[];
}

/** Each set's bodies are `by` times as large as those of the one before, until one would take longer than `within_ms`. */
export interface Larger {
  by: number;
  up_to: number;
  count: number;
  within_ms: number;
}

/** What a server says when a test begins (`crates/speed/src/wire.rs`). */
export interface Greeting {
  /** The test's name, which goes with its requests. */
  test: string;
  /** The largest body, in bytes, that the server gives and takes. */
  largest: number;
}

/** A body, as its receiver saw it. */
export interface Body {
  bytes: number;
  behind_first: number;
  over_ms: number;
  took_ms: number;
  /** Of a download: by this the server finds what of it was acknowledged when. */
  number?: number;
}

/** All that the page saw, of which the server makes the result. */
export interface Seen {
  plan: string;
  protocol: string;
  took_ms: number;
  interrupted: boolean;
  download: Body[];
  upload: Body[];
  latencies: Sample[];
  /** Null as long as it was not looked at. */
  loss: Loss | null;
}

/** Datagrams that were sent and came back; or why nobody knows. */
export type Loss = { sent: number; came_back: number } | { why: string };

/** A look at the latency. */
export interface Look {
  ms: number;
  /** "http/1.1", "h2" or "h3"; empty where the browser does not tell. */
  protocol: string;
  /** Bytes of this test's uploads that the server had received. */
  received: number;
}

/** Why there is no result, as a sentence. */
export class Refusal extends Error {}

/** When the pieces of an upload arrived (`crates/speed/src/wire.rs`). */
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

/** Asks the server for the other half of a WebRTC connection. */
export const negotiate = (offer: RTCSessionDescription, test: string, signal: AbortSignal): Promise<RTCSessionDescriptionInit> =>
  json<RTCSessionDescriptionInit>(`/__channel?test=${test}`, { method: "POST", body: JSON.stringify(offer), signal });

/** Whether and how the server keeps results (`crates/speed/src/wire.rs`). */
export interface Offer {
  /** For how long; null if it keeps none. */
  keep_for_s: number | null;
  /** What it keeps of the visitor's address. */
  network: string | null;
}

export const offer = (): Promise<Offer> => json<Offer>("/__keep");

/** Leaves a result to be kept; where it is found then. */
export const leave = (outcome: Outcome, test: string): Promise<{ link: string }> =>
  json<{ link: string }>(`/__keep?test=${test}`, { method: "POST", body: JSON.stringify(outcome) });

/** A result that was kept. */
export const kept = (id: string): Promise<Outcome> => json<Outcome>(`/__kept?id=${encodeURIComponent(id)}`);

/** All results that are kept, for whoever has the token. */
export const overview = (token: string, query: URLSearchParams): Promise<Overview> =>
  json<Overview>(`/operator.json?${query}`, { headers: { Authorization: `Bearer ${token}` } });

/** Downloads so many bytes and forgets them. `name` is the test and the number of the download in it. */
export async function download(bytes: number, name: [string, number] | null, signal: AbortSignal, moved: Moved): Promise<Body> {
  const began = performance.now();
  const named = name === null ? "" : `&test=${name[0]}&number=${name[1]}`;
  const response = await answered(`/__down?bytes=${bytes}${named}`, { signal });
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Refusal("This browser does not let a page read a body while it comes.");
  let [first, atFirst, came, last] = [0, 0, 0, 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    last = performance.now();
    came += value.byteLength;
    moved(value.byteLength);
    if (first === 0) [first, atFirst] = [last, came];
  }
  if (came !== bytes) throw new Refusal(`The server sent ${came} bytes where ${bytes} were asked for.`);
  const body = { bytes, behind_first: bytes - atFirst, over_ms: last - first, took_ms: last - began };
  return name === null ? body : { ...body, number: name[1] };
}

/** Uploads so many bytes; the server answers when what of them arrived. */
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

/** Asks for nothing, and takes off what the server says it took. */
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

/** Bytes that nothing on the way can make shorter. */
function noise(bytes: number): Blob {
  if (block === undefined) {
    const random = new Uint8Array(1 << 20);
    // The browser gives 64 KiB at a time.
    for (let at = 0; at < random.length; at += 1 << 16) crypto.getRandomValues(random.subarray(at, at + (1 << 16)));
    block = new Blob([random]);
  }
  // Parts that are blobs are referred to, and not copied: a gigabyte of them is made at once.
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
  new Refusal(`The server answered ${status}: ${words.trim() || "without a reason"}.`);

const LOST = "The server cannot be reached any more.";
