// What commands printed: the numbers in it that claims speak of.
import { section } from "../dom";
import type { Printed, Report } from "../types";
import { type Cell, table } from "./table";

export function commands(element: HTMLElement, report: Report): void {
  const rows = report.commands.flatMap(figures);
  if (rows.length === 0) return;
  element.replaceChildren(
    section(
      "commands",
      "Commands",
      table(
        "What the claims speak of, of all that was printed",
        [
          { title: "side", align: "text" },
          { title: "host", align: "text" },
          { title: "figure", align: "text" },
          { title: "value", align: "number" },
        ],
        rows,
      ),
    ),
  );
}

const figures = ({ side, host, figures: some }: Printed): Cell[][] =>
  some.map(({ at, text }) => [{ text: side }, { text: host }, { text: at }, { text }]);
