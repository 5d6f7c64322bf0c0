// A sequential colour scale for colour-blind users (viridis): larger values have more contrast to the
// background.
type Rgb = readonly [number, number, number];

/** Viridis in even steps, from dark to bright [van der Walt and Smith, matplotlib]. */
const VIRIDIS: Rgb[] = [
  [68, 1, 84],
  [72, 40, 120],
  [62, 73, 137],
  [49, 104, 142],
  [38, 130, 142],
  [31, 158, 137],
  [53, 183, 121],
  [110, 206, 88],
  [181, 222, 43],
  [253, 231, 37],
];
/** On a dark background, the darkest step would be invisible; on a light one, the brightest is pale but
 * visible. */
const DARKEST_ON_DARK = 0.12;

/** The colour for 0..=1. */
export function ramp(value: number, dark: boolean): string {
  const part = Math.min(1, Math.max(0, value));
  const at = (dark ? DARKEST_ON_DARK + part * (1 - DARKEST_ON_DARK) : 1 - part) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const [from, to] = [VIRIDIS[low] as Rgb, VIRIDIS[low + 1] as Rgb];
  const mixed = from.map((channel, i) => Math.round(channel + ((to[i] ?? 0) - channel) * (at - low)));
  return `rgb(${mixed.join(" ")})`;
}

/** The scale as a CSS gradient, in ascending order. */
export const gradient = (dark: boolean): string =>
  `linear-gradient(to right, ${Array.from({ length: 11 }, (_, i) => ramp(i / 10, dark)).join(", ")})`;
