// The way to each part of a long page, as links: each holds the view state and the part that it leads to.
import { el } from "../dom";
import type { Store } from "../store";

/** Lists the sections that are there now, in their order, and makes each heading a link to itself. */
export function contents<S extends object>(element: HTMLElement, root: HTMLElement, store: Store<S>): void {
  element.setAttribute("aria-label", "Parts of this page");
  const links: { link: HTMLAnchorElement; id: string }[] = [];
  const linkTo = (id: string, attributes: Record<string, string>, text: string): HTMLAnchorElement => {
    const link = el("a", attributes, text);
    link.addEventListener("click", (event) => {
      // What opens it elsewhere is the browser's.
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
