// Creates elements. Text is always set by textContent, because labels come from files and may contain markup.
type Child = Node | string | null | undefined | false;

/** An element with attributes and children; strings become text. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A section of the page with its heading. */
export function section(id: string, heading: string, ...children: Child[]): HTMLElement {
  return el(
    "section",
    { id, "aria-labelledby": `${id}-heading` },
    el("h2", { id: `${id}-heading` }, heading),
    ...children,
  );
}

/** A side's name with its colour. */
export function sideName(label: string, index: number): HTMLElement {
  return el("span", { class: "side" }, el("i", { class: `swatch side-${index % 6}`, "aria-hidden": "true" }), label);
}
