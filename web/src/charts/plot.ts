// Connects a drawing to uPlot: draws it when it becomes visible, keeps the width of its frame, and reads
// values by mouse and keyboard.
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
  /** The read-out for an index of the data, or for the cursor. */
  read: (index: number, u: uPlot) => string;
  /** The cursor position after an arrow key, if not along the first line. */
  move?: (u: uPlot, key: ArrowKey) => { left: number; top: number };
}

export type ArrowKey = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** The latest drawing of a frame, and the plot on the page. */
interface Mounted {
  box: Frame;
  drawing: Drawing;
  inSight: boolean;
  /** The plot on the page; outdated if it is out of sight. */
  plot: uPlot | undefined;
  stale: boolean;
}

const mounted = new Map<Element, Mounted>();
const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) fit(entry.target);
});
/** A page with many sides has dozens of charts; charts out of sight are not drawn. */
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

/** Draws into a frame, replacing the previous drawing: immediately if it is visible, otherwise when it
 * becomes visible. */
export function draw(box: Frame, drawing: Drawing): void {
  let one = mounted.get(box.plot);
  if (one === undefined) {
    one = { box, drawing, inSight: false, plot: undefined, stale: true };
    mounted.set(box.plot, one);
    // Reserves the space, so that nothing below moves when the chart is drawn.
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
      // Without rounding to pixels, which would turn a slope into a staircase.
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

/** Draws and fits every chart immediately: print shows all charts, and changes the layout without an event. */
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

/** Moves the cursor along the first line to the next point on a different pixel. */
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

/** Moves the cursor, and that of charts that share it, which have the same width and x axis. */
function moveCursor(plot: uPlot, place: { left: number; top: number }): void {
  const key = plot.cursor.sync?.key;
  for (const one of key ? uPlot.sync(key).plots : [plot]) one.setCursor(place);
}

function position(plot: uPlot, x: number, y: number): { left: number; top: number } {
  const [alongX, alongY] = [plot.valToPos(x, "x"), plot.valToPos(y, "y")];
  return plot.scales["x"]?.ori === 1 ? { left: alongY, top: alongX } : { left: alongX, top: alongY };
}

/** A scale with fixed limits. */
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

/** Moves values that a log scale cannot show, such as 0, to its lower end; keeps gaps. */
export const onScale = <T extends number | null>(values: T[], [low]: [number, number]): T[] =>
  values.map((value) => (value === null || value >= low ? value : (low as T)));

export interface AxisOptions {
  scale: "x" | "y";
  side: "bottom" | "left";
  title: string;
  /** Sets of ticks between two limits, best first. */
  ticks: (low: number, high: number) => number[][];
  /** Position of a value on the scale, in any unit; linear if absent. */
  place?: (low: number, high: number) => (value: number) => number;
  text: (value: number) => string;
  /** Minimum distance of ticks in pixels, if not the default. */
  gap?: number | undefined;
  /** Minimum width of a vertical axis, so that charts above each other start at the same position. */
  room?: number;
}

/** Height of a line of text, and minimum distance of ticks on horizontal and vertical axes, px. */
const LINE = 12;
const GAP = { bottom: 52, left: 38 };

/** An axis with its title and a faint grid. */
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
    // Ticks are chosen here, so uPlot must neither look for an increment nor filter a log axis.
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

/** The ticks of a log or linear axis, their positions, and their minimum distance. */
export const spacing = (scale: Scale, side: AxisOptions["side"]): Pick<AxisOptions, "ticks" | "place" | "gap"> =>
  scale === "log"
    ? { ticks: logTicks, place: () => Math.log, gap: side === "left" ? 26 : undefined }
    : { ticks: linearTicks };

/** The axis of time since the start, in a unit suitable for the span. */
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

/** The title of a latency axis. */
export const axisTitle = (metric: string, of = ""): string => `${metric}${of} (ms)`;

/** "swift 20.1 ms" for the read-out. */
export const sideValue = (label: string, value: number | null | undefined): string =>
  `${label} ${typeof value === "number" ? `${latency(value)}\u00a0ms` : "no samples"}`;
