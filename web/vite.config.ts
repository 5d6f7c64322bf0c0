// Builds a page. `vite build --mode report` (or figures) writes one HTML file, into which the Rust program
// inserts its data. Mode speed or operator writes three files, which the Rust program serves with a policy
// that forbids inline scripts.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig(({ mode }) => {
  const isServed = mode === "speed" || mode === "operator";
  const names = { entryFileNames: "[name].js", assetFileNames: "[name].[ext]" };
  return {
    plugins: isServed ? [] : [viteSingleFile()],
    build: {
      target: "es2023",
      // A single file has nothing to preload, and it must not fetch anything.
      modulePreload: { polyfill: false },
      // Do not delete the other pages.
      emptyOutDir: false,
      rolldownOptions: { input: `${mode}.html`, ...(isServed ? { output: names } : {}) },
    },
  };
});
