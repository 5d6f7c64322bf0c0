// A sentence about the groups in which the first side is worse.
import { count, plural, share } from "../format";
import type { Breakdown, Group, Report } from "../types";
import { sureness } from "./sure";

/** Counts the groups by their better side, with their share of users. */
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
      ? `${first} is not worse in any group`
      : `${first} is worse in ${of(worse)}${report.comparison.intervals ? ` (sure in ${count(firm.length)})` : ""}`,
    better.length === 0 ? "" : `better in ${count(better.length)}, with ${share(sum(better))}`,
    alone.length === 0 ? "" : `${plural(alone.length, "group")} on one side only`,
  ].filter(Boolean);
  const without = breakdown.unlabelled > 0 ? ` ${plural(breakdown.unlabelled, "sample")} have no ${breakdown.label}.` : "";
  return `${parts.join("; ")}.${without}`;
}

/** Rounds a sum of shares to three decimals of a percentage. */
const sum = (groups: Group[]): number => Number(groups.reduce((all, group) => all + group.share, 0).toFixed(5));
