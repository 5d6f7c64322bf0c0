// A few amounts as bars, each with its figure: no drawing, so that it is read and copied as text.
import { axisText, valueOf } from "../charts/figure_axes";
import { el } from "../dom";
import type { Bars } from "../figure_types";

export function bars({ axis, bars: all }: Bars): HTMLElement {
  const most = Math.max(...all.map(({ value }) => value));
  const share = (value: number): string => `${(100 * (most > 0 ? value / most : 0)).toFixed(2)}%`;
  return el(
    "figure",
    { class: "chart" },
    el("figcaption", { class: "note" }, axisText(axis)),
    el(
      "ul",
      { class: "amounts" },
      ...all.map(({ label, value }) =>
        el(
          "li",
          {},
          el("span", { class: "amount-name" }, label),
          el("span", { class: "amount-bar", "aria-hidden": "true" }, el("i", { style: `width:${share(value)}` })),
          el("span", { class: "amount" }, valueOf(axis, value)),
        ),
      ),
    ),
  );
}
