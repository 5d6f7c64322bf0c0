// The sequence of sets of a plan, like `crates/measure/speedtest/src/size_ramp.rs`: sizes grow until a request takes so long
// that a larger body would not change the result, and beyond the sizes of the plan if the sender's window may
// not have opened on a long and fast line.
import type { Direction, Plan, Step } from "./api";

/** The next step, and the number of remaining steps including it. */
export interface Next {
  step: Step;
  left: number;
}

/** A set that was too short to predict the rate of larger bodies: its size, and the time of its fastest
 * request. */
interface Short {
  bytes: number;
  fastest: number;
}

export class Course {
  private next = 0;
  private readonly enough = new Set<Direction>();
  /** The last set of each direction, if it was too short for the round trip time. */
  private readonly short = new Map<Direction, Short>();

  constructor(
    private readonly plan: Plan,
    /** The maximum size of a body in bytes. */
    private readonly largest: number,
  ) {}

  /** Skips the sets of completed directions, and latency steps between two of them. */
  nextStep(): Next | undefined {
    for (;;) {
      const { steps } = this.plan;
      const left = steps.length - this.next;
      // Larger sets precede the final latency step.
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

  /** Records a completed set: the times of its requests, and the round trip time of the line if known; ms. */
  finished(direction: Direction, bytes: number, took: number[], roundTrip: number | undefined): void {
    if (took.length === 0) return;
    const fastest = Math.min(...took);
    // On a long line, a request may be slow because the sender's window has not opened yet; larger bodies
    // then help.
    const opened = this.plan.stop_after_round_trips * (roundTrip ?? 0);
    if (fastest > Math.max(this.plan.stop_after_ms, opened)) this.enough.add(direction);
    if (fastest <= opened) this.short.set(direction, { bytes, fastest });
    else this.short.delete(direction);
  }

  /** Whether a set of this duration starts another request; ms. */
  goesOn(lasted: number): boolean {
    return lasted < this.plan.longest_set_ms;
  }

  /** The next larger body after sets that were too short: the smaller one of both directions, so that both
   * grow evenly. */
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
        // The final latency step is always taken.
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
