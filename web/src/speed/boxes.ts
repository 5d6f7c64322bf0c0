// Latency as box plots: a thin line from the least to the most, a thick one over the middle half, the median, and a dot for every sample.
import { el } from "../dom";
import { ms, tick } from "../format";
import { draw, room, ticks } from "./svg";
import type { During, Latency, On, Spread } from "./types";

interface Row {
  name: string;
  during: During;
  on: On;
  spread: Spread;
}

const NAMES: Record<During, string> = { idle: "line idle", download: "downloading", upload: "uploading" };
const [ROW, LEFT, RIGHT, BOTTOM] = [46, 110, 24, 36];

export function boxes(latency: Latency): HTMLElement {
  const rows = rowsOf(latency);
  if (rows.length === 0) return el("p", {}, "Latency was not measured.");
  const width = room();
  const most = Math.max(...rows.map(({ spread }) => spread.max));
  const along = ticks(most);
  const end = along.at(-1) ?? most;
  const height = rows.length * ROW + BOTTOM;
  const x = (value: number): number => LEFT + (value / end) * (width - LEFT - RIGHT);
  const grid = along.flatMap((value) => [
    draw("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: height - BOTTOM }),
    draw("text", { x: x(value), y: height - 18, "text-anchor": "middle" }, tick(value)),
  ]);
  const title = draw("text", { x: (LEFT + width) / 2, y: height - 3, "text-anchor": "middle" }, "ms");
  const drawn = rows.flatMap((row, number) => {
    const y = number * ROW + ROW / 2;
    const samples = latency.samples.filter(({ during, on }) => during === row.during && on === row.on);
    // Dots beside each other: each a little higher or lower than the one before.
    const dots = samples.map((sample, at) =>
      draw("circle", { class: "dot", cx: x(sample.ms), cy: y + 11 + ((at * 3) % 7) - 3, r: 2 }),
    );
    const line = (from: number, to: number, name: string): SVGElement =>
      draw("line", { class: `${name} ${row.during}`, x1: x(from), x2: x(to), y1: y - 4, y2: y - 4 });
    const { min, p25, p50, p75, max } = row.spread;
    const median = draw("line", { class: "median", x1: x(p50), x2: x(p50), y1: y - 12, y2: y + 4 });
    const name = draw("text", { x: 0, y }, row.name);
    return [name, line(min, max, "thin"), line(p25, p75, "thick"), median, ...dots];
  });
  const said = rows.map(({ name, spread }) => `${name}: median ${ms(spread.p50)}, from ${ms(spread.min)} to ${ms(spread.max)}`);
  const label = `Latency. ${said.join("; ")}.`;
  return el(
    "figure",
    {},
    draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...grid, title, ...drawn),
    el("figcaption", {}, "Thin: least to most; thick: the middle half; upright: the median; a dot for every sample."),
  );
}

function rowsOf(latency: Latency): Row[] {
  const loaded = latency.loaded.map(({ during, on, ms: spread }) => ({ name: NAMES[during], during, on, spread }));
  const twice = (during: During): boolean => loaded.filter((row) => row.during === during).length > 1;
  const named = loaded.map((row) => ({ ...row, name: twice(row.during) ? `${row.name}, ${row.on}` : row.name }));
  const idle: Row[] =
    latency.idle_ms === null ? [] : [{ name: NAMES.idle, during: "idle", on: "same", spread: latency.idle_ms }];
  return [...idle, ...named];
}
