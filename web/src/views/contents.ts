// Links to the sections of a long page; each contains the view state and its section.
import { el } from "../dom";
import type { Store } from "../store";

/** Lists the current sections in order, and makes each heading a link to itself. */
export function contents<S extends object>(element: HTMLElement, root: HTMLElement, store: Store<S>): void {
  element.setAttribute("aria-label", "Parts of this page");
  const links: { link: HTMLAnchorElement; id: string }[] = [];
  const linkTo = (id: string, attributes: Record<string, string>, text: string): HTMLAnchorElement => {
    const link = el("a", attributes, text);
    link.addEventListener("click", (event) => {
      // The browser handles clicks that open a new tab or window.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      store.go(id);
    });
    links.push({ link, id });
    return link;
  };
  const sections = [...root.querySelectorAll("section[id]")];
  element.replaceChildren(
    ...sections.flatMap((section) => {
      const heading = section.querySelector("h2");
      if (heading === null) return [];
      const title = heading.textContent ?? "";
      heading.append(linkTo(section.id, { class: "anchor", "aria-label": `Link to: ${title}` }, ""));
      return [linkTo(section.id, {}, title)];
    }),
  );
  store.watchAll(() => {
    for (const { link, id } of links) link.href = store.link(id);
  });
  store.arrive();
}
