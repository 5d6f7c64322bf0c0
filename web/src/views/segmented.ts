// A choice between a few words: radio buttons, accessible by keyboard and screen reader, drawn as one bar.
import { el } from "../dom";

let groups = 0;

export interface Segmented {
  element: HTMLElement;
  /** Shows another choice, after the state was changed elsewhere. */
  show: (value: string) => void;
}

/** `choices` maps a value to its text. */
export function segmented(label: string, choices: Record<string, string>, chosen: (value: string) => void): Segmented {
  const name = `choice-${groups++}`;
  const inputs = Object.entries(choices).map(([value, text]) => {
    const input = el("input", { type: "radio", name, value });
    input.addEventListener("change", () => chosen(value));
    return { input, item: el("label", {}, input, el("span", {}, text)) };
  });
  const element = el("fieldset", { class: "segmented" }, el("legend", {}, label), ...inputs.map((one) => one.item));
  return {
    element,
    show: (value) => {
      for (const { input } of inputs) input.checked = input.value === value;
    },
  };
}
