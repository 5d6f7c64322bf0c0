// The difference between another side and the first by percentile, with its confidence band.
import type uPlot from "uplot";
import { interval, percentile, place, short, signed, signedTick } from "../format";
import { chosenPage, experiencedThinAbove } from "../page";
import { peopleShare } from "../quantiles";
import { differenceSentence } from "../sentences/difference";
import type { ShareAxis, State } from "../store";
import type { DifferenceCurve, Report } from "../types";
import { bandNote, drawBand, type Station } from "./bands";
import { type Frame, say } from "./frame";
import { dense, Labels, type Point } from "./labels";
import { type Palette, palette } from "./palette";
import { axis, draw } from "./plot";
import { shareScale, type ShareScale } from "./shares";
import { drawThinning, thinIndex, undrawn } from "./thinning";
import { differenceLimits, differencePlace, differenceScale, differenceTicks } from "./signed";

/** Minimum share of users: lower percentiles occur almost never, and with many requests a page they would
 * take much room. */
const FIRST_SHARE = 0.0005;

/** The curve of this side relative to the first; undefined if it is not in the report. */
export const curveOf = (report: Report, other: number): DifferenceCurve | undefined =>
  report.differences.find(
    ({ first, second }) => first === report.charts[0]?.label && second === report.charts[other]?.label,
  );

interface Entry {
  share: number;
  value: number;
  low: number | null;
  high: number | null;
}

/** The entries of a curve that an axis can show, as shares of users who need `effective` requests. */
function entriesOf(curve: DifferenceCurve, effective: number, shareAxis: ShareAxis): Entry[] {
  const all = curve.share.map((share, i): Entry => {
    const [low, high] = curve.ci_ms[i] ?? [null, null];
    return { share: peopleShare(share, effective), value: curve.difference_ms[i] ?? 0, low, high };
  });
  return all.filter(({ share }) => (shareAxis === "percent" || share < 1) && (effective === 1 || share >= FIRST_SHARE));
}

export function difference(box: Frame, report: Report, state: State): void {
  const curve = curveOf(report, state.other);
  if (curve === undefined) return;
  const colors = palette();
  const page = chosenPage(report, state);
  const effective = state.of === "people" ? page.effective : 1;
  const entries = entriesOf(curve, effective, state.differenceAxis);
  const banded = curve.ci_ms.length > 0;
  const open = banded && entries.some(({ low, high }) => low === null || high === null);
  const level = banded ? report.comparison.intervals?.level : undefined;
  say(box, differenceSentence(curve, report, state, page) + bandNote(level, open));
  const scale = shareScale(state.differenceAxis, entries.map((entry) => entry.share));
  const values = entries.map((entry) => entry.value);
  const thin = thinFrom(report, state.other, effective);
  const known = knownOf(entries, thin);
  const bounds = differenceLimits(known, entries.flatMap(({ low, high }) => [low, high]));
  const who = state.of === "people" ? "visitors" : "requests";
  draw(box, {
    data: [entries.map((entry) => scale.at(entry.share)), values],
    options: {
      padding: [12, 18, 0, 0],
      scales: {
        x: { time: false, auto: false, range: () => [0, scale.top] },
        y: differenceScale(state.differenceScale, bounds),
      },
      axes: [
        axis(colors, { scale: "x", side: "bottom", title: `percentile of ${who} (%)`, ticks: scale.ticks, text: scale.text }),
        axis(colors, {
          scale: "y",
          side: "left",
          title: `${short(curve.second, 18)} less ${short(curve.first, 18)}: ${report.metric} (ms)`,
          ticks: (low, high) => differenceTicks(state.differenceScale, low, high),
          place: (low, high) => differencePlace(state.differenceScale, low, high),
          text: signedTick,
        }),
      ],
      series: [{}, undrawn(colors.side(state.other))],
      cursor: { y: false },
      hooks: {
        drawAxes: [
          (u) => banded && drawBand(u, colors.side(state.other), stations(u, entries, scale), "x"),
          (u) => zeroLine(u, colors),
        ],
        draw: [
          (u) => {
            const points = entries.map(({ share, value }): Point => [
              u.valToPos(scale.at(share), "x", true),
              u.valToPos(value, "y", true),
            ]);
            drawThinning(u, colors.side(state.other), points, thinIndex(entries.map(({ share }) => share), 100 * thin));
          },
          (u) => annotate(u, colors, { report, state, curve, scale, effective }),
        ],
      },
    },
    read: (index) => {
      const entry = entries[index];
      if (entry === undefined) return "";
      const ends = banded ? ` (${interval([entry.low, entry.high], signed)})` : "";
      return `p${percentile(entry.share * 100)} of ${who}: ${curve.second} ${signed(entry.value)}\u00a0ms${ends} against ${curve.first}`;
    },
  });
}

/** A tail with few samples may increase the height of the chart by at most this factor. */
const DWARFED = 4;

/** The differences that the chart must show: all, unless a tail with few samples would compress the rest. */
function knownOf(entries: Entry[], thin: number): number[] {
  const range = (some: Entry[]): number =>
    Math.max(0, ...some.map(({ value }) => value)) - Math.min(0, ...some.map(({ value }) => value));
  const known = entries.filter(({ share }) => share <= thin);
  const dwarfed = range(known) > 0 && range(entries) > DWARFED * range(known);
  return (dwarfed ? known : entries).map(({ value }) => value);
}

