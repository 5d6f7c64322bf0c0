// Confidence bands: the area between the ends of the intervals along a line, hatched where an end is not bounded.
import type uPlot from "uplot";
import { quantile } from "../quantiles";
import type { Point } from "./labels";

/** The interval at one place of the line, in canvas pixels. */
export interface Station {
  low: Point;
  high: Point;
  /** Whether an end is the plot's edge because the samples cannot bound it. */
  open: boolean;
}

/** A stretch without bounds that is shorter than this, in CSS pixels, is a scratch on the axis and no message. */
const LEAST_OPEN = 5;

/** Beneath the lines: stations in the order of the line. */
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

/** Stretches of the band that are bounded or not: where they meet, both have the station, so that no gap opens. */
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

/** Columns of interval ends over shares, as functions of the share; undefined where an end is not bounded. */
export interface EndsAt {
  low: (share: number) => number | undefined;
  high: (share: number) => number | undefined;
}

/** Interpolates linearly between entries; next to an end that is not bounded there is nothing to interpolate to. */
export function endsAt(band: { share: number[]; ci_ms: (readonly [number | null, number | null])[] }): EndsAt {
  const end = (index: 0 | 1) => {
    // NaN stands for an end that is not bounded: whatever is interpolated from it is NaN too.
    const column = { share: band.share, latency_ms: band.ci_ms.map((ci) => ci[index] ?? Number.NaN) };
    return (share: number): number | undefined => {
      const value = quantile(column, share);
      return value === undefined || Number.isNaN(value) ? undefined : value;
    };
  };
  return { low: end(0), high: end(1) };
}

/** What a sentence adds for a band. */
export function bandNote(level: number | undefined, open: boolean): string {
  if (level === undefined) return "";
  const hatched = open ? ", hatched where the samples cannot bound it" : "";
  return ` Band: the ${Number((level * 100).toPrecision(4))}\u00a0% interval of each percentile${hatched}.`;
}
