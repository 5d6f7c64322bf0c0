// Where ticks stand, and the limits of scales: round numbers, few enough to be read, for 0.01 ms as for 60 000 ms.
import type { Scale } from "../store";

/** Round steps of 1, 2 or 5 between two limits, about so many. */
export function linearTicks(low: number, high: number, wanted: number): number[] {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Decades and, where there is room for them, their 2 and 5 or 3; `length` and `gap` in pixels. */
export function logTicks(low: number, high: number, length: number, gap: number): number[] {
  const decades = Math.log10(high / low);
  const perDecade = length / decades;
  // Within less than a decade, 1-2-5 leaves one or two ticks: steps of equal size say more.
  if (decades < 0.9) return linearTicks(low, high, Math.max(2, Math.floor(length / gap / 1.5)));
  // Each set with the smallest distance between its neighbours, in decades: log10(2), log10(3).
  const sets: { within: number[]; distance: number }[] = [
    { within: [1, 2, 5], distance: 0.301 },
    { within: [1, 3], distance: 0.477 },
    { within: [1], distance: 1 },
  ];
  const within = sets.find((set) => set.distance * perDecade >= gap)?.within ?? [1];
  const every = Math.max(1, Math.ceil(gap / perDecade));
  const ticks: number[] = [];
  for (let exponent = Math.floor(Math.log10(low)); exponent <= Math.ceil(Math.log10(high)); exponent += every) {
    for (const factor of within) ticks.push(Number((factor * 10 ** exponent).toPrecision(6)));
  }
  return ticks.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}

/** Limits that hold all these latencies with a little room, also if all are equal or some are 0. */
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
    const room = Math.max(1.05, (high / low) ** 0.04);
    return high / low < 1.02 ? [low / 1.5, high * 1.5] : [low / room, high * room];
  }
  if (high === low) return high === 0 ? [0, 1] : [Math.min(0, low * 1.5), Math.max(0, high * 1.5)];
  // A distribution that starts near 0 is drawn from 0; one far from it would be a line at the top.
  const room = (high - low) * 0.04;
  return [low >= 0 && low < high * 0.6 ? 0 : low - room, high + room];
}

/** The percentile on the axis of nines: 90 % is 1, 99 % is 2, 99.9 % is 3. */
export const nines = (share: number): number => -Math.log10(1 - share);

/** The other way. */
export const fromNines = (value: number): number => 1 - 10 ** -value;

/**
 * Ticks of the nines axis, up to `high` and no nearer to each other than `room`: 0, 90, 99, 99.9, ..., and where there is
 * room between them 50, 95, 99.5, ...
 */
export function ninesTicks(high: number, room: number): number[] {
  const whole = Array.from({ length: Math.floor(high + 1e-9) + 1 }, (_, i) => i);
  const between = whole.map((value) => value + nines(0.5));
  const kept: number[] = [];
  for (const value of [...whole, ...between]) {
    if (value <= high + 1e-9 && kept.every((other) => Math.abs(other - value) >= room)) kept.push(value);
  }
  return kept.sort((a, b) => a - b);
}
