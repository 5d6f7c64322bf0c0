// Single events as points in classes, with their summaries over them and what failed above; neighbours share their limits.
import uPlot from "uplot";
import type { Line, Scatter } from "../figure_types";
import { count, short } from "../format";
import { figureAxis, scaleOf, valueOf, valuesOf } from "./figure_axes";
import { type Frame, say } from "./frame";
import { endLabels, Labels, LETTERS, nameRoom, type Point } from "./labels";
import { type Palette, palette } from "./palette";
import { draw, type Fixed } from "./plot";

/** Draws scatters of the same axes, each into its frame. */
export function scatters(boxes: Frame[], panels: Scatter[]): void {
  const [first] = panels;
  if (first === undefined) return;
  const xs = panels.flatMap(({ classes, lines, marks }) => [...classes, ...lines, ...marks].flatMap(({ x }) => x));
  const ys = panels.flatMap(({ classes, lines }) => [...classes.flatMap(({ y }) => y), ...valuesOf(lines)]);
  const scales = { x: scaleOf(first.x, xs), y: scaleOf(first.y, ys) };
  boxes.forEach((box, i) => {
    const panel = panels[i];
    if (panel) one(box, panel, scales);
  });
}

function one(box: Frame, panel: Scatter, scales: { x: Fixed; y: Fixed }): void {
  const colors = palette();
  // By x, as uPlot finds what the cursor points at.
  const all = panel.classes
    .flatMap(({ x, y, name }) => x.map((at, i) => ({ x: at, y: y[i] ?? 0, name })))
    .toSorted((a, b) => a.x - b.x);
  const data: uPlot.AlignedData = [all.map(({ x }) => x), all.map(({ y }) => y)];
  say(box, panel.sentence);
  draw(box, {
    data,
    options: {
      padding: [MARK_ROW * panel.marks.length + 8, nameRoom(namesOf(panel)), 0, 0],
      scales,
      axes: [figureAxis(colors, panel.x, "bottom"), figureAxis(colors, panel.y, "left")],
      // Points are drawn below: uPlot knows where they are and finds the nearest.
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

/** The names that stand to the right of the plot. */
const namesOf = ({ lines, marks }: Scatter): string[] => [
  ...lines.map(({ name }) => short(name, LETTERS)),
  ...marks.map(({ name, count: many }) => `${count(many)} ${name}`),
];

function drawAll(u: uPlot, colors: Palette, panel: Scatter, { y: { limits } }: { y: Fixed }): void {
  const scale = devicePixelRatio;
  const place = (x: number, y: number): Point => [
    u.valToPos(x, "x", true),
    u.valToPos(Math.max(y, limits[0]), "y", true),
  ];
  const classes = panel.classes.map(({ x, y }) => x.map((at, i) => place(at, y[i] ?? 0)));
  const { ctx } = u;
  ctx.save();
  classes.forEach((points, i) => {
    ctx.fillStyle = colors.side(i);
    ctx.globalAlpha = 0.6;
    for (const [x, y] of points) {
      ctx.beginPath();
      ctx.arc(x, y, 1.5 * scale, 0, 2 * Math.PI);
      ctx.fill();
    }
  });
  ctx.restore();
  const ends = panel.lines.flatMap((line) => summary(u, colors, line, place));
  endLabels(u, colors, ends);
  drawMarks(u, colors, panel);
  nameClasses(u, colors, panel, classes);
}

/** Draws a summary over the points, and says where its name stands. */
function summary(u: uPlot, colors: Palette, line: Line, place: (x: number, y: number) => Point): { text: string; y: number }[] {
  const { ctx } = u;
  const scale = devicePixelRatio;
  const path = new Path2D();
  let before: Point | undefined;
  line.x.forEach((x, i) => {
    const y = line.y[i];
    const next = typeof y === "number" ? place(x, y) : undefined;
    if (next !== undefined) {
      if (before === undefined) path.moveTo(...next);
      else if (line.look === "steps") path.lineTo(next[0], before[1]);
      path.lineTo(...next);
    }
    before = next;
  });
  ctx.save();
  ctx.lineJoin = "round";
  // A pale rim: the line is seen on points of any colour.
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
  const last = line.y.findLast((value) => typeof value === "number");
  return typeof last === "number" ? [{ text: short(line.name, LETTERS), y: place(0, last)[1] }] : [];
}

/** Strokes above the plot, a row for each kind, and how many there are. */
function drawMarks(u: uPlot, colors: Palette, { marks }: Scatter): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.font = `${12 * scale}px ${colors.font}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.bad;
  marks.forEach(({ name, count: many, x: at }, i) => {
    const middle = bbox.top - (MARK_ROW * (marks.length - i - 0.5) + 2) * scale;
    for (const x of at) ctx.fillRect(u.valToPos(x, "x", true) - 0.5 * scale, middle - 5 * scale, scale, 10 * scale);
    ctx.fillText(`${count(many)} ${name}`, bbox.left + bbox.width + 6 * scale, middle);
  });
  ctx.restore();
}

/** Names each class beside its own points, clear of the others where there is room. */
function nameClasses(u: uPlot, colors: Palette, { classes }: Scatter, places: Point[][]): void {
  const some = places.map((points) => thinned(points, 1500));
  const labels = new Labels(u, colors, some.flat());
  classes.forEach(({ name }, i) => {
    const others = some.filter((_, other) => other !== i).flat();
    labels.place(name, thinned(places[i] ?? [], 60), { dot: colors.side(i) }, others);
  });
}

const thinned = <T>(all: T[], most: number): T[] =>
  all.filter((_, i) => all.length <= most || i % Math.ceil(all.length / most) === 0);

/** Height of a row of marks, CSS pixels. */
const MARK_ROW = 18;
