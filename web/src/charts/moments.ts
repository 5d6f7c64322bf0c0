// Events on charts over time: faults as bands and latency shifts as lines, each with a label above.
import type uPlot from "uplot";
import { latency, ms, short } from "../format";
import type { Report, Shift } from "../types";
import { cut } from "./labels";
import type { Palette } from "./palette";

export interface Moment {
  text: string;
  /** Seconds since the start. */
  from: number;
  /** Absent if it lasted to the end; equal to `from` for an instant. */
  until?: number | undefined;
  kind: "fault" | "shift";
}

/** Height of a label's row in CSS pixels. */
export const MOMENT_ROW = 17;
/** Up to this number, each event has a label in a separate row; more events are numbered in one row. */
const MOST_ROWS = 4;

export const rowsOf = (moments: Moment[]): number => (moments.length > MOST_ROWS ? 1 : moments.length);

export const faultMoments = (report: Report): Moment[] =>
  report.faults.map((fault) => ({
    text: fault.label,
    from: fault.at_s,
    until: fault.until_s ?? undefined,
    kind: "fault",
  }));

export const shiftMoments = (shifts: Shift[]): Moment[] =>
  shifts.map((shift) => ({
    text: `${latency(shift.before_ms)} \u2192 ${ms(shift.after_ms)}`,
    from: shift.at_s,
    until: shift.at_s,
    kind: "shift",
  }));

interface Placed {
  left: number;
  right: number;
  /** Top of its label's row. */
  top: number;
  text: string;
  color: string;
}

type Span = [start: number, end: number];

/** In canvas pixels, without events outside of the span. The numbers are those in the tables of faults and
 * shifts. */
function place(u: uPlot, colors: Palette, moments: Moment[], [start, end]: Span): Placed[] {
  const rows = rowsOf(moments);
  const numbered = moments.length > rows;
  return moments.flatMap((moment, i) => {
    const until = moment.until ?? end;
    if (moment.from > end || until < start) return [];
    const number = moments.slice(0, i + 1).filter((other) => other.kind === moment.kind).length;
    return [
      {
        left: u.valToPos(Math.max(start, moment.from), "x", true),
        right: u.valToPos(Math.min(end, until), "x", true),
        top: u.bbox.top - MOMENT_ROW * devicePixelRatio * (numbered ? 1 : rows - i),
        text: numbered ? `${moment.kind === "fault" ? "" : "s"}${number}` : short(moment.text, 40),
        color: moment.kind === "fault" ? colors.fault : colors.ink,
      },
    ];
  });
}

/** Shades the time of each event, below the drawing. */
export function momentBands(u: uPlot, colors: Palette, moments: Moment[], span: Span): void {
  const { ctx, bbox } = u;
  // One path, so that overlapping bands are not darker.
  const area = new Path2D();
  for (const { left, right } of place(u, colors, moments, span)) {
    area.rect(left, bbox.top, Math.max(devicePixelRatio, right - left), bbox.height);
  }
  ctx.save();
  ctx.fillStyle = colors.fault;
  ctx.globalAlpha = 0.16;
  ctx.fill(area);
  ctx.restore();
}

/** Draws a bracket for the time of each event; heat maps cannot be shaded without changing their colours. */
export function momentBrackets(u: uPlot, colors: Palette, moments: Moment[], span: Span): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  for (const { left, right, color } of place(u, colors, moments, span)) {
    ctx.setLineDash(left === right ? [5 * scale, 4 * scale] : []);
    // With a second, pale line, so that one of the two is visible on any colour.
    for (const [stroke, shift] of [
      [colors.surface, 1.5],
      [color, 0],
    ] as const) {
      ctx.strokeStyle = stroke;
      ctx.lineWidth = 1.5 * scale;
      ctx.beginPath();
      for (const x of new Set([left, right])) {
        ctx.moveTo(x + shift * scale, bbox.top);
        ctx.lineTo(x + shift * scale, bbox.top + bbox.height);
      }
      ctx.stroke();
    }
    ctx.fillStyle = color;
    if (right > left) ctx.fillRect(left, bbox.top, right - left, 3 * scale);
  }
  ctx.restore();
}

/**
 * Labels the events in rows above the plot, each with a vertical line down to `poles`; `room` is the width to
 * the right of the plot, in CSS pixels.
 */
export function momentLabels(
  u: uPlot,
  colors: Palette,
  moments: Moment[],
  span: Span,
  { room, poles }: { room: number; poles: "top" | "bottom" },
): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const row = MOMENT_ROW * scale;
  ctx.save();
  ctx.font = `${12 * scale}px ${colors.font}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4 * scale;
  ctx.strokeStyle = colors.surface;
  const edge = bbox.left + bbox.width + room * scale;
  for (const { left, top, text: whole, color } of place(u, colors, moments, span)) {
    const text = cut(ctx, whole, edge - 6 * scale);
    const beside = left + 5 * scale;
    const at = Math.max(3 * scale, Math.min(beside, edge - 3 * scale - ctx.measureText(text).width));
    // The vertical line extends up to its label, unless the label was moved.
    const pole = at < beside ? top + row : top;
    ctx.fillStyle = color;
    const foot = bbox.top + (poles === "top" ? 0 : bbox.height);
    ctx.fillRect(left - (poles === "top" ? 0.75 * scale : 0), pole, 1.5 * scale, foot - pole);
    ctx.strokeText(text, at, top + row / 2);
    ctx.fillStyle = colors.ink;
    ctx.fillText(text, at, top + row / 2);
  }
  ctx.restore();
}
