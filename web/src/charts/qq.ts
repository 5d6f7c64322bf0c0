// QQ plot of two sides: a point (first, other) for each percentile, with the diagonal of equality. The
// effective QQ plot is the same curve with the percentiles of users instead of requests.
import type uPlot from "uplot";
import { interval, ms, percentile, short, signed } from "../format";
import { chosenPage, experiencedThinAbove, isThin } from "../page";
import { commonShares, peopleShare, quantile, requestShare } from "../quantiles";
import { effectiveSentence, qqSentence } from "../sentences/distribution";
import type { State } from "../store";
import type { DifferenceCurve, Quantiles, Report } from "../types";
import { bandNote, drawBand, endsAt, type Station } from "./bands";
import { curveOf } from "./difference";
import { type Frame, say } from "./frame";
import { palette } from "./palette";
import { axisTitle, draw, latencyAxis, latencyScale, onScale, sideValue } from "./plot";
import { diagonal, drawMarks, LABELLED } from "./qq_marks";

/** Minimum share of users: the curve below it occurs almost never and would compress the rest. */
const FIRST_SHARE = 0.001;

/** The QQ plot of single requests. */
export function qq(box: Frame, report: Report, state: State): void {
  drawPairs(box, report, state, { sentence: qqSentence(report, state.other), effective: 1, from: 0 });
}

/** The QQ plot of what users experience on the selected page. */
export function effectiveQq(box: Frame, report: Report, state: State): void {
  const page = chosenPage(report, state);
  const sentence = effectiveSentence(report, state.other, page);
  drawPairs(box, report, state, { sentence, effective: page.effective, from: FIRST_SHARE });
}

interface Pairs {
  /** Shares of users; equal to shares of requests if a user needs only one. */
  shares: number[];
  first: number[];
  other: number[];
}

interface Kind {
  sentence: string;
  /** Number of requests per user. */
  effective: number;
  /** The share of users at which the curve starts. */
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
  const thin = LABELLED.some(marks.thin) ? " ~ and hollow points: fewer than 10 samples beyond." : "";
  const curve = curveOf(report, state.other);
  const banded = curve !== undefined && curve.ci_ms.length > 0 ? curve : undefined;
  const ends = banded && endsAt(banded);
  const open = banded?.ci_ms.some((ci) => ci.includes(null)) ?? false;
  say(box, sentence + thin + bandNote(banded && report.comparison.intervals?.level, open));
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
        drawAxes: [
          (u) => banded && drawBand(u, colors.muted, stations(u, banded, first.quantiles, lowest), "x"),
          (u) => diagonal(u, colors, scale.limits),
        ],
        draw: [
          (u) => drawMarks(u, colors, marks, [first.label, other.label], [colors.side(0), colors.side(state.other)]),
        ],
      },
    },
    read: (index) => {
      const [a, b] = [pairs.first[index] ?? 0, pairs.other[index] ?? 0];
      const faster = a === b ? "equal" : `${a < b ? first.label : other.label} faster by ${ms(Math.abs(a - b))}`;
      const request = requests[index] ?? 0;
      const range = ends ? ` (${interval([ends.low(request), ends.high(request)], signed)})` : "";
      return (
        `p${percentile((pairs.shares[index] ?? 0) * 100)}${who}: ${sideValue(first.label, a)} \u00b7 ` +
        `${sideValue(other.label, b)} \u00b7 ${faster}${range}`
      );
    },
  });
}

/** Position of a point in CSS pixels. */
function pointAt(u: uPlot, index: number): [number, number] {
  const [xs, ys] = u.data as [number[], number[]];
  return [u.valToPos(xs[index] ?? 0, "x"), u.valToPos(ys[index] ?? 0, "y")];
}

/** The index of the point nearest to a position; many points may share an x. */
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

/**
 * The band of the difference along the curve: the first side's latency plus either end of the interval. The
 * same percentile of users is another percentile of requests, so one band applies to every page.
 */
function stations(u: uPlot, curve: DifferenceCurve, first: Quantiles, lowest: number): Station[] {
  const { top, height } = u.bbox;
  const least = u.scales["y"]?.min ?? 0;
  return curve.share.flatMap((share, i): Station[] => {
    if (share < lowest) return [];
    const at = quantile(first, share) ?? 0;
    const x = u.valToPos(Math.max(least, at), "x", true);
    const [low, high] = curve.ci_ms[i] ?? [null, null];
    const up = (end: number): number => u.valToPos(Math.max(least, at + end), "y", true);
    return [
      {
        low: [x, low === null ? top + height : up(low)],
        high: [x, high === null ? top : up(high)],
        open: low === null || high === null,
      },
    ];
  });
}
