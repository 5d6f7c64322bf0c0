// Runs a plan: its steps in sequence, with concurrent latency samples.
import { begin, type Body, conclude, type Direction, download, look, type Plan, plan, type Seen, upload } from "./api";
import { loss } from "./channel";
import { Course } from "./course";
import type { During, Outcome } from "./types";

/** The progress of a test. */
export interface Live {
  doing: string;
  /** Completed steps, and all steps. */
  done: number;
  of: number;
  /** Received bytes: downloads in the browser, uploads at the server. */
  moved: Record<Direction, number>;
  /** Whether an upload is in progress, of which more may have arrived than the server has reported. */
  uploading: boolean;
  /** Time of the last report with new bytes, by `performance.now()`. */
  reported: number;
  latency: number | null;
  /** Echoed datagrams of the loss test. */
  back: number;
}

/** A completed test: its name and its result. */
export interface Made {
  test: string;
  outcome: Outcome;
}

/** Runs a test, and returns the result of all measurements, even if `signal` stops it early. */
export async function run(name: string, signal: AbortSignal, told: (live: Live) => void): Promise<Made> {
  const wanted = await plan(name);
  const { test, largest } = await begin(signal);
  const walk = new Walk(wanted, new Course(wanted, largest), test, signal, told);
  try {
    await walk.all();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    walk.seen.interrupted = true;
  }
  walk.seen.took_ms = walk.now();
  return { test, outcome: await conclude(walk.seen, test) };
}

class Walk {
  readonly seen: Seen;
  private readonly began = performance.now();
  private readonly live: Live;
  /** Bytes of completed uploads. */
  private uploaded = 0;

  constructor(
    private readonly plan: Plan,
    private readonly course: Course,
    private readonly test: string,
    private readonly signal: AbortSignal,
    private readonly told: (live: Live) => void,
  ) {
    const nothing = { download: [], upload: [], latencies: [] };
    this.seen = { plan: plan.name, protocol: "", took_ms: 0, interrupted: false, loss: null, ...nothing };
    const moved = { download: 0, upload: 0 };
    this.live = { doing: "", done: 0, of: plan.steps.length, moved, uploading: false, reported: 0, latency: null, back: 0 };
  }

  now = (): number => performance.now() - this.began;

  async all(): Promise<void> {
    for (let next = this.course.nextStep(); next !== undefined; next = this.course.nextStep()) {
      const { step, left } = next;
      this.live.done = this.plan.steps.length - left;
      switch (step.kind) {
        case "warm_up":
          this.does("warming up");
          await download(step.bytes, null, this.signal, () => undefined);
          break;
        case "latency":
          this.does("idle latency");
          for (let n = 0; n < step.samples; n++) await this.look("idle");
          break;
        case "loss":
          this.does("packet loss");
          this.seen.loss = await loss(step.messages, this.test, this.signal, (back) => {
            this.live.back = back;
            this.told(this.live);
          });
          break;
        default:
          await this.set(step.kind, step.bytes, step.count);
      }
    }
    this.live.done = this.plan.steps.length;
    this.does("computing the result");
  }

  /** Transfers of one size; the fastest decides whether a larger size follows. */
  private async set(direction: Direction, bytes: number, count: number): Promise<void> {
    this.does(`${direction} of ${bytes >= 1e6 ? `${bytes / 1e6} MB` : `${bytes / 1e3} KB`}`);
    const from = performance.now();
    const took: number[] = [];
    for (let n = 0; n < count && this.course.goesOn(performance.now() - from); n++) {
      const body = await this.transfer(direction, bytes);
      this.seen[direction].push(body);
      took.push(body.took_ms);
    }
    const idle = this.seen.latencies.filter((one) => one.during === "idle").map((one) => one.ms);
    this.course.finished(direction, bytes, took, idle.length === 0 ? undefined : Math.min(...idle));
  }

  private async transfer(direction: Direction, bytes: number): Promise<Body> {
    const over = new AbortController();
    const looking = this.lookWhile(direction, over.signal);
    try {
      return await (direction === "download" ? this.download(bytes) : this.upload(bytes));
    } finally {
      over.abort();
      await looking;
    }
  }

  private download(bytes: number): Promise<Body> {
    return download(bytes, [this.test, this.seen.download.length], this.signal, (more) => {
      this.live.moved.download += more;
      this.told(this.live);
    });
  }

  private async upload(bytes: number): Promise<Body> {
    this.live.uploading = true;
    try {
      const body = await upload(bytes, this.test, this.signal);
      this.uploaded += bytes;
      this.arrived(this.uploaded);
      return body;
    } finally {
      this.live.uploading = false;
    }
  }

  /** Records the number of upload bytes that the server has received. */
  private arrived(bytes: number): void {
    if (bytes > this.live.moved.upload) {
      this.live.moved.upload = bytes;
      this.live.reported = performance.now();
    }
    this.told(this.live);
  }

  /** Samples the latency during a transfer, after the line has been busy for long enough. */
  private async lookWhile(direction: Direction, over: AbortSignal): Promise<void> {
    await pause(this.plan.loaded_from_ms, over);
    while (!over.aborted && !this.signal.aborted) {
      // A failed sample is ignored; if the connection is broken, the transfer fails too.
      await this.look(direction).catch(() => undefined);
      await pause(this.plan.probe_every_ms, over);
    }
  }

  private async look(during: During): Promise<void> {
    const at_s = this.now() / 1e3;
    const { ms, protocol, received } = await look(this.test, this.signal);
    if (protocol !== "") this.seen.protocol = protocol;
    // HTTP/1.1 has one request per connection: during a transfer, the browser uses another connection.
    const on = during === "idle" || protocol !== "http/1.1" ? "same" : "separate";
    // In whole nanoseconds: the binary digits of time differences would not survive a link, and results
    // computed from a stored result would differ.
    this.seen.latencies.push({ at_s, during, on, ms: Math.round(ms * 1e6) / 1e6 });
    this.live.latency = ms;
    this.arrived(received);
  }

  private does(doing: string): void {
    this.live.doing = doing;
    this.told(this.live);
  }
}

/** Waits for a time, or until `over` is aborted. */
const pause = (ms: number, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const early = (): void => {
      clearTimeout(timer);
      resolve();
    };
    over.addEventListener("abort", early, { once: true });
  });
