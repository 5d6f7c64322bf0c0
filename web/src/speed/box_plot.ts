// Box plots, one per row: a thin line from minimum to maximum, a thick line over the middle half, the median,
// and a dot for each given sample.
import { el } from "../dom";
import { figure, tick } from "../format";
import { draw, fit, room, ticks } from "./svg";
import type { During, Spread } from "./types";

export interface Box {
  name: string;
  spread: Spread;
  /** Its colour. */
  tone: During;
  dots: number[];
}

const [RIGHT, BOTTOM] = [24, 36];
/** Width of a letter, and margin to the right of a name. */
const [LETTER, BESIDE] = [6.6, 16];

/** `what` is the label for screen readers. */
export function boxPlot(what: string, unit: string, rows: Box[], caption: string): HTMLElement {
  const figure = el("figure", {});
  fit(figure, () => [picture(what, unit, rows), el("figcaption", {}, caption)]);
  return figure;
}

function picture(what: string, unit: string, rows: Box[]): SVGElement {
  const width = room();
  const left = Math.max(...rows.map(({ name }) => name.length)) * LETTER + BESIDE;
  // Dots need room below their box.
  const high = rows.some(({ dots }) => dots.length > 0) ? 46 : 30;
  const most = Math.max(...rows.map(({ spread }) => spread.max));
  const along = ticks(most);
  const end = along.at(-1) ?? most;
  const height = rows.length * high + BOTTOM;
  const x = (value: number): number => left + (value / end) * (width - left - RIGHT);
  const grid = along.flatMap((value) => [
    draw("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: height - BOTTOM }),
    draw("text", { x: x(value), y: height - 18, "text-anchor": "middle" }, tick(value)),
  ]);
  const title = draw("text", { x: (left + width) / 2, y: height - 3, "text-anchor": "middle" }, unit);
  const drawn = rows.flatMap(({ name, spread, tone, dots }, number) => {
    const y = number * high + high / 2;
    // Adjacent dots have different heights, so that they overlap less.
    const marks = dots.map((value, at) =>
      draw("circle", { class: "dot", cx: x(value), cy: y + 11 + ((at * 3) % 7) - 3, r: 2 }),
    );
    const line = (from: number, to: number, kind: string): SVGElement =>
      draw("line", { class: `${kind} ${tone}`, x1: x(from), x2: x(to), y1: y - 4, y2: y - 4 });
    const { min, p25, p50, p75, max } = spread;
    const median = draw("line", { class: "median", x1: x(p50), x2: x(p50), y1: y - 12, y2: y + 4 });
    return [draw("text", { x: 0, y }, name), line(min, max, "thin"), line(p25, p75, "thick"), median, ...marks];
  });
  const said = rows.map(
    ({ name, spread: { p50, min, max } }) =>
      `${name}: median ${figure(p50)} ${unit}, from ${figure(min)} to ${figure(max)}`,
  );
  const label = `${what}. ${said.join("; ")}.`;
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...grid, title, ...drawn);
}
