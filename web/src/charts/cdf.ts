// The CDF of all sides: latency on x, the share of completed requests on y, in percent or in nines.
import type uPlot from "uplot";
import { interval, ms, percentile, short } from "../format";
import { commonShares, quantile } from "../quantiles";
import { cdfSentence } from "../sentences/distribution";
import type { State } from "../store";
import type { Band, Report } from "../types";
import { bandNote, drawBand, endsAt, type Station } from "./bands";
import { type Frame, say } from "./frame";
import { dense, Labels, type Point } from "./labels";
import { OWN_ERROR_NOTE, ownError } from "./own_error";
import { type Palette, palette } from "./palette";
import { axis, axisTitle, draw, latencyAxis, latencyScale, onScale, sideValue } from "./plot";
import { shareScale } from "./shares";
import { drawThinning, THIN_NOTE, thinIndex, undrawn } from "./thinning";

export function cdf(box: Frame, report: Report, state: State): void {
  const colors = palette();
  const inNines = state.axis === "nines";
  const functions = report.charts.map((chart) => chart.quantiles);
  // The slowest sample has share 1, which is infinite on the nines axis.
  const shares = commonShares(functions).filter((share) => !inNines || share < 1);
  const lines = functions.map((one) => shares.map((share) => quantile(one, share) ?? null));
  const scale = latencyScale(
    lines.flat().filter((value) => value !== null),
    state.cdf,
  );
  const upward = shareScale(state.axis, shares);
  const heights = shares.map(upward.at);
  const bands = report.charts.map((chart) => chart.band ?? undefined);
  const own = report.charts.map((_, i) => ownError(report, i));
  const ends = bands.map((band) => band && endsAt(band));
  // In percent, the ends of the axis have no visible height, so hatching there is not mentioned.
  const seen = (share: number): boolean => inNines || (share > 0.015 && share < 0.985);
  const open = bands.some((band) => band?.ci_ms.some((ci, i) => ci.includes(null) && seen(band.share[i] ?? 0)));
  const level = bands.some((band) => band !== undefined) ? report.comparison.intervals?.level : undefined;
  const thin = report.comparison.sides.map((side) => thinIndex(shares, side.thin_above ?? 100));
  const thinNote = thin.some((from) => from < shares.length) ? THIN_NOTE : "";
  say(box, cdfSentence(report) + (inNines ? beyond(report) : "") + thinNote + bandNote(level, open) + (own.some((band) => band !== undefined) ? OWN_ERROR_NOTE : ""));
  draw(box, {
    data: [heights, ...lines.map((line) => onScale(line, scale.limits))] as uPlot.AlignedData,
    options: {
      padding: [10, 16, 0, 0],
      // The share is uPlot's x because all sides have it in common; it is drawn vertically.
      scales: { x: { time: false, auto: false, ori: 1, range: () => [0, upward.top] }, y: { ...scale, ori: 0 } },
      axes: [
        axis(colors, {
          scale: "x",
          side: "left",
          title: "percentile of requests (%)",
          ticks: upward.ticks,
          gap: 22,
          text: upward.text,
        }),
        latencyAxis(colors, state.cdf, { scale: "y", side: "bottom", title: axisTitle(report.metric) }),
      ],
      series: [{}, ...report.charts.map((_, i) => undrawn(colors.side(i)))],
      // The cursor reads all sides at one share; the latency of the pointer is not used.
      cursor: { x: false },
      hooks: {
        drawAxes: [
          (u) =>
            [...bands, ...own].forEach(
              (band, i) => band && drawBand(u, colors.side(i % bands.length), stations(u, band, inNines, upward.at), "y"),
            ),
        ],
        draw: [
          (u) => drawnLines(u).forEach((points, i) => drawThinning(u, colors.side(i), points, thin[i] ?? points.length)),
          (u) => nameLines(u, colors, report),
        ],
      },
    },
    read: (index) => {
      const share = shares[index] ?? 0;
      const values = report.charts.map((chart, i) => {
        const [low, high] = [ends[i]?.low(share), ends[i]?.high(share)];
        return sideValue(chart.label, lines[i]?.[index]) + (ends[i] ? ` (${interval([low, high])})` : "");
      });
      return `p${percentile(share * 100)}: ${values.join(" \u00b7 ")}`;
    },
  });
}

/** Lists the samples that the nines axis cannot show. */
function beyond(report: Report): string {
  const slowest = report.comparison.sides.map((side) => `${side.label} ${ms(side.max_ms)}`);
  return ` The slowest sample has no place on the axis of nines: ${slowest.join(", ")}.`;
}

/** The band extends along the latency axis. An unbounded end reaches the edge of the plot. */
function stations(u: uPlot, band: Band, inNines: boolean, at: (share: number) => number): Station[] {
  const { left, width } = u.bbox;
  const lowest = u.scales["y"]?.min ?? 0;
  return band.share.flatMap((share, i): Station[] => {
    if (inNines && share >= 1) return [];
    const [low, high] = band.ci_ms[i] ?? [null, null];
    const y = u.valToPos(at(share), "x", true);
    const across = (value: number): number => u.valToPos(Math.max(lowest, value), "y", true);
    return [
      {
        low: [low === null ? left : across(low), y],
        high: [high === null ? left + width : across(high), y],
        open: low === null || high === null,
      },
    ];
  });
}

/** The points of each side's line, in canvas pixels. */
function drawnLines(u: uPlot): Point[][] {
  const [heights = [], ...lines] = u.data as [number[], ...(number | null)[][]];
  return lines.map((line) =>
    line.flatMap((value, i): Point[] =>
      value === null ? [] : [[u.valToPos(value, "y", true), u.valToPos(heights[i] ?? 0, "x", true)]],
    ),
  );
}

function nameLines(u: uPlot, colors: Palette, report: Report): void {
  const drawn = drawnLines(u).map(dense);
  const labels = new Labels(u, colors, drawn.flat());
  drawn.forEach((points, i) => {
    // Labels are placed near the middle of a line, where lines are steep and separate; anchors further away
    // follow.
    const middle = u.bbox.top + u.bbox.height * 0.45;
    const anchors = points
      .filter((_, at) => at % 3 === 0)
      .sort((a, b) => Math.abs(a[1] - middle) - Math.abs(b[1] - middle));
    const others = drawn.filter((_, other) => other !== i).flat();
    labels.place(short(report.charts[i]?.label ?? ""), anchors, { dot: colors.side(i) }, others);
  });
}
