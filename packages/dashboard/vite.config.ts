/**
 * Builds the dashboard into dist/: hashed assets and one page.
 * Guards the gateway's content policy: nothing is inlined, nothing is fetched from elsewhere.
 */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // A data: URL would need a hole in the content policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": "http://127.0.0.1:4653" } },
});
