// Light or dark: as the reader chose, else as the system says; paper is light.
import { fitAll } from "./charts/plot";
import type { Store, Themed } from "./store";

export function followTheme<S extends Themed>(store: Store<S>): void {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = (): void => {
    const { theme } = store.state;
    const dark = theme === "dark" || (theme === "auto" && system.matches);
    root.dataset["theme"] = dark && !root.classList.contains("printing") ? "dark" : "light";
  };
  const redraw = (): void => {
    apply();
    store.touch("theme");
  };
  // The first watcher to be told: the charts after it read their colours from the style sheet.
  store.watch(["theme"], apply);
  system.addEventListener("change", redraw);
  const print = (printing: boolean): void => {
    root.classList.toggle("printing", printing);
    redraw();
    fitAll();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}
