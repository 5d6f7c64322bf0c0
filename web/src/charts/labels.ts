// Label placement: finds a position for each label where it covers neither a line nor another label.
import type uPlot from "uplot";
import type { Palette } from "./palette";

export type Point = readonly [x: number, y: number];

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Style {
  /** Colour of a dot before the text. */
  dot?: string;
  muted?: boolean;
}

const SIZE = 12;
/** Distances of a label from its anchor in CSS pixels: a line has many anchors, a point only one. */
const NEAR = [8];
const NEAR_TO_FAR = [8, 22, 38];

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;

/** The number of points within a margin around the box. */
function hits(box: Box, points: Point[], margin: number): number {
  const [left, right] = [box.left - margin, box.left + box.width + margin];
  const [top, bottom] = [box.top - margin, box.top + box.height + margin];
  return points.filter(([x, y]) => x > left && x < right && y > top && y < bottom).length;
}

/** All sizes are canvas pixels, like `u.bbox` and `valToPos(..., true)`. */
export class Labels {
  private readonly taken: Box[] = [];
  private readonly scale = devicePixelRatio;

  constructor(
    private readonly u: uPlot,
    private readonly colors: Palette,
    private readonly obstacles: Point[],
  ) {}

  /** Keeps labels off a dot with this radius in CSS pixels. */
  keepOff([x, y]: Point, radius: number): void {
    const half = radius * this.scale;
    this.taken.push({ left: x - half, top: y - half, width: 2 * half, height: 2 * half });
  }

