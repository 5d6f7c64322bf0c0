// Amounts as HTML bars with figures, which can be read and copied as text.
import { axisText, valueOf } from "../charts/figure_axes";
import { el } from "../dom";
import type { Bars } from "../figure_types";

export function bars({ axis, bars: all }: Bars): HTMLElement {
  const most = Math.max(...all.map(({ value }) => value));
  // Values above 0 are always visible.
  const width = (value: number): string =>
    value > 0 ? `width:max(1px, ${((100 * value) / most).toFixed(2)}%)` : "width:0";
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
          el("span", { class: "amount-bar", "aria-hidden": "true" }, el("i", { style: width(value) })),
          el("span", { class: "amount" }, valueOf(axis, value)),
        ),
      ),
    ),
  );
}
