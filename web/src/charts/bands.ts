// Confidence bands: the area between the interval ends along a line, hatched where an end is unbounded.
import type uPlot from "uplot";
import { quantile } from "../quantiles";
import type { Point } from "./labels";

/** The interval at one position of the line, in canvas pixels. */
export interface Station {
  low: Point;
  high: Point;
  /** Whether an end is the edge of the plot because the samples do not bound it. */
  open: boolean;
}

/** An unbounded stretch shorter than this, in CSS pixels, is not drawn: it would look like a drawing error. */
const LEAST_OPEN = 5;

/** Draws a band below the lines, from stations in the order of the line. */
export function drawBand(u: uPlot, color: string, stations: Station[], along: "x" | "y"): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const axis = along === "x" ? 0 : 1;
  for (const { run, open } of runs(stations)) {
    const length = Math.abs((run.at(-1)?.low[axis] ?? 0) - (run[0]?.low[axis] ?? 0));
    if (open && length < LEAST_OPEN * devicePixelRatio) continue;
    ctx.beginPath();
    run.forEach(({ low: [x, y] }, i) => (i === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
    for (const { high } of run.toReversed()) ctx.lineTo(...high);
    ctx.closePath();
    ctx.globalAlpha = open ? 0.5 : 0.2;
    ctx.fillStyle = open ? hatching(ctx, color) : color;
    ctx.fill();
  }
  ctx.restore();
}

/** Splits the band into bounded and unbounded stretches. Adjacent stretches share a station, so that there is
 * no gap. */
function runs(stations: Station[]): { run: Station[]; open: boolean }[] {
  const found: { run: Station[]; open: boolean }[] = [];
  stations.forEach((station, i) => {
    const before = stations[i - 1];
    if (before === undefined) return;
    const open = before.open || station.open;
    const last = found.at(-1);
    if (last?.open === open) last.run.push(station);
    else found.push({ run: [before, station], open });
  });
  return found;
}

function hatching(ctx: CanvasRenderingContext2D, color: string): CanvasPattern | string {
  const size = Math.round(7 * devicePixelRatio);
  const tile = document.createElement("canvas");
  [tile.width, tile.height] = [size, size];
  const pen = tile.getContext("2d");
  if (pen === null) return color;
  pen.strokeStyle = color;
  pen.lineWidth = devicePixelRatio;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size);
    pen.lineTo(shift + size, 0);
  }
  pen.stroke();
  return ctx.createPattern(tile, "repeat") ?? color;
}

/** Interval ends as functions of the share; undefined where an end is unbounded. */
export interface EndsAt {
  low: (share: number) => number | undefined;
  high: (share: number) => number | undefined;
}

/** Interpolates linearly between entries; undefined next to an unbounded end. */
export function endsAt(band: { share: number[]; ci_ms: (readonly [number | null, number | null])[] }): EndsAt {
  const end = (index: 0 | 1) => {
    // NaN represents an unbounded end, because every interpolation with NaN is NaN.
    const column = { share: band.share, latency_ms: band.ci_ms.map((ci) => ci[index] ?? Number.NaN) };
    return (share: number): number | undefined => {
      const value = quantile(column, share);
      return value === undefined || Number.isNaN(value) ? undefined : value;
    };
  };
  return { low: end(0), high: end(1) };
}

/** The addition to a chart's sentence that explains its band. */
export function bandNote(level: number | undefined, open: boolean): string {
  if (level === undefined) return "";
  const hatched = open ? ", hatched where the samples do not bound it" : "";
  return ` Band: the ${Number((level * 100).toPrecision(4))}\u00a0% interval of each percentile${hatched}.`;
}
