// Builds a page: `vite build --mode report`, or figures, into one HTML file, which the Rust binary carries and fills; or speed or operator, each into three
// files, which it serves under a policy that allows no script in the page itself.
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig(({ mode }) => {
  const isServed = mode === "speed" || mode === "operator";
  const names = { entryFileNames: "[name].js", assetFileNames: "[name].[ext]" };
  return {
    plugins: isServed ? [] : [viteSingleFile()],
    build: {
      target: "es2023",
      // One file has nothing to preload, and nothing in it should be able to fetch.
      modulePreload: { polyfill: false },
      // The other pages are there too.
      emptyOutDir: false,
      rolldownOptions: { input: `${mode}.html`, ...(isServed ? { output: names } : {}) },
    },
  };
});
