// Lines over time; timelines above each other have the same time axis and share their cursor.
import uPlot from "uplot";
import type { Line, Phase, Timeline } from "../figure_types";
import { elapsed, short } from "../format";
import { aligned, figureAxis, leftRoom, scaleOf, secondsAxis, valueAt, valueOf, valuesOf } from "./figure_axes";
import { type Frame, say } from "./frame";
import { endLabels, LETTERS, nameRoom } from "./labels";
import { phaseBands, phaseNames, PHASE_ROW } from "./phase_bands";
import { type Palette, palette } from "./palette";
import { draw, fixed, type Fixed } from "./plot";

/** Draws stacked timelines, each into its frame; `key` identifies the shared cursor, `colorOf` returns the
 * colour index of a line if it is not the index of the line. */
export function timelines(
  boxes: Frame[],
  panels: Timeline[],
  key: string,
  colorOf?: (line: string) => number,
): void {
  const span = spanOf(panels);
  const scaled = panels.map((panel) => ({ of: panel.y, scale: scaleOf(panel.y, valuesOf(panel.lines)) }));
  const left = leftRoom(scaled);
  const right = nameRoom(panels.flatMap(({ lines }) => lines.map(({ name }) => short(name, LETTERS))));
  boxes.forEach((box, i) => {
    const [panel, y] = [panels[i], scaled[i]?.scale];
    if (panel && y) one(box, panel, { span, left, right, y, key, lowest: i === boxes.length - 1, colorOf });
  });
}

interface Place {
  span: Span;
  /** Room to the left and to the right of the plot, CSS pixels. */
  left: number;
  right: number;
  y: Fixed;
  key: string;
  lowest: boolean;
  /** The colour index of a line by its name; the index of the line if absent. */
  colorOf: ((line: string) => number) | undefined;
}

type Span = [start: number, end: number];

function one(box: Frame, panel: Timeline, { span, left, right, y, key, lowest, colorOf }: Place): void {
  const colors = palette();
  const color = (line: Line, i: number): string => colors.side(colorOf?.(line.name) ?? i);
  const [start, end] = span;
  say(box, panel.sentence);
  draw(box, {
    data: aligned(panel.lines, y),
    options: {
      padding: [panel.phases.length > 0 ? PHASE_ROW : 8, right, 0, 0],
      scales: { x: fixed(span, "linear"), y },
      axes: [secondsAxis(colors, lowest), figureAxis(colors, panel.y, "left", left)],
      series: [{}, ...panel.lines.map((line, i) => stroke(line, color(line, i)))],
      cursor: { y: false, sync: { key } },
      hooks: {
        drawClear: [(u) => phaseBands(u, colors, phasesOf(panel, span))],
        draw: [
          (u) => phaseNames(u, colors, phasesOf(panel, span)),
          (u) => nameEnds(u, colors, panel.lines, color),
        ],
      },
    },
    read: (_, u) => {
      const at = u.posToVal(u.cursor.left ?? 0, "x");
      const values = panel.lines.map((line) => `${line.name} ${valueOf(panel.y, valueAt(line, at))}`);
      const phase = panel.phases.find(({ from_s: from, to_s: to }) => from <= at && at < to);
      const meanwhile = phase === undefined ? "" : ` (${phase.label})`;
      return `at ${elapsed(at, end - start)}${meanwhile}: ${values.join(" \u00b7 ")}`;
    },
  });
}

/** The style of a line. */
export const stroke = ({ look }: Line, color: string): uPlot.Series => ({
  stroke: color,
  width: 1.6,
  points: { show: false },
  ...(look === "dashed" ? { dash: [6, 4] } : {}),
  ...(look === "steps" && stepped ? { paths: stepped } : {}),
});

const stepped = uPlot.paths.stepped?.({ align: 1 });

/** Labels each line of the plot at its end. */
export function nameEnds(u: uPlot, colors: Palette, lines: Line[], colorOf = (_: Line, i: number) => colors.side(i)): void {
  // A line and its crosses share a name, which is written at the end of the line.
  const own = (line: Line): Line | undefined =>
    lines.filter(({ name }) => name === line.name).toSorted((a, b) => Number(a.look === "crosses") - Number(b.look === "crosses"))[0];
  const ends = lines.flatMap((line, i) => {
    if (line.look === "crosses" && own(line) !== line) return [];
    const last = (u.data[i + 1] as (number | null)[]).findLast((value) => typeof value === "number");
    if (typeof last !== "number") return [];
    return [{ text: short(line.name, LETTERS), y: u.valToPos(last, "y", true), dot: colorOf(line, i) }];
  });
  endLabels(u, colors, ends);
}

/** From the first to the last x of all panels. */
function spanOf(panels: Timeline[]): Span {
  const ends = panels.flatMap(({ lines, phases }) => [
    ...lines.flatMap(({ x }) => [x[0], x.at(-1)]),
    ...phases.flatMap(({ from_s: from, to_s: to }) => [from, to]),
  ]);
  const known = ends.filter((value) => typeof value === "number");
  const [start, end] = [Math.min(...known), Math.max(...known)];
  return end > start ? [start, end] : [0, 1];
}

const phasesOf = ({ phases }: Timeline, [start, end]: Span): Phase[] =>
  phases.filter(({ from_s: from, to_s: to }) => from < end && to > start);

export const TIMELINE_HEIGHT = 220;
