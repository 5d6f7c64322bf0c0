// What was done when, as bands behind a timeline: those of one name look alike, and each is named above where it fits.
import type uPlot from "uplot";
import type { Phase } from "../figure_types";
import { cut } from "./labels";
import type { Palette } from "./palette";

/** Height of the row of names above the plot, CSS pixels. */
export const PHASE_ROW = 22;

/** A name takes no more of the row than this, CSS pixels. */
const WIDEST = 120;

/** Shades the phases, under whatever is drawn. The first name stays pale, unless it is the only one. */
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

/** Names the phases above the plot: all of them, or where those have no room, the first of each name. */
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

/** Where the names stand in the font of the drawing: over their middle, or right of the one before; not all have room. */
function places(u: uPlot, phases: Phase[]): { label: string; middle: number }[] {
  let free = Number.NEGATIVE_INFINITY;
  return phases.flatMap((phase) => {
    const [left, right] = ends(u, phase);
    const label = cut(u.ctx, phase.label, WIDEST * devicePixelRatio);
    const half = u.ctx.measureText(label).width / 2;
    // Within the drawing, which begins left of the plot.
    const middle = Math.max((left + right) / 2, free + half, half + devicePixelRatio);
    if (middle > right) return [];
    free = middle + half + 5 * devicePixelRatio;
    return [{ label, middle }];
  });
}

/** Where a phase begins and ends in the plot, in canvas pixels. */
function ends(u: uPlot, { from_s: from, to_s: to }: Phase): [left: number, right: number] {
  const { left, width } = u.bbox;
  const within = (seconds: number): number =>
    Math.min(left + width, Math.max(left, u.valToPos(seconds, "x", true)));
  return [within(from), within(to)];
}
