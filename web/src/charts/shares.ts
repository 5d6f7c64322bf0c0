// Percentile axes: in percent, or in nines, which show the tail in more detail.
import { percentile, tick } from "../format";
import type { ShareAxis } from "../store";
import { fromNines, linearTicks, nines, ninesTicks } from "./ticks";

export interface ShareScale {
  /** Position of a share of 0..=1 on the axis. */
  at: (share: number) => number;
  top: number;
  ticks: (low: number, high: number) => number[][];
  text: (value: number) => string;
}

/** A scale for these shares. Share 1 is infinite in nines and must be left out. */
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
