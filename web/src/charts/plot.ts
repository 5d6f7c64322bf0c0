// Joins a drawing to uPlot: builds it once it comes into sight, keeps it as wide as its frame, reads values out by mouse
// and keyboard.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { latency, tick, timeUnit } from "../format";
import type { Scale } from "../store";
import { savePicture } from "./download";
import { cut } from "./labels";
import { type Frame, read } from "./frame";
import type { Palette } from "./palette";
import { limits, linearTicks, logTicks, spaced } from "./ticks";

export interface Drawing {
  options: Omit<uPlot.Options, "width" | "height">;
  data: uPlot.AlignedData;
  /** What the read-out says of one index of the data, or of where the cursor stands. */
  read: (index: number, u: uPlot) => string;
  /** Where an arrow key moves the cursor, if not along the first line. */
  move?: (u: uPlot, key: ArrowKey) => { left: number; top: number };
}

export type ArrowKey = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** The latest drawing of a frame, and what of it is on the page. */
interface Mounted {
  box: Frame;
  drawing: Drawing;
  inSight: boolean;
  /** The drawing on the page; of an earlier one if it is out of sight since. */
  plot: uPlot | undefined;
  stale: boolean;
}

const mounted = new Map<Element, Mounted>();
const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) fit(entry.target);
});
/** A page of many sides has dozens of charts: those that nobody looks at yet, or any more, are not drawn. */
const sight = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const one = mounted.get(entry.target);
      if (one === undefined) continue;
      one.inSight = entry.isIntersecting;
      if (one.inSight) build(one);
    }
  },
  { rootMargin: "400px" },
);

/** Draws into a frame, in place of what was drawn there before: now if it is in sight, else when it comes there. */
export function draw(box: Frame, drawing: Drawing): void {
  let one = mounted.get(box.plot);
  if (one === undefined) {
    one = { box, drawing, inSight: false, plot: undefined, stale: true };
    mounted.set(box.plot, one);
    // The place is kept, so that nothing below it moves when the drawing comes.
    box.plot.style.minHeight = `${box.height(box.plot.clientWidth)}px`;
    sizes.observe(box.plot);
    sight.observe(box.plot);
    box.plot.addEventListener("keydown", (event) => step(box.plot, event));
    box.download.addEventListener("click", () => {
      const plot = mounted.get(box.plot)?.plot;
      if (plot !== undefined) savePicture(box, plot.ctx.canvas);
    });
  }
  one.drawing = drawing;
  one.stale = true;
  if (one.inSight) build(one);
}

function build(one: Mounted): void {
  const { box, drawing } = one;
  const width = box.plot.clientWidth;
  if (!one.stale || width === 0) return;
  one.plot?.destroy();
  read(box, undefined);
  one.stale = false;
  box.plot.style.minHeight = "";
  one.plot = new uPlot(
    {
      ...drawing.options,
      // Lines go where their values are: rounded to pixels, a slope becomes a staircase.
      series: drawing.options.series.map((series) => ({ pxAlign: 0, ...series })),
      width,
      height: box.height(width),
      legend: { show: false },
      cursor: { drag: { x: false, y: false, setScale: false }, ...drawing.options.cursor },
      hooks: {
        ...drawing.options.hooks,
        setCursor: [(u) => read(box, textAt(u, drawing))],
      },
    },
    drawing.data,
    box.plot,
  );
}

/** Draws and fits every chart to its frame now: print shows all, and lays the page out anew without telling anybody. */
export function fitAll(): void {
  for (const [element, one] of mounted) {
    build(one);
    fit(element);
  }
}

function fit(element: Element): void {
  const one = mounted.get(element);
  const width = element.clientWidth;
  if (one?.plot === undefined || width === 0 || width === one.plot.width) return;
  one.plot.setSize({ width, height: one.box.height(width) });
}

function textAt(u: uPlot, drawing: Drawing): string | undefined {
  const index = u.cursor.idxs?.[1] ?? u.cursor.idx;
  return index === null || index === undefined || (u.cursor.left ?? -1) < 0
    ? undefined
    : drawing.read(index, u);
}

/** Moves the cursor along the first line to the next point that lies on another pixel. */
function step(element: Element, event: KeyboardEvent): void {
  const { plot, drawing } = mounted.get(element) ?? {};
  const direction = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (plot === undefined) return;
  if (event.key === "Escape") moveCursor(plot, { left: -10, top: -10 });
  if (direction === undefined) return;
  event.preventDefault();
  if (drawing?.move !== undefined) {
    moveCursor(plot, drawing.move(plot, event.key as ArrowKey));
    return;
  }
  const [xs, ys] = plot.data as [number[], (number | null)[]];
  const from = plot.cursor.idxs?.[1] ?? (direction > 0 ? -1 : xs.length);
  const start = from < 0 || from >= xs.length ? undefined : position(plot, xs[from] as number, ys[from] as number);
  for (let i = from + direction; i >= 0 && i < xs.length; i += direction) {
    const y = ys[i];
    if (y === null || y === undefined) continue;
    const next = position(plot, xs[i] as number, y);
    const far = event.shiftKey ? 40 : 2;
    if (start !== undefined && Math.hypot(next.left - start.left, next.top - start.top) < far) continue;
    moveCursor(plot, next);
    return;
  }
}

