// The expected wait of each side by number of requests per page, and where the lead changes. It explains why
// a side can have the faster median request and the slower page.
import type uPlot from "uplot";
import { count, interval, ms, short, tick } from "../format";
import { chosenPage } from "../page";
import { experiencedSentence, leads, observedPages } from "../sentences/experienced";
import type { State } from "../store";
import type { Report } from "../types";
import { type Frame, say } from "./frame";
import { dense, endLabels, Labels, LETTERS, nameRoom, type Point } from "./labels";
import { type Palette, palette } from "./palette";
import { axis, draw, fixed, latencyAxis } from "./plot";
import { drawThinning, undrawn } from "./thinning";
import { limits, logTicks } from "./ticks";

/** Maximum number of lead changes with labels. */
const MARKED = 3;

/** Whether the report has more than one number of requests. */
export const hasExperienced = (report: Report): boolean =>
  report.charts.length > 0 && report.charts.every((chart) => chart.experienced.length > 1);

export function experiencedChart(box: Frame, report: Report, state: State): void {
  const colors = palette();
  const page = chosenPage(report, state);
  const xs = Array.from({ length: page.held }, (_, i) => i + 1);
  const lines = report.charts.map((chart) => xs.map((n) => chart.experienced[n - 1]?.expected_ms ?? 0));
  const own = report.comparison.page.effective_requests;
  const cis = report.comparison.sides.map((side) => (own <= page.held ? side.expected_experienced_ci_ms : undefined));
  const observed = observedPages(report, page.held);
  const ends = [...cis.flatMap((ci) => ci ?? []), ...observed.flatMap(({ value, ci }) => [value, ...(ci ?? [])])];
  const known = ends.filter((end) => typeof end === "number");
  const y = fixed(limits([...lines.flat(), ...known], "linear"), "linear");
  const thin = report.comparison.sides.map((side) => thinPages(side.thin_above ?? 100));
  const names = report.charts.map((chart) => short(chart.label, LETTERS));
  say(box, experiencedSentence(report, page, thin.some((from) => from <= page.held)));
  draw(box, {
    data: [xs, ...lines],
    options: {
      padding: [10, nameRoom(names), 0, 0],
      scales: { x: fixed([1, page.held], "log"), y },
      axes: [
        axis(colors, {
          scale: "x",
          side: "bottom",
          title: "requests that a page waits for (effective)",
          ticks: logTicks,
          place: () => Math.log,
          text: tick,
        }),
        latencyAxis(colors, "linear", { scale: "y", side: "left", title: `expected page: ${report.metric} (ms)` }),
      ],
      series: [{}, ...report.charts.map((_, i) => undrawn(colors.side(i)))],
      cursor: { y: false },
      hooks: {
        drawAxes: [(u) => chosen(u, colors, page.effective)],
        draw: [
          (u) =>
            lines.forEach((line, i) => drawThinning(u, colors.side(i), pointsOf(u, xs, line), (thin[i] ?? 1) - 1)),
          (u) => intervals(u, colors, own, cis),
          (u) => annotate(u, colors, report, { xs, lines, effective: page.effective, observed }),
          (u) =>
            endLabels(
              u,
              colors,
              lines.map((line, i) => ({
                text: names[i] ?? "",
                y: u.valToPos(line.at(-1) ?? 0, "y", true),
                dot: colors.side(i),
              })),
            ),
        ],
      },
    },
    read: (index) => {
      const values = report.charts.map((chart, i) => {
        const ci = index + 1 === own ? cis[i] : undefined;
        return `${chart.label} ${ms(lines[i]?.[index])}${ci ? ` (${interval(ci)})` : ""}`;
      });
      return `page of ${count(index + 1)}: ${values.join(" \u00b7 ")}`;
    },
  });
}

/** The number of requests above which fewer than 10 samples determine the median user: thin_above^N = 1/2. */
function thinPages(thinAbove: number): number {
  const share = thinAbove / 100;
  if (share <= 0) return 1;
  return share >= 1 ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(Math.log(0.5) / Math.log(share)));
}

