// Phases of a measurement as bands behind a timeline: phases with the same name look alike, and are labelled
// above if there is room.
import type uPlot from "uplot";
import type { Phase } from "../figure_types";
import { cut } from "./labels";
import type { Palette } from "./palette";

/** Height of the row of names above the plot, CSS pixels. */
export const PHASE_ROW = 22;

/** Maximum width of a name, CSS pixels. */
const WIDEST = 120;

/** Shades the phases below the drawing. Phases with the first name have no shade, unless it is the only name. */
export function phaseBands(u: uPlot, colors: Palette, phases: Phase[]): void {
  const names = [...new Set(phases.map(({ label }) => label))];
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = colors.muted;
  for (const phase of phases) {
    const [left, right] = ends(u, phase);
    ctx.globalAlpha = Math.min(0.3, 0.12 * (names.indexOf(phase.label) + (names.length === 1 ? 1 : 0)));
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

/** Labels all phases above the plot, or, if there is too little room, the first phase of each name. */
export function phaseNames(u: uPlot, colors: Palette, phases: Phase[]): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${12 * scale}px ${colors.font}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.muted;
  const firsts = phases.filter(({ label }, i) => phases.findIndex((other) => other.label === label) === i);
  const all = places(u, phases);
  for (const { label, middle } of all.length === phases.length ? all : places(u, firsts)) {
    ctx.fillText(label, middle, bbox.top - (PHASE_ROW / 2) * scale);
  }
  ctx.restore();
}

/** Positions of the names: over the middle of the phase, or right of the previous name. Names without room
 * are omitted. */
function places(u: uPlot, phases: Phase[]): { label: string; middle: number }[] {
  let free = Number.NEGATIVE_INFINITY;
  return phases.flatMap((phase) => {
    const [left, right] = ends(u, phase);
    const label = cut(u.ctx, phase.label, WIDEST * devicePixelRatio);
    const half = u.ctx.measureText(label).width / 2;
    // Within the drawing, which starts left of the plot.
    const middle = Math.max((left + right) / 2, free + half, half + devicePixelRatio);
    if (middle > right) return [];
    free = middle + half + 5 * devicePixelRatio;
    return [{ label, middle }];
  });
}

/** Start and end of a phase in the plot, in canvas pixels. */
function ends(u: uPlot, { from_s: from, to_s: to }: Phase): [left: number, right: number] {
  const { left, width } = u.bbox;
  const within = (seconds: number): number =>
    Math.min(left + width, Math.max(left, u.valToPos(seconds, "x", true)));
  return [within(from), within(to)];
}