/** Moves the cursor, and that of charts that share it: those are as wide, and their x is the same. */
function moveCursor(plot: uPlot, place: { left: number; top: number }): void {
  const key = plot.cursor.sync?.key;
  for (const one of key ? uPlot.sync(key).plots : [plot]) one.setCursor(place);
}

function position(plot: uPlot, x: number, y: number): { left: number; top: number } {
  const [alongX, alongY] = [plot.valToPos(x, "x"), plot.valToPos(y, "y")];
  return plot.scales["x"]?.ori === 1 ? { left: alongY, top: alongX } : { left: alongX, top: alongY };
}

/** A scale that keeps its limits. */
export type Fixed = uPlot.Scale & { limits: [number, number] };

/** A scale for these latencies. */
export const latencyScale = (values: number[], scale: Scale): Fixed => fixed(limits(values, scale), scale);

/** A scale with these limits. */
export const fixed = (of: [number, number], scale: Scale): Fixed => ({
  time: false,
  auto: false,
  distr: scale === "log" ? 3 : 1,
  range: () => of,
  limits: of,
});

/** Moves what a log scale cannot hold, 0, to its lower end; leaves gaps alone. */
export const onScale = <T extends number | null>(values: T[], [low]: [number, number]): T[] =>
  values.map((value) => (value === null || value >= low ? value : (low as T)));

export interface AxisOptions {
  scale: "x" | "y";
  side: "bottom" | "left";
  title: string;
  /** Sets of ticks between two limits, the best first. */
  ticks: (low: number, high: number) => number[][];
  /** Where a value lies on the scale, in any unit; evenly if absent. */
  place?: (low: number, high: number) => (value: number) => number;
  text: (value: number) => string;
  /** The least distance of ticks in pixels, if not the usual one. */
  gap?: number | undefined;
  /** The least width of an upright axis: charts above each other begin at the same place. */
  room?: number;
}

/** The height of a line of text, and the least distance of ticks along an axis at the bottom and up one at the left, px. */
const LINE = 12;
const GAP = { bottom: 52, left: 38 };

/** An axis with its title, a faint grid and nothing else. */
export function axis(colors: Palette, options: AxisOptions): uPlot.Axis {
  const font = `12px ${colors.font}`;
  const left = options.side === "left";
  return {
    scale: options.scale,
    side: left ? 3 : 2,
    label: (u: uPlot) => cut(u.ctx, options.title, left ? u.bbox.height : u.bbox.width),
    labelFont: font,
    labelSize: 22,
    labelGap: 2,
    font,
    stroke: colors.muted,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { show: false },
    gap: 6,
    // Ticks are chosen here, so uPlot must neither look for an increment of its own nor filter a log axis.
    space: 1,
    incrs: [1e-9, 1, 1e9],
    filter: (_, splits) => splits,
    splits: (u, _, low, high) => {
      const length = (left ? u.bbox.height : u.bbox.width) / devicePixelRatio;
      const place = options.place?.(low, high) ?? ((value: number) => value);
      const [from, to] = [place(low), place(high)];
      u.ctx.font = font;
      return spaced(options.ticks(low, high), {
        at: (value) => ((place(value) - from) / (to - from)) * length,
        text: options.text,
        extent: (text) => (left ? LINE : u.ctx.measureText(text).width),
        gap: options.gap ?? GAP[options.side],
        // To the edges of the drawing.
        room: left
          ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
          : [-u.bbox.left / devicePixelRatio, u.width - u.bbox.left / devicePixelRatio - 1],
      });
    },
    values: (_, splits) => splits.map((value) => options.text(value)),
    size: (u, values) => {
      if (!left) return 26;
      u.ctx.font = font;
      return Math.max(options.room ?? 20, ...(values ?? []).map((text) => u.ctx.measureText(text).width + 10));
    },
  };
}

/** A latency axis, log or linear. */
export const latencyAxis = (
  colors: Palette,
  scale: Scale,
  options: Omit<AxisOptions, "ticks" | "text" | "place" | "gap">,
): uPlot.Axis => axis(colors, { ...options, ...spacing(scale, options.side), text: tick });

/** The ticks of an axis, log or linear, where they lie, and how near to each other. */
export const spacing = (scale: Scale, side: AxisOptions["side"]): Pick<AxisOptions, "ticks" | "place" | "gap"> =>
  scale === "log"
    ? { ticks: logTicks, place: () => Math.log, gap: side === "left" ? 26 : undefined }
    : { ticks: linearTicks };

/** The axis of time since the start, in the unit that suits the span. */
export function timeAxis(colors: Palette, span: number): uPlot.Axis {
  const unit = timeUnit(span);
  return axis(colors, {
    scale: "x",
    side: "bottom",
    title: `time since the start (${unit.name})`,
    ticks: (low, high) =>
      linearTicks(low / unit.seconds, high / unit.seconds).map((ticks) => ticks.map((value) => value * unit.seconds)),
    text: (value) => tick(value / unit.seconds),
  });
}

/** What a chart's latency axis is called. */
export const axisTitle = (metric: string, of = ""): string => `${metric}${of} (ms)`;

/** "swift 20.1 ms" for the read-out. */
export const sideValue = (label: string, value: number | null | undefined): string =>
  `${label} ${typeof value === "number" ? `${latency(value)}\u00a0ms` : "no samples"}`;
