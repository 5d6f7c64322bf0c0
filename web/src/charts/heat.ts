// Latency distribution over time: a cell for each time interval and latency class, coloured by its share of
// the interval's samples. One panel per side, all with the same scales; cells without samples have no colour.
import type uPlot from "uplot";
import { count, elapsed, latency, share } from "../format";
import { heatSentence } from "../sentences/time";
import type { Heat, Report } from "../types";
import { type Frame, say } from "./frame";
import { faultMoments, type Moment, MOMENT_ROW, momentBrackets, momentLabels, rowsOf, shiftMoments } from "./moments";
import { type Palette, palette } from "./palette";
import { type ArrowKey, axisTitle, draw, latencyAxis, timeAxis } from "./plot";
import { ramp } from "./ramp";

const PADDING_RIGHT = 22;
/** Start of the colour scale, so that a single sample among thousands is visible. */
const FAINTEST = 0.06;

/** The rows of a heat map as latencies for a log scale. */
interface Grid {
  heat: Heat;
  rows: number;
  /** `edges_ms`, with 0 and infinity replaced by an edge at the usual distance from its neighbour. */
  edges: number[];
  /** Samples in each interval. */
  totals: number[];
}

/** The grid of each side; undefined without times. */
export function grids(report: Report): (Grid | undefined)[] {
  return report.charts.map(({ heat }) => (heat && heat.intervals > 0 && heat.edges_ms.length > 1 ? grid(heat) : undefined));
}

function grid(heat: Heat): Grid {
  const rows = heat.edges_ms.length - 1;
  const edges = [...heat.edges_ms];
  const [second = 1, third = 2] = edges.slice(1);
  const step = edges.length > 3 && third > second && second > 0 ? Math.min(10, third / second) : 1.26;
  if (!(edges[0] && edges[0] > 0)) edges[0] = second / step;
  // JSON has no infinity: an edge without a number is unbounded.
  const last = edges[rows];
  if (typeof last !== "number" || !Number.isFinite(last)) edges[rows] = (edges[rows - 1] ?? 1) * step;
  const totals = Array.from({ length: heat.intervals }, (_, i) =>
    heat.counts.slice(i * rows, (i + 1) * rows).reduce((sum, one) => sum + one, 0),
  );
  return { heat, rows, edges, totals };
}

/** The largest share of any cell of any side: the end of the colour scale. */
export function largestShare(all: (Grid | undefined)[]): number {
  let most = 0;
  for (const one of all) {
    one?.heat.counts.forEach((n, i) => {
      const total = one.totals[Math.floor(i / one.rows)] ?? 0;
      if (n > 0) most = Math.max(most, n / total);
    });
  }
  return most;
}

/** Position of a share on the colour scale: its square root, because most cells have small shares. */
export const depth = (part: number, most: number): number => FAINTEST + (1 - FAINTEST) * Math.sqrt(part / most);

const momentsOf = (report: Report, side: number): Moment[] => [
  ...faultMoments(report),
  ...shiftMoments(report.comparison.sides[side]?.shifts ?? []),
];

/** Height of a panel, equal for all panels. */
export const heatHeight = (report: Report): number =>
  340 + MOMENT_ROW * Math.max(0, ...report.charts.map((_, side) => rowsOf(momentsOf(report, side))));

/** Draws one side's panel; it must have a heat map. */
export function heat(box: Frame, report: Report, side: number): void {
  const all = grids(report);
  const one = all[side];
  if (one === undefined) return;
  const present = all.filter((other) => other !== undefined);
  const most = largestShare(all);
  const colors = palette();
  const low = Math.min(...present.map((other) => other.edges[0] as number));
  const high = Math.max(...present.map((other) => other.edges[other.rows] as number));
  const start = Math.min(...present.map(({ heat: found }) => found.start_s));
  const end = Math.max(...present.map(({ heat: found }) => found.start_s + found.intervals * found.interval_s));
  const moments = momentsOf(report, side);
  const height = Math.max(0, ...report.charts.map((_, i) => rowsOf(momentsOf(report, i))));
  const middles = one.totals.map((_, i) => startOf(one, i + 0.5));
  say(box, heatSentence(one.heat, report.comparison.sides[side]?.shifts ?? [], most));
  draw(box, {
    data: [middles, middles.map((_, i) => middleOf(one, densest(one, i)))],
    options: {
      padding: [8 + MOMENT_ROW * height, PADDING_RIGHT, 0, 0],
      scales: {
        x: { time: false, auto: false, range: () => [start, end] },
        y: { time: false, auto: false, distr: 3, range: () => [low, high] },
      },
      axes: [
        timeAxis(colors, end - start),
        latencyAxis(colors, "log", { scale: "y", side: "left", title: axisTitle(report.metric) }),
      ],
      series: [{}, { stroke: "transparent", points: { show: false } }],
      cursor: { sync: { key: "heat", scales: ["x", "y"] }, points: { show: false } },
      hooks: {
        drawAxes: [
          (u) => drawCells(u, colors, one, most),
          (u) => momentBrackets(u, colors, moments, [start, end]),
          (u) => momentLabels(u, colors, moments, [start, end], { room: PADDING_RIGHT, poles: "top" }),
        ],
      },
    },
    read: (_, u) => cellText(one, ...cellAt(u, one), end - start),
    move: (u, key) => moved(u, one, key),
  });
}