  /**
   * Writes the text next to the best of these anchors, or not at all if there is no free position. Keeps a
   * distance from the points of `others`, so that it is not read as their label.
   */
  place(whole: string, anchors: readonly Point[], style: Style = {}, others: Point[] = []): void {
    const { ctx } = this.u;
    const font = `${style.muted ? "italic " : ""}${SIZE * this.scale}px ${this.colors.font}`;
    ctx.font = font;
    const dot = style.dot === undefined ? 0 : 12 * this.scale;
    const text = cut(ctx, whole, this.u.bbox.width / 2 - dot);
    const width = ctx.measureText(text).width + dot;
    let best: { box: Box; cost: number } | undefined;
    anchors.forEach((anchor, i) => {
      this.around(anchor, width, anchors.length === 1 ? NEAR_TO_FAR : NEAR).forEach((box, nearness) => {
        // Among equals, earlier anchors and shorter distances are preferred; crossing a line costs more than
        // both.
        const cost = this.cost(box, others) * 1000 + i + nearness / 100;
        if (cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { box, cost };
      });
    });
    if (best === undefined) return;
    this.taken.push(best.box);
    if (anchors.length === 1 && anchors[0] !== undefined) this.lead(anchors[0], best.box);
    ctx.font = font;
    this.write(text, best.box, dot, style);
  }

  /** Positions around an anchor, best first: right, above, below, left, then the corners. */
  private around([x, y]: Point, width: number, distances: number[]): Box[] {
    const height = SIZE * 1.35 * this.scale;
    return distances.flatMap((distance) => {
      const gap = distance * this.scale;
      const [right, center, left] = [x + gap, x - width / 2, x - gap - width];
      const [above, middle, below] = [y - gap - height, y - height / 2, y + gap];
      const places = [
        [right, middle],
        [center, above],
        [center, below],
        [left, middle],
        [right, above],
        [right, below],
        [left, above],
        [left, below],
      ];
      return places.map(([boxLeft = 0, top = 0]) => ({ left: boxLeft, top, width, height }));
    });
  }

  private cost(box: Box, others: Point[]): number {
    const { left, top, width, height } = this.u.bbox;
    const inside =
      box.left >= left &&
      box.top >= top &&
      box.left + box.width <= left + width &&
      box.top + box.height <= top + height;
    if (!inside || this.taken.some((other) => overlap(box, other))) return Number.POSITIVE_INFINITY;
    return hits(box, this.obstacles, 3 * this.scale) + hits(box, others, 16 * this.scale);
  }

  /** A thin line to a label at a larger distance, to show which point it belongs to. */
  private lead([x, y]: Point, box: Box): void {
    const [toX, toY] = [
      Math.min(Math.max(x, box.left), box.left + box.width),
      Math.min(Math.max(y, box.top), box.top + box.height),
    ];
    if (Math.hypot(toX - x, toY - y) < 14 * this.scale) return;
    const { ctx } = this.u;
    ctx.save();
    ctx.strokeStyle = this.colors.muted;
    ctx.lineWidth = this.scale;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(toX, toY);
    ctx.stroke();
    ctx.restore();
  }

  private write(text: string, box: Box, dot: number, style: Style): void {
    const { ctx } = this.u;
    const middle = box.top + box.height / 2;
    ctx.save();
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.lineJoin = "round";
    ctx.lineWidth = 4 * this.scale;
    ctx.strokeStyle = this.colors.surface;
    ctx.strokeText(text, box.left + dot, middle);
    ctx.fillStyle = style.muted ? this.colors.muted : this.colors.ink;
    ctx.fillText(text, box.left + dot, middle);
    if (style.dot !== undefined) {
      ctx.fillStyle = style.dot;
      ctx.beginPath();
      ctx.arc(box.left + dot / 3, middle, 4 * this.scale, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
  }
}

/** A text shortened at its end to this width in the font of the drawing. */
export function cut(ctx: CanvasRenderingContext2D, text: string, room: number): string {
  if (ctx.measureText(text).width <= room) return text;
  let kept = text;
  while (kept !== "" && ctx.measureText(`${kept}\u2026`).width > room) kept = kept.slice(0, -1);
  return kept === "" ? "" : `${kept.trimEnd()}\u2026`;
}

/** More points than the longest line on a screen has. */
const MOST_STEPS = 2000;

/** A line as points at most a few pixels apart: obstacles and anchors for labels. */
export function dense(points: Point[]): Point[] {
  const step = 4 * devicePixelRatio;
  const result: Point[] = [];
  points.forEach((point, i) => {
    const before = points[i - 1];
    if (before !== undefined) {
      const distance = Math.hypot(point[0] - before[0], point[1] - before[1]);
      // A segment outside of the plot may end millions of pixels away.
      const stride = Math.max(step, distance / MOST_STEPS);
      for (let walked = stride; walked < distance; walked += stride) {
        const part = walked / distance;
        result.push([before[0] + (point[0] - before[0]) * part, before[1] + (point[1] - before[1]) * part]);
      }
    }
    const last = result.at(-1);
    if (last === undefined || Math.hypot(point[0] - last[0], point[1] - last[1]) >= step / 2) result.push(point);
  });
  return result;
}

/** Width of a letter of a name and of the dot before it. */
const LETTER = 7;
const DOT = 24;
/** Maximum number of letters of a name next to a narrow drawing. */
export const LETTERS = 12;

/** Width that `endLabels` needs to the right of the plot for these names, in CSS pixels. */
export const nameRoom = (names: string[]): number => DOT + LETTER * Math.max(0, ...names.map((name) => name.length));

export interface EndLabel {
  text: string;
  y: number;
  /** Colour of a dot before the text. */
  dot?: string;
}

/**
 * Writes labels to the right of the plot at the heights of their lines, moved apart where they overlap.
 * Labels that do not fit are counted.
 */
export function endLabels(u: uPlot, colors: Palette, ends: EndLabel[]): void {
  const scale = devicePixelRatio;
  const line = SIZE * 1.2 * scale;
  let sorted = ends.toSorted((a, b) => a.y - b.y);
  const rows = Math.max(1, Math.floor(u.bbox.height / line) + 1);
  if (sorted.length > rows) {
    const more = { text: `${sorted.length - rows + 1} more`, y: u.bbox.top + u.bbox.height };
    sorted = [...sorted.slice(0, rows - 1), more];
  }
  const heights = apart(
    sorted.map((end) => end.y),
    line,
    [u.bbox.top, u.bbox.top + u.bbox.height],
  );
  const { ctx } = u;
  ctx.save();
  ctx.font = `${SIZE * scale}px ${colors.font}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  sorted.forEach((end, i) => {
    const [x, y] = [u.bbox.left + u.bbox.width + 6 * scale, heights[i] ?? end.y];
    if (end.dot !== undefined) {
      ctx.fillStyle = end.dot;
      ctx.fillRect(x, y - 5 * scale, 10 * scale, 10 * scale);
    }
    ctx.fillStyle = colors.ink;
    const at = end.dot === undefined ? x : x + 15 * scale;
    ctx.fillText(cut(ctx, end.text, ctx.canvas.width - at - 2 * scale), at, y);
  });
  ctx.restore();
}

/** Ascending heights with a minimum distance of one text line and minimal movement: overlapping labels share
 * their middle. */
function apart(heights: number[], line: number, [top, bottom]: [number, number]): number[] {
  interface Group {
    middle: number;
    size: number;
  }
  const within = ({ middle, size }: Group): Group => {
    const half = ((size - 1) / 2) * line;
    return { middle: Math.max(top + half, Math.min(bottom - half, middle)), size };
  };
  const groups: Group[] = [];
  for (const height of heights) {
    let group = within({ middle: height, size: 1 });
    for (let above = groups.at(-1); above !== undefined; above = groups.at(-1)) {
      if (group.middle - above.middle >= ((group.size + above.size) / 2) * line) break;
      groups.pop();
      const size = group.size + above.size;
      group = within({ middle: (group.middle * group.size + above.middle * above.size) / size, size });
    }
    groups.push(group);
  }
  return groups.flatMap(({ middle, size }) =>
    Array.from({ length: size }, (_, i) => middle + (i - (size - 1) / 2) * line),
  );
}
