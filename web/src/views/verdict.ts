// The verdict as a sentence, and the figures that it is based on. An uncertain verdict must not look certain.
import { el, sideName } from "../dom";
import { interval, ms, percentile, plural, share } from "../format";
import { levelName, sureness } from "../sentences/sure";
import type { Report, Verdict } from "../types";

export function verdict(report: Report): HTMLElement[] {
  const { verdict: verdicts, intervals } = report.comparison;
  if (!verdicts) return [];
  const sure = verdicts.experienced && sureness(verdicts.experienced, intervals);
  const open = sure?.firm === false;
  return [
    ...(open ? [el("p", { class: "badge doubt unsure" }, `? ${sure.words}: ${sure.figure}`)] : []),
    // Older reports have the whole verdict in one sentence.
    el("p", { class: open ? "verdict open" : "verdict" }, verdicts.headline ?? verdicts.sentence),
    ...(verdicts.certainty ? [el("p", { class: "certainty" }, verdicts.certainty)] : []),
  ];
}

/** The basis of the verdict: by median request, by mean, and by page. */
export function tiles(element: HTMLElement, report: Report): void {
  const { verdict: verdicts, page, intervals } = report.comparison;
  if (!verdicts?.median_request || !verdicts.request || !verdicts.experienced) return;
  element.replaceChildren(
    el(
      "dl",
      { class: "tiles" },
      tile(report, "Median request", verdicts.median_request, "requests"),
      tile(report, "Expected request", verdicts.request, "requests"),
      tile(
        report,
        verdicts.experienced.basis === "observed pages" ? "Real page views" : `Expected experience, ${plural(page.effective_requests, "request")}`,
        verdicts.experienced,
        "page views",
      ),
      verdicts.model &&
        tile(report, `The model, ${plural(page.effective_requests, "request")}`, verdicts.model, "page views"),
    ),
    ...(intervals
      ? []
      : [el("p", { class: "facts" }, "This report contains no confidence intervals, so its certainty is unknown.")]),
  );
}

/** The lead as a fraction of the slower side's figure. */
const relative = (one: Verdict): string => (typeof one.relative === "number" ? ` (${share(one.relative)})` : "");

function tile(report: Report, what: string, one: Verdict, of: string): HTMLElement {
  const { sides, intervals } = report.comparison;
  const sure = sureness(one, intervals);
  const index = sides.findIndex((side) => side.label === one.better);
  const answer =
    index < 0
      ? [el("b", {}, one.within_own_error ? "within the emulator's own error" : "a tie")]
      : [el("b", {}, sideName(one.better ?? "", index)), ` faster by ${ms(one.difference_ms)}${relative(one)}`];
  const small = [
    one.ci_ms && intervals && `${levelName(intervals)}: ${interval(one.ci_ms)}\u00a0ms`,
    index >= 0 && typeof one.share_better === "number" && `faster for ${share(one.share_better)} of ${of}`,
    index >= 0 && one.share_better_ci && `(${interval(one.share_better_ci, (value) => percentile(value * 100))}\u00a0%)`,
  ].filter((part) => typeof part === "string");
  const [first, ...rest] = small;
  return el(
    "div",
    { class: sure?.firm === false ? "open" : undefined },
    el("dt", {}, what),
    el("dd", {}, ...answer),
    first !== undefined && el("dd", { class: "small" }, first),
    rest.length > 0 && el("dd", { class: "small" }, rest.join(" ")),
    sure &&
      el(
        "dd",
        { class: sure.firm ? "sureness firm" : "sureness" },
        `${sure.firm ? "\u2713" : "?"} ${sure.words}: ${sure.figure}`,
      ),
  );
}
