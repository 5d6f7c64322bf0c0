// QQ of two sides: a point for each percentile, (first, other), with the diagonal on which both are equal. The effective
// QQ is the same curve with the percentiles of people on it instead of those of requests.
import type uPlot from "uplot";
import { ms, percentile, short } from "../format";
import { chosenPage, experiencedThinAbove, isThin } from "../page";
import { commonShares, peopleShare, quantile, requestShare } from "../quantiles";
import { effectiveSentence, qqSentence } from "../sentences";
import type { State } from "../store";
import type { Report } from "../types";
import { type Frame, say } from "./frame";
import { dense, Labels, type Point } from "./labels";
import { type Palette, palette } from "./palette";
import { axisTitle, draw, latencyAxis, latencyScale, onScale, sideValue } from "./plot";

const LABELLED = [50, 90, 99, 99.9];
/** The effective QQ starts at this share of people: the curve below it is met by nobody and would squeeze the rest. */
const FIRST_SHARE = 0.001;

/** The QQ of single requests. */
export function qq(box: Frame, report: Report, state: State): void {
  drawPairs(box, report, state, { sentence: qqSentence(report, state.other), effective: 1, from: 0 });
}

/** The QQ of what people experience on the chosen page. */
export function effectiveQq(box: Frame, report: Report, state: State): void {
  const page = chosenPage(report, state);
  const sentence = effectiveSentence(report, state.other, page);
  drawPairs(box, report, state, { sentence, effective: page.effective, from: FIRST_SHARE });
}

interface Pairs {
  /** Share of people, or of requests if one is all that they need. */
  shares: number[];
  first: number[];
  other: number[];
}

interface Kind {
  sentence: string;
  /** How many requests each person needs. */
  effective: number;
  /** The share of people at which the curve starts. */
  from: number;
}

function drawPairs(box: Frame, report: Report, state: State, { sentence, effective, from }: Kind): void {
  const [first, other] = [report.charts[0], report.charts[state.other]];
  if (first === undefined || other === undefined) return;
  const colors = palette();
  const at = (side: typeof first, people: number): number =>
    quantile(side.quantiles, requestShare(people, effective)) ?? 0;
  const lowest = requestShare(from, effective);
  const requests = [lowest, ...commonShares([first.quantiles, other.quantiles]).filter((share) => share > lowest)];
  const shares = requests.map((share) => peopleShare(share, effective));
  const pairs: Pairs = {
    shares,
    first: requests.map((share) => quantile(first.quantiles, share) ?? 0),
    other: requests.map((share) => quantile(other.quantiles, share) ?? 0),
  };
  const scale = latencyScale([...pairs.first, ...pairs.other], state.qq);
  const thinAbove = Math.min(...[0, state.other].map((i) => report.comparison.sides[i]?.thin_above ?? 100));
  const marks = {
    at: (percent: number): [number, number] => [at(first, percent / 100), at(other, percent / 100)],
    thin: (percent: number) => isThin(percent, experiencedThinAbove(thinAbove, effective)),
  };
  const thin = LABELLED.some(marks.thin) ? " \u2020 and hollow points: fewer than 10 samples beyond." : "";
  say(box, sentence + thin);
  const [of, who] = from === 0 ? ["", ""] : [", experienced", " of visitors"];
  draw(box, {
    data: [onScale(pairs.first, scale.limits), onScale(pairs.other, scale.limits)],
    options: {
      padding: [10, 16, 0, 0],
      scales: { x: { ...scale }, y: { ...scale } },
      axes: [
        latencyAxis(colors, state.qq, {
          scale: "x",
          side: "bottom",
          title: `${short(first.label)}: ${axisTitle(report.metric, of)}`,
        }),
        latencyAxis(colors, state.qq, {
          scale: "y",
          side: "left",
          title: `${short(other.label)}: ${axisTitle(report.metric, of)}`,
        }),
      ],
      series: [{}, { stroke: colors.muted, width: 1.5, points: { show: false } }],
      cursor: {
        // The crosshair goes through the point that is read out, not through the pointer.
        move: (u, left, top) => {
          const index = left < 0 ? null : nearest(u, left, top);
          return index === null ? [left, top] : pointAt(u, index);
        },
        dataIdx: (u) => nearest(u, u.cursor.left ?? -1, u.cursor.top ?? -1),
        points: { size: 9 },
      },
      hooks: {
        drawAxes: [(u) => diagonal(u, colors, scale.limits)],
        draw: [
          (u) => drawMarks(u, colors, marks, [first.label, other.label], [colors.side(0), colors.side(state.other)]),
        ],
      },
    },
    read: (index) => {
      const [a, b] = [pairs.first[index] ?? 0, pairs.other[index] ?? 0];
      const faster = a === b ? "equal" : `${a < b ? first.label : other.label} faster by ${ms(Math.abs(a - b))}`;
      return `p${percentile((pairs.shares[index] ?? 0) * 100)}${who}: ${sideValue(first.label, a)} \u00b7 ${sideValue(other.label, b)} \u00b7 ${faster}`;
    },
  });
}

/** Where a point lies in CSS pixels. */
function pointAt(u: uPlot, index: number): [number, number] {
  const [xs, ys] = u.data as [number[], number[]];
  return [u.valToPos(xs[index] ?? 0, "x"), u.valToPos(ys[index] ?? 0, "y")];
}

/** The index of the point nearest to a place: many points may share an x where the first side stands still. */
function nearest(u: uPlot, left: number, top: number): number | null {
  if (left < 0) return null;
  let best: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < u.data[0].length; i++) {
    const [x, y] = pointAt(u, i);
    const distance = Math.hypot(x - left, y - top);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

function diagonal(u: uPlot, colors: Palette, [low, high]: [number, number]): void {
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

interface Marks {
  at: (percent: number) => [number, number];
  thin: (percent: number) => boolean;
}

type Two = [first: string, other: string];

/**
 * A dot for each whole percentile, a larger one with its name for those that are spoken of: in the colour of the side
 * that is faster there, hollow where samples are few.
 */
function drawMarks(u: uPlot, colors: Palette, marks: Marks, [first, other]: Two, [firstColor, otherColor]: Two): void {
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
  for (const { percent, point } of points) labels.place(`p${percent}${marks.thin(percent) ? " \u2020" : ""}`, [point]);
  labels.place(`${short(first, 16)} faster`, along(bbox.left, bbox.top, 1), { muted: true, dot: firstColor });
  labels.place(`${short(other, 16)} faster`, along(corners.right, corners.bottom, -1), {
    muted: true,
    dot: otherColor,
  });
}

/** Anchors from a corner of the plot inwards, nearest first. */
function along(x: number, y: number, direction: 1 | -1): Point[] {
  const step = 10 * devicePixelRatio * direction;
  return Array.from({ length: 12 }, (_, i) => [x, y + step * i] as const);
}
