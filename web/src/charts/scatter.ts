// Single events as points in classes, with summaries over them and failures above; adjacent charts share
// their limits.
import uPlot from "uplot";
import type { Line, Scatter } from "../figure_types";
import { count, short } from "../format";
import { figureAxis, scaleOf, valueOf, valuesOf } from "./figure_axes";
import { type Frame, say } from "./frame";
import { dense, endLabels, Labels, LETTERS, nameRoom, type Point } from "./labels";
import { type Palette, palette } from "./palette";
import { draw, type Fixed } from "./plot";

/** Draws scatter plots with the same axes, each into its frame. */
export function scatters(boxes: Frame[], panels: Scatter[]): void {
  const [first] = panels;
  if (first === undefined) return;
  const xs = panels.flatMap(({ classes, lines, marks }) => [...classes, ...lines, ...marks].flatMap(({ x }) => x));
  const ys = panels.flatMap(({ classes, lines }) => [...classes.flatMap(({ y }) => y), ...valuesOf(lines)]);
  const scales = { x: scaleOf(first.x, xs), y: scaleOf(first.y, ys) };
  const room = { right: nameRoom(panels.flatMap(namesOf)), rows: Math.max(...panels.map(({ marks }) => marks.length)) };
  boxes.forEach((box, i) => {
    const panel = panels[i];
    if (panel) one(box, panel, scales, room);
  });
}

/** `room`: the width to the right of the plot in CSS pixels, and the number of rows of marks above it. */
function one(
  box: Frame,
  panel: Scatter,
  scales: { x: Fixed; y: Fixed },
  room: { right: number; rows: number },
): void {
  const colors = palette();
  // Sorted by x, which uPlot needs to find the point at the cursor.
  const all = panel.classes
    .flatMap(({ x, y, name }) => x.map((at, i) => ({ x: at, y: y[i] ?? 0, name })))
    .toSorted((a, b) => a.x - b.x);
  const data: uPlot.AlignedData = [all.map(({ x }) => x), all.map(({ y }) => y)];
  say(box, panel.sentence);
  draw(box, {
    data,
    options: {
      padding: [MARK_ROW * room.rows + 8, room.right, 0, 0],
      scales,
      axes: [figureAxis(colors, panel.x, "bottom"), figureAxis(colors, panel.y, "left")],
      // Points are drawn in the draw hook; uPlot only finds the nearest point.
      series: [{}, { stroke: colors.ink, paths: () => null, points: { show: false } }],
      cursor: { y: false },
      hooks: { draw: [(u) => drawAll(u, colors, panel, scales)] },
    },
    read: (index) => {
      const { x, y, name } = all[index] ?? { x: 0, y: 0, name: "" };
      return `${panel.x.title} ${valueOf(panel.x, x)}: ${name} ${valueOf(panel.y, y)}`;
    },
  });
}

/** Names to the right of the plot. */
const namesOf = ({ lines, marks }: Scatter): string[] => [
  ...lines.map(({ name }) => short(name, LETTERS)),
  ...marks.map(({ name, count: many }) => `${count(many)} ${name}`),
];

function drawAll(u: uPlot, colors: Palette, panel: Scatter, { y: { limits } }: { y: Fixed }): void {
  const place = (x: number, y: number): Point => [
    u.valToPos(x, "x", true),
    u.valToPos(Math.max(y, limits[0]), "y", true),
  ];
  const classes = panel.classes.map(({ x, y }) => x.map((at, i) => place(at, y[i] ?? 0)));
  drawPoints(u, colors, classes);
  const lines = panel.lines.map((line) => line.x.map((x, i) => placed(place, x, line.y[i])));
  panel.lines.forEach((line, i) => summary(u, colors, line, lines[i] ?? []));
  const ends = panel.lines.flatMap(({ name }, i) => {
    const last = lines[i]?.findLast((point) => point !== undefined);
    return last === undefined ? [] : [{ text: short(name, LETTERS), y: last[1] }];
  });
  endLabels(u, colors, ends);
  drawMarks(u, colors, panel);
  nameClasses(u, colors, panel, classes, lines.flatMap((line) => dense(line.filter((point) => point !== undefined))));
}

/** From the left, regardless of the class, so that no class covers another completely. */
function drawPoints({ ctx }: uPlot, colors: Palette, classes: Point[][]): void {
  const points = classes.flatMap((own, i) => own.map(([x, y]) => ({ x, y, color: i })));
  const all = classes.map((_, i) => colors.side(i));
  ctx.save();
  ctx.globalAlpha = 0.6;
  for (const { x, y, color } of points.toSorted((a, b) => a.x - b.x)) {
    ctx.fillStyle = all[color] ?? colors.ink;
    ctx.beginPath();
    ctx.arc(x, y, 1.5 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}

const placed = (place: (x: number, y: number) => Point, x: number, y: number | null | undefined): Point | undefined =>
  typeof y === "number" ? place(x, y) : undefined;

/** Draws a summary line over the points, interrupted where it has no value. */
function summary(u: uPlot, colors: Palette, line: Line, places: (Point | undefined)[]): void {
  const { ctx } = u;
  const scale = devicePixelRatio;
  const path = new Path2D();
  let before: Point | undefined;
  for (const next of places) {
    if (next !== undefined) {
      if (before === undefined) path.moveTo(...next);
      else if (line.look === "steps") path.lineTo(next[0], before[1]);
      path.lineTo(...next);
    }
    before = next;
  }
  ctx.save();
  ctx.lineJoin = "round";
  // With a pale edge, so that the line is visible on points of any colour.
  for (const [color, width] of [
    [colors.surface, 4.5],
    [colors.ink, 1.8],
  ] as const) {
    ctx.strokeStyle = color;
    ctx.lineWidth = width * scale;
    if (color === colors.ink && line.look === "dashed") ctx.setLineDash([6 * scale, 4 * scale]);
    ctx.stroke(path);
  }
  ctx.restore();
}

/** Marks above the plot, a row for each kind, with their number. */
function drawMarks(u: uPlot, colors: Palette, { marks }: Scatter): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${12 * scale}px ${colors.font}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.bad;
  marks.forEach(({ name, count: many, x: at }, i) => {
    const middle = bbox.top - (MARK_ROW * (marks.length - i - 0.5) + 2) * scale;
    for (const x of at) ctx.fillRect(u.valToPos(x, "x", true) - 0.5 * scale, middle - 5 * scale, scale, 10 * scale);
    ctx.fillText(`${count(many)} ${name}`, bbox.left + bbox.width + 6 * scale, middle);
  });
  ctx.restore();
}

/** Labels each class next to its points, away from the others if there is room. */
function nameClasses(u: uPlot, colors: Palette, { classes }: Scatter, places: Point[][], lines: Point[]): void {
  const some = places.map((points) => thinned(points, 1500));
  const labels = new Labels(u, colors, [...some.flat(), ...lines]);
  classes.forEach(({ name }, i) => {
    const others = some.filter((_, other) => other !== i).flat();
    labels.place(name, thinned(places[i] ?? [], 60), { dot: colors.side(i) }, others);
  });
}

const thinned = <T>(all: T[], most: number): T[] =>
  all.filter((_, i) => all.length <= most || i % Math.ceil(all.length / most) === 0);

/** Height of a row of marks, CSS pixels. */
const MARK_ROW = 18;