/** An unbounded end is drawn at the edge of the plot. */
function stations(u: uPlot, entries: Entry[], scale: ShareScale): Station[] {
  const { top, height } = u.bbox;
  return entries.map(({ share, low, high }) => {
    const x = u.valToPos(scale.at(share), "x", true);
    return {
      low: [x, low === null ? top + height : u.valToPos(low, "y", true)],
      high: [x, high === null ? top : u.valToPos(high, "y", true)],
      open: low === null || high === null,
    };
  });
}

function zeroLine(u: uPlot, colors: Palette): void {
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(0, "y", true));
  ctx.save();
  ctx.fillStyle = colors.muted;
  ctx.fillRect(bbox.left, y, bbox.width, 1.5 * devicePixelRatio);
  ctx.restore();
}

interface Shown {
  report: Report;
  state: State;
  curve: DifferenceCurve;
  scale: ShareScale;
  effective: number;
}

/** Labels both halves of the plot, crossovers with their intervals, and the part with few samples. */
function annotate(u: uPlot, colors: Palette, { report, state, curve, scale, effective }: Shown): void {
  const { left, top, width, height } = u.bbox;
  const [xs = [], ys = []] = u.data as number[][];
  // For a clipped tail, points just outside of the plot are sufficient.
  const near = (y: number): number => Math.min(top + 2 * height, Math.max(top - height, y));
  const line = dense(xs.map((x, i): Point => [u.valToPos(x, "x", true), near(u.valToPos(ys[i] ?? 0, "y", true))]));
  const zero = u.valToPos(0, "y", true);
  const thin = thinFrom(report, state.other, effective);
  const labels = new Labels(u, colors, [...line, ...dense([[left, zero], [left + width, zero]])]);
  const at = (part: number): number => u.valToPos(Math.min(scale.top, scale.at(part)), "x", true);
  if (state.other === 1) {
    const named: [string, Point][] = [];
    for (const { percentile: percent, ci } of report.comparison.crossovers) {
      const people = (value: number): number => peopleShare(value / 100, effective);
      if (effective > 1 && people(percent) < FIRST_SHARE) continue;
      const ends = ci ? ([at(people(ci[0])), at(people(ci[1]))] as const) : undefined;
      whisker(u, colors, at(people(percent)), zero, ends);
      const spot: Point = [at(people(percent)), zero];
      labels.keepOff(spot, 6);
      named.push([`p${place(100 * people(percent))}`, spot]);
    }
    for (const [text, spot] of named) labels.place(text, [spot]);
  }
  if (thin < 1 && at(thin) < left + width - 3 * devicePixelRatio) thinLine(u, colors, at(thin), labels);
  // The direction in which a clipped tail continues.
  const [low = 0, high = 0] = [u.scales["y"]?.min, u.scales["y"]?.max];
  const last = ys.at(-1) ?? 0;
  const seen = line.findLast(([, y]) => y >= top && y <= top + height);
  if ((last < low || last > high) && seen) labels.place(`continues to ${signed(last)}\u00a0ms~`, [seen], { muted: true });
  const name = short(curve.second, 20);
  const half = 9 * devicePixelRatio;
  labels.place(`\u25b2 ${name} slower`, spots(left, width, top + half, zero - half), { muted: true });
  labels.place(`\u25bc ${name} faster`, spots(left, width, top + height - half, zero + half), { muted: true });
}

/** Positions for a label between two heights: by row, from the left. */
function spots(left: number, width: number, from: number, to: number): Point[] {
  const [rows, columns] = [6, 14];
  return Array.from({ length: rows * columns }, (_, i): Point => {
    const row = Math.floor(i / columns);
    return [left + ((i % columns) * width) / (columns + 2), from + ((to - from) * row) / (rows - 1)];
  });
}

/** The share above which fewer than 10 samples of one of the two sides remain. */
function thinFrom(report: Report, other: number, effective: number): number {
  const above = [0, other].map((side) => report.comparison.sides[side]?.thin_above ?? 100);
  return experiencedThinAbove(Math.min(...above), effective) / 100;
}

function whisker(u: uPlot, colors: Palette, x: number, y: number, ends: readonly [number, number] | undefined): void {
  const { ctx } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colors.ink;
  ctx.fillStyle = colors.surface;
  ctx.lineWidth = 2 * scale;
  ctx.beginPath();
  if (ends !== undefined) {
    ctx.moveTo(ends[0], y);
    ctx.lineTo(ends[1], y);
    for (const end of ends) {
      ctx.moveTo(end, y - 5 * scale);
      ctx.lineTo(end, y + 5 * scale);
    }
  }
  ctx.stroke();
  ctx.beginPath();
  ctx.arc(x, y, 4 * scale, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  ctx.restore();
}

function thinLine(u: uPlot, colors: Palette, x: number, labels: Labels): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colors.muted;
  ctx.lineWidth = scale;
  ctx.setLineDash([2 * scale, 4 * scale]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
  const places = Array.from({ length: 16 }, (_, i): Point => [x, bbox.top + ((i + 0.5) * bbox.height) / 16]);
  labels.place("~ few samples", places, { muted: true });
}