const pointsOf = (u: uPlot, xs: number[], line: number[]): Point[] =>
  xs.map((x, i): Point => [u.valToPos(x, "x", true), u.valToPos(line[i] ?? 0, "y", true)]);

/** Draws the page selected in the control. */
function chosen(u: uPlot, colors: Palette, effective: number): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const x = Math.round(u.valToPos(effective, "x", true));
  ctx.save();
  ctx.strokeStyle = colors.muted;
  ctx.lineWidth = scale;
  ctx.setLineDash([6 * scale, 4 * scale]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/** Draws the intervals of the report's own page. An unbounded end reaches the edge of
 * the plot. */
function intervals(
  u: uPlot,
  colors: Palette,
  own: number,
  cis: (readonly [number | null, number | null] | null | undefined)[],
): void {
  const { ctx, bbox } = u;
  const x = u.valToPos(own, "x", true);
  const within = (y: number): number => Math.min(bbox.top + bbox.height, Math.max(bbox.top, y));
  ctx.save();
  ctx.globalAlpha = 0.45;
  ctx.lineWidth = 7 * devicePixelRatio;
  cis.forEach((ci, i) => {
    if (!ci) return;
    const [low, high] = ci;
    ctx.strokeStyle = colors.side(i);
    ctx.beginPath();
    ctx.moveTo(x, low === null ? bbox.top + bbox.height : within(u.valToPos(low, "y", true)));
    ctx.lineTo(x, high === null ? bbox.top : within(u.valToPos(high, "y", true)));
    ctx.stroke();
  });
  ctx.restore();
}

interface Shown {
  xs: number[];
  lines: number[][];
  effective: number;
  observed: ReturnType<typeof observedPages>;
}

/** Labels lead changes, the selected page, and the observed waits of real pages. */
function annotate(u: uPlot, colors: Palette, report: Report, { xs, lines, effective, observed }: Shown): void {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const place = (n: number, value: number): Point => [u.valToPos(n, "x", true), u.valToPos(value, "y", true)];
  const drawn = lines.flatMap((line) => dense(pointsOf(u, xs, line)));
  const [x] = place(effective, 0);
  const labels = new Labels(u, colors, [...drawn, ...dense([[x, bbox.top], [x, bbox.top + bbox.height]])]);
  const dot = ([left, top]: Point, radius: number, fill: string, rim: string): void => {
    ctx.beginPath();
    ctx.arc(left, top, radius * scale, 0, 2 * Math.PI);
    ctx.fillStyle = fill;
    ctx.strokeStyle = rim;
    ctx.fill();
    ctx.stroke();
    labels.keepOff([left, top], radius + 1.5);
  };
  ctx.save();
  ctx.lineWidth = 2 * scale;
  lines.forEach((line, i) => dot(place(effective, line[effective - 1] ?? 0), 3.5, colors.side(i), colors.side(i)));
  const named: [string, Point, boolean][] = [];
  for (const { from, side } of leads(lines).slice(1, 1 + MARKED)) {
    const spot = place(from, lines[side]?.[from - 1] ?? 0);
    dot(spot, 5, colors.ink, colors.ink);
    named.push([`from ${count(from)} on: ${short(report.charts[side]?.label ?? "", 20)}`, spot, false]);
  }
  for (const { side, requests, value } of observed) {
    const spot = place(requests, value);
    dot(spot, 5, colors.surface, colors.side(side));
    if (side === observed[0]?.side) named.push(["real pages", spot, true]);
  }
  ctx.restore();
  for (const [text, spot, muted] of named) labels.place(text, [spot], { muted });
  const spots = Array.from({ length: 10 }, (_, i): Point => [x, bbox.top + (12 + 20 * i) * scale]);
  labels.place(`page of ${count(effective)}`, spots, { muted: true });
}
