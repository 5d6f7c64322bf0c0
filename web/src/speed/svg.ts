// Creates SVG elements.

/** An SVG element with attributes and children; strings become text. */
export function draw(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Width of a drawing in units, equal to its pixels, so that its text has the normal size. */
export const room = (): number => Math.max(280, Math.min(900, document.documentElement.clientWidth - 72));

/** Draws into an element, and redraws when its width changes. */
export function fit(element: HTMLElement, drawn: () => Node[]): void {
  let last = room();
  element.replaceChildren(...drawn());
  new ResizeObserver(() => {
    if (room() === last) return;
    last = room();
    element.replaceChildren(...drawn());
  }).observe(element);
}

/** Three to six round numbers from 0 to at least `most`. */
export function ticks(most: number): number[] {
  const rough = Math.max(most, 1e-9) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, n) => n * step);
}
