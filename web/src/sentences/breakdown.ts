// Says in a sentence where the first side is worse, and for how many.
import { count, plural, share } from "../format";
import type { Breakdown, Group, Report } from "../types";
import { sureness } from "./sure";

/** Groups by who is better in them: counted, and with the share of people in them. */
export function breakdownSentence(report: Report, breakdown: Breakdown): string {
  const [first, second] = report.comparison.sides.map((side) => side.label);
  const { groups } = breakdown;
  const of = (list: Group[]): string =>
    `${count(list.length)} of ${plural(groups.length, "group")}, with ${share(sum(list))} of the samples`;
  const worse = groups.filter((group) => group.experienced?.better === second);
  const better = groups.filter((group) => group.experienced?.better === first);
  const firm = worse.filter(
    (group) => group.experienced && sureness(group.experienced, report.comparison.intervals)?.firm === true,
  );
  const alone = groups.filter((group) => !group.experienced);
  const parts = [
    worse.length === 0
      ? `${first} is worse nowhere`
      : `${first} is worse in ${of(worse)}${report.comparison.intervals ? ` (sure in ${count(firm.length)})` : ""}`,
    better.length === 0 ? "" : `better in ${count(better.length)}, with ${share(sum(better))}`,
    alone.length === 0 ? "" : `${plural(alone.length, "group")} on one side only`,
  ].filter(Boolean);
  const without = breakdown.unlabelled > 0 ? ` ${plural(breakdown.unlabelled, "sample")} have no ${breakdown.label}.` : "";
  return `${parts.join("; ")}.${without}`;
}

/** Sums of shares end in digits of no meaning: three after the point of a percentage are kept. */
const sum = (groups: Group[]): number => Number(groups.reduce((all, group) => all + group.share, 0).toFixed(5));
