// Percentile axes: in percent, or in nines, which give the tail the room it needs.
import { percentile, tick } from "../format";
import type { ShareAxis } from "../store";
import { fromNines, linearTicks, nines, ninesTicks } from "./ticks";

export interface ShareScale {
  /** Where a share of 0..=1 lies on the axis. */
  at: (share: number) => number;
  top: number;
  ticks: (low: number, high: number) => number[][];
  text: (value: number) => string;
}

/** A scale that holds these shares. Share 1 lies beyond any number of nines: leave it out of what is drawn. */
export function shareScale(axis: ShareAxis, shares: number[]): ShareScale {
  if (axis === "percent") {
    return {
      at: (share) => share * 100,
      top: 100,
      ticks: () => linearTicks(0, 100),
      text: tick,
    };
  }
  const highest = shares.reduce((most, share) => (share < 1 && share > most ? share : most), 0);
  return {
    at: nines,
    top: Math.max(1, nines(highest)),
    ticks: (_, high) => ninesTicks(high),
    text: (value) => percentile(fromNines(value) * 100),
  };
}
