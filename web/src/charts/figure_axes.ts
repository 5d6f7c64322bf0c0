// The axes of figures: their limits, ticks, and how their values are written.
import uPlot from "uplot";
import type { Axis, Line } from "../figure_types";
import { latency, percentile, tick } from "../format";
import type { Palette } from "./palette";
import { axis, type AxisOptions, fixed, type Fixed, onScale, ticksOf } from "./plot";
import { limits, linearTicks } from "./ticks";

/** How an axis is spaced; shares are linear. */
const spacing = ({ scale }: Axis): "log" | "linear" => (scale === "log" ? "log" : "linear");

/** A scale that holds these values. */
export const scaleOf = (of: Axis, values: number[]): Fixed =>
  fixed(of.scale === "share" ? [0, 1] : limits(values, spacing(of)), spacing(of));

/** "throughput (Mbit/s)". */
export const axisText = ({ title, unit }: Axis): string => (unit === "" ? title : `${title} (${unit})`);

const tickOf = ({ scale }: Axis): ((value: number) => string) =>
  scale === "share" ? (value) => tick(100 * value) : tick;

/** Upright axes have more ticks than those of latencies: their charts are lower. */
const ticksOn = (of: Axis, side: AxisOptions["side"]): AxisOptions["ticks"] =>
  side === "left" && spacing(of) === "linear"
    ? (low, high, pixels) => linearTicks(low, high, pixels / 28)
    : ticksOf(spacing(of), side);

/** An axis as uPlot draws it; `room` as in `leftRoom`. */
export const figureAxis = (colors: Palette, of: Axis, side: AxisOptions["side"], room?: number): uPlot.Axis =>
  axis(colors, {
    scale: side === "left" ? "y" : "x",
    side,
    title: axisText(of),
    ticks: ticksOn(of, side),
    text: tickOf(of),
    ...(room === undefined ? {} : { room }),
  });

/** How wide the numbers of upright axes are at most, in CSS pixels, for charts of this height. */
export function leftRoom(axes: { of: Axis; scale: Fixed }[], height: number): number {
  const texts = axes.flatMap(({ of, scale }) => ticksOn(of, "left")(...scale.limits, height - 60).map(tickOf(of)));
  return DIGIT * Math.max(...texts.map((text) => text.length)) + 10;
}

/** The axis of seconds since the start. Only the lowest of several charts has a title; on others each number has its unit. */
export const secondsAxis = (colors: Palette, titled: boolean): uPlot.Axis => ({
  ...axis(colors, {
    scale: "x",
    side: "bottom",
    title: titled ? "time since the start (s)" : "",
    ticks: (low, high, pixels) => linearTicks(low, high, pixels / 60),
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

/** Lines as columns on common x; values that the scale cannot hold lie at its lower end. */
export const aligned = (lines: Line[], { limits: [low, high] }: Fixed): uPlot.AlignedData =>
  lines.length === 0 ? [[]] : uPlot.join(lines.map(({ x, y }) => [x, onScale(y, [low, high])]));

/** The values of lines that are there. */
export const valuesOf = (lines: Line[]): number[] =>
  lines.flatMap(({ y }) => y.filter((value) => typeof value === "number"));

/** What a line says at x: its value there, or the one before. */
export function valueAt({ x: xs, y: ys }: Line, x: number): number | null | undefined {
  const after = xs.findIndex((one) => one > x);
  return ys[after < 0 ? xs.length - 1 : after - 1];
}

/** Width of a digit of an axis. */
const DIGIT = 6.8;
