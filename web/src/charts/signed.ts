// Scales and ticks for differences, which lie on both sides of 0: linear, or logarithmic away from 0.
import type uPlot from "uplot";
import type { Scale } from "../store";
import { linearTicks } from "./ticks";

/** How much room a band may add to that of its line, as a share of the line's: a wild end must not squeeze the line. */
const BAND_ROOM = 0.6;
/** The scale that is logarithmic away from 0 is linear up to this share of the largest difference. */
const LINEAR_PART = 1 / 300;

/** Limits that hold all differences, 0, and of the band what does not squeeze them. */
export function differenceLimits(values: number[], ends: (number | null)[]): [number, number] {
  let low = 0;
  let high = 0;
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const room = (high - low) * BAND_ROOM || Number.POSITIVE_INFINITY;
  const [floor, ceiling] = [low - room, high + room];
  for (const end of ends) {
    if (end !== null) [low, high] = [Math.max(floor, Math.min(low, end)), Math.min(ceiling, Math.max(high, end))];
  }
  if (low === high) return [-1, 1];
  // Both halves are wide enough to be named, even the one in which nothing lies.
  const height = high - low;
  return [Math.min(low, -height * 0.05) - height * 0.08, Math.max(high, height * 0.05) + height * 0.08];
}

/** The difference around 0 within which the logarithmic scale is linear: a round number. */
const linearWithin = (low: number, high: number): number =>
  10 ** Math.floor(Math.log10(Math.max(-low, high) * LINEAR_PART));

export function differenceScale(scale: Scale, [low, high]: [number, number]): uPlot.Scale {
  const range = (): [number, number] => [low, high];
  if (scale === "linear") return { time: false, auto: false, range };
  return { time: false, auto: false, distr: 4, asinh: linearWithin(low, high), range };
}

export function differenceTicks(scale: Scale, low: number, high: number, pixels: number): number[] {
  if (scale === "linear") return linearTicks(low, high, pixels / 50);
  const within = linearWithin(low, high);
  const place = (value: number): number => Math.asinh(value / within);
  const each = pixels / (place(high) - place(low));
  const ticks = [0];
  // From 0 outwards, each at least a line's height from the one before.
  for (const [sign, end] of [
    [1, high],
    [-1, -low],
  ] as const) {
    let last = 0;
    for (let power = within; power <= end; power *= 10) {
      if ((place(power) - place(last)) * each < 22) continue;
      ticks.push(sign * Number(power.toPrecision(3)));
      last = power;
    }
  }
  return ticks.sort((a, b) => a - b);
}
