// The way to each part of a long page. Buttons and not links: the address's hash holds the view state.
import { el } from "../dom";

/** Lists the sections that are there now, in their order. */
export function contents(element: HTMLElement, root: HTMLElement): void {
  element.setAttribute("aria-label", "Parts of this page");
  const sections = [...root.querySelectorAll("section[id]")];
  element.replaceChildren(
    ...sections.flatMap((section) => {
      const heading = section.querySelector("h2");
      if (heading === null) return [];
      const button = el("button", { type: "button" }, heading.textContent);
      button.addEventListener("click", () => section.scrollIntoView());
      return [button];
    }),
  );
}
