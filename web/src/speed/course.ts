// The way through a plan, as `crates/speed/src/stop.rs` has it: sizes grow until a request takes so long that a larger one would tell the
// same, and beyond the plan's own where the line is so long and fast that the sender's window may not have opened.
import type { Direction, Plan, Step } from "./api";

/** What comes next, and how many steps there are from it on, itself included. */
export interface Next {
  step: Step;
  left: number;
}

/** A set that says nothing of larger ones: its size, and how long its fastest request took. */
interface Short {
  bytes: number;
  fastest: number;
}

export class Course {
  private next = 0;
  private readonly enough = new Set<Direction>();
  /** The latest set of a direction, if it was too short for the length of the line. */
  private readonly short = new Map<Direction, Short>();

  constructor(
    private readonly plan: Plan,
    /** Of a body, in bytes, that the server gives and takes. */
    private readonly largest: number,
  ) {}

  /** Sets of a direction that has seen enough are passed over, and so are latencies that would stand between two of them. */
  nextStep(): Next | undefined {
    for (;;) {
      const { steps } = this.plan;
      const left = steps.length - this.next;
      // Larger sets come before the latency at the end.
      if (left === 0 || (left === 1 && steps[this.next]?.kind === "latency")) {
        const step = this.larger();
        if (step !== undefined) return { step, left: left + 1 };
      }
      const step = steps[this.next];
      if (step === undefined) return undefined;
      this.next += 1;
      if (this.isWorthIt(step)) return { step, left };
    }
  }

  /** A set is over whose requests took so long, on a line with this round trip, if it is known; ms. */
  finished(direction: Direction, bytes: number, took: number[], roundTrip: number | undefined): void {
    if (took.length === 0) return;
    const fastest = Math.min(...took);
    // On a long line a request is slow because the sender's window has not opened yet; then a larger one tells more.
    const opened = this.plan.stop_after_round_trips * (roundTrip ?? 0);
    if (fastest > Math.max(this.plan.stop_after_ms, opened)) this.enough.add(direction);
    if (fastest <= opened) this.short.set(direction, { bytes, fastest });
    else this.short.delete(direction);
  }

  /** Whether a set that has lasted for so long begins another request; ms. */
  goesOn(lasted: number): boolean {
    return lasted < this.plan.longest_set_ms;
  }

  /** Larger bodies than those that were too short: of both directions the smaller, so that they grow side by side. */
  private larger(): Step | undefined {
    const rule = this.plan.larger;
    if (rule === null) return undefined;
    let best: { kind: Direction; bytes: number; count: number } | undefined;
    for (const kind of ["download", "upload"] as const) {
      const short = this.short.get(kind);
      if (short === undefined) continue;
      const bytes = Math.min(short.bytes * rule.by, rule.up_to, this.largest);
      const isQuick = bytes * short.fastest <= short.bytes * rule.within_ms;
      if (bytes > short.bytes && isQuick && (best === undefined || bytes < best.bytes)) best = { kind, bytes, count: rule.count };
    }
    if (best !== undefined) this.short.delete(best.kind);
    return best;
  }

  private isWorthIt(step: Step): boolean {
    switch (step.kind) {
      case "download":
      case "upload":
        return !this.enough.has(step.kind);
      case "latency":
        // The last one is at the end of the line's work, wherever that is.
        return this.next === this.plan.steps.length || this.isAnythingLeft();
      default:
        return true;
    }
  }

  private isAnythingLeft(): boolean {
    return this.plan.steps
      .slice(this.next)
      .some(({ kind }) => kind === "loss" || ((kind === "download" || kind === "upload") && !this.enough.has(kind)));
  }
}
