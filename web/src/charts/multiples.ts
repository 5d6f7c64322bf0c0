// Small charts of the same axes, side by side: a line of the same name has the same colour in all of them.
import type { Line, Multiples } from "../figure_types";
import { short } from "../format";
import { aligned, figureAxis, leftRoom, scaleOf, valueOf, valuesOf } from "./figure_axes";
import { type Frame, say } from "./frame";
import { LETTERS, nameRoom } from "./labels";
import { palette } from "./palette";
import { draw } from "./plot";
import { nameEnds, stroke } from "./timeline";

/** Draws each of the charts into its frame. */
export function multiples(boxes: Frame[], panel: Multiples): void {
  const colors = palette();
  const lines = panel.charts.flatMap((chart) => chart.lines);
  const names = [...new Set(lines.map(({ name }) => name))];
  const scales = { x: scaleOf(panel.x, lines.flatMap(({ x }) => x)), y: scaleOf(panel.y, valuesOf(lines)) };
  const left = leftRoom([{ of: panel.y, scale: scales.y }], SMALL_HEIGHT);
  const right = nameRoom(names.map((name) => short(name, LETTERS)));
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
          ...own.map((line) => ({
            ...stroke(line, colorOf(line)),
            points: { show: line.look !== "dashed", size: 5, stroke: colorOf(line), fill: colorOf(line) },
          })),
        ],
        hooks: { draw: [(u) => nameEnds(u, colors, own, colorOf)] },
      },
      read: (index, u) => {
        const values = own.map(({ name }, line) => `${name} ${valueOf(panel.y, u.data[line + 1]?.[index])}`);
        return `${panel.x.title} ${valueOf(panel.x, u.data[0][index])}: ${values.join(" \u00b7 ")}`;
      },
    });
  });
}

export const SMALL_HEIGHT = 230;
