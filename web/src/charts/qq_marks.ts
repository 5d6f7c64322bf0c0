// Marks of a QQ plot: the diagonal of equality, a dot for each percentile, and the faster side on each side
// of the diagonal.
import type uPlot from "uplot";
import { short } from "../format";
import { dense, Labels, type Point } from "./labels";
import type { Palette } from "./palette";

/** Percentiles with labels. */
export const LABELLED = [50, 90, 99, 99.9];

export function diagonal(u: uPlot, colors: Palette, [low, high]: [number, number]): void {
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = colors.muted;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(u.valToPos(low, "x", true), u.valToPos(low, "y", true));
  ctx.lineTo(u.valToPos(high, "x", true), u.valToPos(high, "y", true));
  ctx.stroke();
  ctx.restore();
}

export interface Marks {
  at: (percent: number) => [number, number];
  thin: (percent: number) => boolean;
}

type Two = [first: string, other: string];

/**
 * A dot for each whole percentile, and a larger one with a label for the important ones: in the colour of the
 * faster side, hollow where samples are few.
 */
export function drawMarks(u: uPlot, colors: Palette, marks: Marks, [first, other]: Two, [firstColor, otherColor]: Two): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const low = u.scales["x"]?.min ?? 0;
  const dot = (percent: number, radius: number): Point => {
    const [a, b] = marks.at(percent);
    const [x, y] = [u.valToPos(Math.max(a, low), "x", true), u.valToPos(Math.max(b, low), "y", true)];
    ctx.strokeStyle = a < b ? firstColor : otherColor;
    ctx.fillStyle = marks.thin(percent) ? colors.surface : ctx.strokeStyle;
    ctx.beginPath();
    ctx.arc(x, y, radius * scale, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    return [x, y];
  };
  ctx.save();
  ctx.lineWidth = 1.5 * scale;
  for (let percent = 1; percent < 100; percent++) dot(percent, 1.8);
  const points = LABELLED.map((percent) => ({ percent, point: dot(percent, 5) }));
  ctx.restore();
  const [xs, ys] = u.data as [number[], number[]];
  const curve = dense(xs.map((x, i) => [u.valToPos(x, "x", true), u.valToPos(ys[i] ?? 0, "y", true)] as const));
  const corners = { right: bbox.left + bbox.width, bottom: bbox.top + bbox.height };
  const equal = dense([
    [bbox.left, corners.bottom],
    [corners.right, bbox.top],
  ]);
  const labels = new Labels(u, colors, [...curve, ...equal]);
  for (const { point } of points) labels.keepOff(point, 7);
  for (const together of onOneSpot(points)) {
    const [low, high] = [together[0] as Dot, together.at(-1) as Dot];
    const until = together.length > 1 ? ` to p${high.percent}` : "";
    labels.place(`p${low.percent}${until}${marks.thin(high.percent) ? "~" : ""}`, [low.point]);
  }
  labels.place(`${short(first, 16)} faster`, along(bbox.left, bbox.top, 1), { muted: true, dot: firstColor });
  labels.place(`${short(other, 16)} faster`, along(corners.right, corners.bottom, -1), {
    muted: true,
    dot: otherColor,
  });
}

interface Dot {
  percent: number;
  point: Point;
}

/** Groups of adjacent dots at the same position; each group has one label. */
function onOneSpot(dots: Dot[]): Dot[][] {
  const groups: Dot[][] = [];
  for (const dot of dots) {
    const before = groups.at(-1)?.at(-1);
    const near = before && Math.hypot(before.point[0] - dot.point[0], before.point[1] - dot.point[1]) < 8 * devicePixelRatio;
    if (near) groups.at(-1)?.push(dot);
    else groups.push([dot]);
  }
  return groups;
}

/** Anchors from a corner of the plot inwards, nearest first. */
function along(x: number, y: number, direction: 1 | -1): Point[] {
  const step = 10 * devicePixelRatio * direction;
  return Array.from({ length: 12 }, (_, i) => [x, y + step * i] as const);
}