function drawCells(u: uPlot, colors: Palette, one: Grid, most: number): void {
  const { ctx } = u;
  const { rows, edges, totals, heat: { counts } } = one;
  const tops = edges.map((edge) => Math.round(u.valToPos(edge, "y", true)));
  ctx.save();
  totals.forEach((total, i) => {
    if (total === 0) return;
    const left = Math.round(u.valToPos(startOf(one, i), "x", true));
    const right = Math.round(u.valToPos(startOf(one, i + 1), "x", true));
    for (let row = 0; row < rows; row++) {
      const n = counts[i * rows + row] ?? 0;
      if (n === 0) continue;
      const [bottom, top] = [tops[row] as number, tops[row + 1] as number];
      ctx.fillStyle = ramp(depth(n / total, most), colors.dark);
      ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
    }
  });
  ctx.restore();
}

/** Start of an interval in seconds since the start of the measurement; a fractional `interval` is a time
 * within an interval. */
const startOf = ({ heat: { start_s, interval_s } }: Grid, interval: number): number => start_s + interval * interval_s;

type Cell = [interval: number, row: number];

function densest({ heat: { counts }, rows }: Grid, interval: number): number {
  let best = 0;
  for (let row = 1; row < rows; row++) {
    if ((counts[interval * rows + row] ?? 0) > (counts[interval * rows + best] ?? 0)) best = row;
  }
  return best;
}

const middleOf = ({ edges }: Grid, row: number): number => Math.sqrt((edges[row] as number) * (edges[row + 1] as number));

/** The cell under the cursor. */
function cellAt(u: uPlot, { heat: { start_s, interval_s, intervals }, rows, edges }: Grid): Cell {
  const at = (u.posToVal(u.cursor.left ?? 0, "x") - start_s) / interval_s;
  const value = u.posToVal(u.cursor.top ?? 0, "y");
  const above = edges.findIndex((edge, i) => i > 0 && value < edge);
  return [Math.min(intervals - 1, Math.max(0, Math.floor(at))), above < 0 ? rows - 1 : above - 1];
}

/** The centre of the next cell in the direction of the key; without a cursor, the densest cell of the first
 * interval. */
function moved(u: uPlot, one: Grid, key: ArrowKey): { left: number; top: number } {
  let cell: Cell = [0, densest(one, 0)];
  if ((u.cursor.left ?? -1) >= 0) {
    const [interval, row] = cellAt(u, one);
    const [right, up] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key] as Cell;
    cell = [
      Math.min(one.heat.intervals - 1, Math.max(0, interval + right)),
      Math.min(one.rows - 1, Math.max(0, row + up)),
    ];
  }
  return {
    left: u.valToPos(startOf(one, cell[0] + 0.5), "x"),
    top: u.valToPos(middleOf(one, cell[1]), "y"),
  };
}

function cellText(one: Grid, interval: number, row: number, span: number): string {
  const { rows, totals, heat: { counts, edges_ms } } = one;
  const n = counts[interval * rows + row] ?? 0;
  const total = totals[interval] ?? 0;
  const [from, to] = [edges_ms[row], edges_ms[row + 1]];
  const upper = typeof to === "number" && Number.isFinite(to) ? `${latency(from)} to ${latency(to)}` : `${latency(from)} and more`;
  const where = `from ${elapsed(startOf(one, interval), span)}, ${upper}\u00a0ms: `;
  if (total === 0) return `${where}no samples in this interval`;
  return `${where}${count(n)} of ${count(total)} samples (${share(n / total)})`;
}
