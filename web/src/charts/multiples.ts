// Small multiples: charts with the same axes side by side. Lines with the same name have the same colour.
import type uPlot from "uplot";
import type { Line, Multiples } from "../figure_types";
import { short } from "../format";
import { aligned, figureAxis, leftRoom, scaleOf, valueOf, valuesOf } from "./figure_axes";
import { type Frame, say } from "./frame";
import { LETTERS, nameRoom } from "./labels";
import { palette } from "./palette";
import { draw } from "./plot";
import { nameEnds, stroke } from "./timeline";

/** Draws each chart into its frame. */
export function multiples(boxes: Frame[], panel: Multiples): void {
  const colors = palette();
  const lines = panel.charts.flatMap((chart) => chart.lines);
  const names = [...new Set(lines.map(({ name }) => name))];
  const scales = { x: scaleOf(panel.x, lines.flatMap(({ x }) => x)), y: scaleOf(panel.y, valuesOf(lines)) };
  const left = leftRoom([{ of: panel.y, scale: scales.y }]);
  const above = namedAbove(panel);
  const right = above ? 16 : nameRoom(names.map((name) => short(name, LETTERS)));
  const colorOf = ({ name }: Line): string => colors.side(names.indexOf(name));
  boxes.forEach((box, i) => {
    const own = panel.charts[i]?.lines ?? [];
    say(box, valuesOf(own).length === 0 ? "Not measured." : "");
    draw(box, {
      data: aligned(own, scales.y),
      options: {
        padding: [8, right, 0, 0],
        scales,
        axes: [figureAxis(colors, panel.x, "bottom"), figureAxis(colors, panel.y, "left", left)],
        series: [
          {},
          ...own.map((line) =>
            line.look === "crosses"
              ? { stroke: colorOf(line), paths: () => null, points: { show: false } }
              : {
                  ...stroke(line, colorOf(line)),
                  points: { show: line.look !== "dashed", size: 5, stroke: colorOf(line), fill: colorOf(line) },
                },
          ),
        ],
        hooks: { draw: [(u) => crosses(u, own, colorOf), (u) => !above && nameEnds(u, colors, own, colorOf)] },
      },
      read: (index, u) => {
        const values = own.flatMap(({ name, look }, line) => {
          const value = u.data[line + 1]?.[index];
          if (look === "crosses" && typeof value !== "number") return [];
          return [`${name}${look === "crosses" ? " INVALID" : ""} ${valueOf(panel.y, value)}`];
        });
        return `${panel.x.title} ${valueOf(panel.x, u.data[0][index])}: ${values.join(" \u00b7 ")}`;
      },
    });
  });
}

/** Whether names are too long for the line ends, so that they are listed above all charts. */
export const namedAbove = ({ charts }: Multiples): boolean =>
  charts.some(({ lines }) => lines.some(({ name }) => name.length > LETTERS));

/** The legend above the charts: names with their colour index, if listed there, and whether there are
 * crosses. */
export function legendOf(panel: Multiples): { names: string[]; crosses: boolean } {
  const lines = panel.charts.flatMap((chart) => chart.lines);
  const names = namedAbove(panel) ? [...new Set(lines.map(({ name }) => name))] : [];
  return { names, crosses: lines.some(({ look, y }) => look === "crosses" && y.some((value) => value !== null)) };
}

/** Draws invalid values as crosses in the colour of their setting, without a line. */
function crosses(u: uPlot, lines: Line[], colorOf: (line: Line) => string): void {
  const { ctx } = u;
  const half = 4.5 * devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 2.2 * devicePixelRatio;
  lines.forEach((line, i) => {
    if (line.look !== "crosses") return;
    ctx.strokeStyle = colorOf(line);
    ctx.beginPath();
    (u.data[i + 1] as (number | null)[]).forEach((value, at) => {
      if (typeof value !== "number") return;
      const [x, y] = [u.valToPos(u.data[0][at] as number, "x", true), u.valToPos(value, "y", true)];
      for (const rise of [half, -half]) {
        ctx.moveTo(x - half, y + rise);
        ctx.lineTo(x + half, y - rise);
      }
    });
    ctx.stroke();
  });
  ctx.restore();
}

export const SMALL_HEIGHT = 230;
