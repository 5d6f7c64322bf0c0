// Tick positions and limits of scales: readable numbers of round values, for 0.01 ms as well as for 60 000
// ms.
import type { Scale } from "../store";

/** An axis with fewer ticks does not show its spacing. */
const LEAST_TICKS = 3;
/** Minimum gap between the texts of two ticks, px. */
const BETWEEN = 6;

/** Positions of values along an axis, and the room that their texts take. */
export interface Along {
  /** Position of a value, in pixels. */
  at: (value: number) => number;
  text: (value: number) => string;
  /** Length of a text along the axis, in pixels. */
  extent: (text: string) => number;
  /** Minimum distance of two ticks, in pixels. */
  gap: number;
  /** The range of pixels for texts. */
  room: [from: number, to: number];
}

/** The first of these tick sets (best first) with at least three ticks that keep their distance and whose
 * texts do not overlap. */
export function spaced(candidates: number[][], { at, text, extent, gap, room: [from, to] }: Along): number[] {
  const held = (tick: number): boolean => {
    const [place, half] = [at(tick), extent(text(tick)) / 2];
    return place - half >= from && place + half <= to;
  };
  const sets = candidates.map((ticks) => ticks.filter(held));
  const fits = (least: number) => (ticks: number[]) => {
    const places = ticks.map(at);
    const sizes = ticks.map((tick) => extent(text(tick)));
    return (
      ticks.length >= LEAST_TICKS &&
      places.every((place, i) => {
        if (i === 0) return true;
        const needed = ((sizes[i - 1] as number) + (sizes[i] as number)) / 2 + BETWEEN;
        return place - (places[i - 1] as number) >= Math.max(least, needed);
      })
    );
  };
  // If three ticks do not fit, the texts must only not overlap; finally, the ends and the middle of a set.
  const three = (ticks: number[]): number[] => [ticks[0], ticks[(ticks.length - 1) >> 1], ticks.at(-1)].filter((one) => one !== undefined);
  const spread = sets.filter((ticks) => ticks.length > LEAST_TICKS).map(three);
  return sets.find(fits(gap)) ?? sets.find(fits(0)) ?? spread.find(fits(0)) ?? spread.at(-1) ?? [];
}

/** Multiples of 1, 2 or 5 times a power of ten between two limits, finest first. */
export function linearTicks(low: number, high: number): number[][] {
  const range = high - low;
  if (!(range > 0)) return [];
  const power = Math.floor(Math.log10(range));
  const steps = [-2, -1, 0].flatMap((lower) => [1, 2, 5].map((factor) => factor * 10 ** (power + lower)));
  return steps
    .filter((step) => range / step <= 100)
    .map((step) => {
      const first = Math.ceil(low / step - 1e-9);
      const last = Math.floor(high / step + 1e-9);
      const count = Math.max(0, last - first + 1);
      return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
    });
}

/** Decades and, if there is room, 2 and 5 or 3 times decades; then sets for a few decades or part of one. */
export function logTicks(low: number, high: number): number[][] {
  const decades = Math.log10(high / low);
  // Within part of a decade, 1-2-5 yields one or two ticks; equal steps yield more.
  const even = decades < 2 ? linearTicks(low, high) : [];
  if (decades < 0.9) return even;
  const every = (step: number, within: number[]): number[] => {
    const ticks: number[] = [];
    for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent += step) {
      for (const factor of within) ticks.push(Number((factor * 10 ** exponent).toPrecision(6)));
    }
    return ticks.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  };
  const usual = [[1, 2, 5], [1, 3], [1]].map((within) => every(1, within));
  const sparse = [2, 3, 5, 10, 20, 50, 100].map((step) => every(step, [1]));
  return [...usual, ...sparse, every(1, [1, 1.5, 2, 3, 5, 7]), ...even];
}

/**
 * Relative differences below this are drawn as equal: ticks between them would need more digits than
 * measurements have.
 */
const LEAST = 1e-5;

/** Limits that include all these latencies with a small margin, even if all are equal or some are 0. */
export function limits(values: number[], scale: Scale): [number, number] {
  const usable = values.filter((value) => Number.isFinite(value) && (scale === "linear" || value > 0));
  if (usable.length === 0) return scale === "log" ? [1, 10] : [0, 1];
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of usable) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (scale === "log") {
    const room = (high / low) ** 0.04;
    return high / low < 1 + LEAST ? [low / 1.5, high * 1.5] : [low / room, high * room];
  }
  if (high - low <= LEAST * Math.max(Math.abs(high), Math.abs(low))) return high === 0 ? [0, 1] : [Math.min(0, low * 1.5), Math.max(0, high * 1.5)];
  // A distribution that starts near 0 is drawn from 0; other distributions are not, because they would be compressed
  // at the top.
  const room = (high - low) * 0.04;
  return [low >= 0 && low < high * 0.6 ? 0 : low - room, high + room];
}

/** The percentile on the nines axis: 90 % is 1, 99 % is 2, 99.9 % is 3. */
export const nines = (share: number): number => -Math.log10(1 - share);

/** The inverse of `nines`. */
export const fromNines = (value: number): number => 1 - 10 ** -value;

/**
 * Ticks of the nines axis up to `high`: 0, 50, 90, 95, 99, ..., then without 50 and 5, then every second nine
 * and so on.
 */
export function ninesTicks(high: number): number[][] {
  const every = (step: number): number[] =>
    Array.from({ length: Math.floor((high + 1e-9) / step) + 1 }, (_, i) => i * step);
  const half = nines(0.5);
  const sorted = (ticks: number[]): number[] => ticks.filter((tick) => tick <= high + 1e-9).sort((a, b) => a - b);
  return [
    sorted(every(1).flatMap((tick) => [tick, tick + half])),
    sorted([...every(1), half]),
    ...[1, 2, 3, 4, 5].map(every),
  ];
}
