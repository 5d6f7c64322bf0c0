// Lines that are dotted where they rest on few samples, like the marks in the tables.
import type uPlot from "uplot";
import type { Point } from "./labels";

/** The addition to a chart's sentence that explains dotted lines. */
export const THIN_NOTE = " ~ and dotted: fewer than 10 samples beyond.";

/** A series that uPlot reads values from but does not draw. */
export const undrawn = (stroke: string): uPlot.Series => ({ stroke, paths: () => null, points: { show: false } });

/** Draws a line through points in canvas pixels within the plot, dotted from the entry `from`. */
export function drawThinning(u: uPlot, color: string, points: Point[], from: number): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  // Half a line width beyond the plot, so that lines on its edge are not clipped.
  ctx.rect(bbox.left - scale, bbox.top - scale, bbox.width + 2 * scale, bbox.height + 2 * scale);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = 2 * scale;
  ctx.lineJoin = "round";
  const [only] = points;
  if (points.length === 1 && only !== undefined) {
    ctx.fillStyle = color;
    ctx.beginPath();
    ctx.arc(...only, 3.5 * scale, 0, 2 * Math.PI);
    ctx.fill();
  }
  const thick = points.slice(0, Math.max(0, from));
  const thin = points.slice(Math.max(0, from - 1));
  for (const [part, dash] of [
    [thick, []],
    [from < points.length ? thin : [], [2.5 * scale, 3.5 * scale]],
  ] as const) {
    ctx.setLineDash(dash);
    ctx.beginPath();
    part.forEach(([x, y], i) => (i === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
    ctx.stroke();
  }
  ctx.restore();
}

/** The index of the first of ascending shares above which fewer than 10 samples remain; `thinAbove` in
 * percent. */
export function thinIndex(shares: number[], thinAbove: number): number {
  const first = shares.findIndex((share) => share * 100 >= thinAbove - 1e-9);
  return first < 0 ? shares.length : first;
}
