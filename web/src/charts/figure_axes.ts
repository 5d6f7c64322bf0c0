// The axes of figures: limits, ticks, and formatting of values.
import uPlot from "uplot";
import type { Axis, Line } from "../figure_types";
import { latency, percentile, tick } from "../format";
import type { Palette } from "./palette";
import { axis, type AxisOptions, fixed, type Fixed, onScale, spacing } from "./plot";
import { limits, linearTicks } from "./ticks";

const spacingOf = ({ scale }: Axis): "log" | "linear" => (scale === "log" ? "log" : "linear");

/** A scale that contains these values. */
export const scaleOf = (of: Axis, values: number[]): Fixed =>
  fixed(of.scale === "share" ? [0, 1] : limits(values, spacingOf(of)), spacingOf(of));

/** "throughput (Mbit/s)". */
export const axisText = ({ title, unit }: Axis): string => (unit === "" ? title : `${title} (${unit})`);

const tickOf = ({ scale }: Axis): ((value: number) => string) =>
  scale === "share" ? (value) => tick(100 * value) : tick;

/** A uPlot axis; `room` as in `leftRoom`. */
export const figureAxis = (colors: Palette, of: Axis, side: AxisOptions["side"], room?: number): uPlot.Axis =>
  axis(colors, {
    scale: side === "left" ? "y" : "x",
    side,
    title: axisText(of),
    ...spacing(spacingOf(of), side),
    text: tickOf(of),
    ...(room === undefined ? {} : { room }),
  });

/** Maximum width of the numbers of vertical axes, in CSS pixels. */
export function leftRoom(axes: { of: Axis; scale: Fixed }[]): number {
  // The tick sets that an axis of normal height can use.
  const shown = ({ of, scale: { limits: [low, high] } }: { of: Axis; scale: Fixed }): string[] => {
    const sets = spacing(spacingOf(of), "left").ticks(low, high).filter((ticks) => ticks.length >= 3 && ticks.length <= 9);
    return sets.flat().map(tickOf(of));
  };
  return DIGIT * Math.max(0, ...axes.flatMap(shown).map((text) => text.length)) + 10;
}

/** The axis of seconds since the start. Only the lowest of several charts has a title; on other charts, each
 * number has its unit. */
export const secondsAxis = (colors: Palette, titled: boolean): uPlot.Axis => ({
  ...axis(colors, {
    scale: "x",
    side: "bottom",
    title: titled ? "time since the start (s)" : "",
    ticks: linearTicks,
    text: (value) => (titled ? tick(value) : `${tick(value)}\u00a0s`),
  }),
  labelSize: titled ? 22 : 0,
});

/** "12.3 Mbit/s". */
export function valueOf({ unit, scale }: Axis, value: number | null | undefined): string {
  if (typeof value !== "number") return "no value";
  if (scale === "share") return `${percentile(100 * value)}\u00a0%`;
  return unit === "" ? latency(value) : `${latency(value)}\u00a0${unit}`;
}

/** Lines as columns on common x values; values below the scale are moved to its lower end. */
export const aligned = (lines: Line[], { limits: [low, high] }: Fixed): uPlot.AlignedData =>
  lines.length === 0 ? [[]] : uPlot.join(lines.map(({ x, y }) => [x, onScale(y, [low, high])]));

/** All values of lines, without missing ones. */
export const valuesOf = (lines: Line[]): number[] =>
  lines.flatMap(({ y }) => y.filter((value) => typeof value === "number"));

/** The value of a line at x, or the previous value. */
export function valueAt({ x: xs, y: ys }: Line, x: number): number | null | undefined {
  const after = xs.findIndex((one) => one > x);
  return ys[after < 0 ? xs.length - 1 : after - 1];
}

/** Width of a digit of an axis. */
const DIGIT = 6.8;
