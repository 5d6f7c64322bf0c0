// Walks through a plan: makes its steps one after the other, and looks at the latency meanwhile.
import { begin, type Body, conclude, type Direction, download, look, type Plan, plan, type Seen, upload } from "./api";
import { loss } from "./channel";
import { Course } from "./course";
import type { During, Outcome } from "./types";

/** What can be seen of a test while it runs. */
export interface Live {
  doing: string;
  /** Steps that are over, and all. */
  done: number;
  of: number;
  /** Bytes that have arrived: downloads here, uploads at the server. */
  moved: Record<Direction, number>;
  /** Whether an upload is under way, of which more may have arrived than the server has reported. */
  uploading: boolean;
  /** When the server last reported that more has arrived, by `performance.now()`. */
  reported: number;
  latency: number | null;
  /** Datagrams of the loss test that came back. */
  back: number;
}

/** A test that was made: its name, and what it came to. */
export interface Made {
  test: string;
  outcome: Outcome;
}

/** Makes a test, and the result of what was seen until `signal` stops it. */
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
  /** Bytes of uploads that are over. */
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
          this.does("latency with the line idle");
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
    this.does("making the result");
  }

  /** Transfers of one size; the fastest says whether a larger one is worth its time. */
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

  /** The server has received so many bytes of uploads. */
  private arrived(bytes: number): void {
    if (bytes > this.live.moved.upload) {
      this.live.moved.upload = bytes;
      this.live.reported = performance.now();
    }
    this.told(this.live);
  }

  /** Looks at the latency now and then once a transfer has filled the line for long enough, until it is over. */
  private async lookWhile(direction: Direction, over: AbortSignal): Promise<void> {
    await pause(this.plan.loaded_from_ms, over);
    while (!over.aborted && !this.signal.aborted) {
      // A look that fails tells nothing of the latency; the transfer will tell if the line is gone.
      await this.look(direction).catch(() => undefined);
      await pause(this.plan.probe_every_ms, over);
    }
  }

  private async look(during: During): Promise<void> {
    const at_s = this.now() / 1e3;
    const { ms, protocol, received } = await look(this.test, this.signal);
    if (protocol !== "") this.seen.protocol = protocol;
    // HTTP/1.1 has one request on a connection at a time: beside a transfer the browser takes another one.
    const on = during === "idle" || protocol !== "http/1.1" ? "same" : "separate";
    // Whole nanoseconds: differences of times have binary digits behind them, and what follows from a result that was kept would be another.
    this.seen.latencies.push({ at_s, during, on, ms: Math.round(ms * 1e6) / 1e6 });
    this.live.latency = ms;
    this.arrived(received);
  }

  private does(doing: string): void {
    this.live.doing = doing;
    this.told(this.live);
  }
}

/** Waits, or until it is over. */
const pause = (ms: number, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const early = (): void => {
      clearTimeout(timer);
      resolve();
    };
    over.addEventListener("abort", early, { once: true });
  });
