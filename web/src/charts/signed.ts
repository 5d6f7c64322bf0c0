// Scales and ticks for differences of either sign: linear, or symmetric-logarithmic.
import type uPlot from "uplot";
import type { Scale } from "../store";
import { linearTicks } from "./ticks";

/** Maximum room for a band as a fraction of its line's room, so that a wide end does not compress the line. */
const BAND_ROOM = 0.6;
/** The symmetric-logarithmic scale is linear up to this fraction of the largest difference. */
const LINEAR_PART = 1 / 300;

/** Limits that include all differences, 0, and the band up to its maximum room. */
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
  // Both halves are high enough for a label, even an empty one.
  const height = high - low;
  return [Math.min(low, -height * 0.05) - height * 0.08, Math.max(high, height * 0.05) + height * 0.08];
}

/** The difference up to which the symmetric-logarithmic scale is linear: a power of ten. */
const linearWithin = (low: number, high: number): number =>
  10 ** Math.floor(Math.log10(Math.max(-low, high) * LINEAR_PART));

export function differenceScale(scale: Scale, [low, high]: [number, number]): uPlot.Scale {
  const range = (): [number, number] => [low, high];
  if (scale === "linear") return { time: false, auto: false, range };
  return { time: false, auto: false, distr: 4, asinh: linearWithin(low, high), range };
}

/** The position of a difference on its scale. */
export const differencePlace = (scale: Scale, low: number, high: number): ((value: number) => number) => {
  if (scale === "linear") return (value) => value;
  const within = linearWithin(low, high);
  return (value) => Math.asinh(value / within);
};

export function differenceTicks(scale: Scale, low: number, high: number): number[][] {
  const even = linearTicks(low, high);
  if (scale === "linear") return even;
  const within = linearWithin(low, high);
  // From 0 outwards: every power of ten, every second one, ...
  const outwards = [1, 2, 3, 4].map((every) => {
    const ticks = [0];
    for (const [sign, end] of [
      [1, high],
      [-1, -low],
    ] as const) {
      for (let power = within; power <= end; power *= 10 ** every) ticks.push(sign * Number(power.toPrecision(3)));
    }
    return ticks.sort((a, b) => a - b);
  });
  return [...outwards, ...even];
}
