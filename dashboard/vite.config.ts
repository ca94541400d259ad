import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import path from 'node:path';
import { defineConfig } from 'vite';
import { listBundledPackages } from './build/bundled-packages.ts';

/** The gateway that `npm run dashboard` works on. */
const GATEWAY_URL = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8787';

/** Below src/parts and src/api, and of few pages, which load it: it would only lengthen the first load. */
const OF_FEW_PAGES =
  'explanation|warning-list|save-blob|markdown|diff-view|time-chart|generation/|sse|client-snippets|api-calls|export-buttons|responses|clips|operations';

export default defineConfig({
  root: import.meta.dirname,
  // Pages are at / and below /ui/, everything that is fetched is below /ui/.
  base: '/ui/',
  plugins: [listBundledPackages(path.join(import.meta.dirname, '..')), react(), tailwindcss()],
  build: {
    target: 'es2024',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
    rolldownOptions: {
      output: {
        // What many pages share is one file: each file is a request.
        codeSplitting: {
          groups: [
            {
              name: 'vendor',
              test: /node_modules\/(?:react|react-dom|scheduler|@tanstack|@base-ui|@floating-ui|use-sync-external-store|openapi-fetch)\//,
            },
            {
              name: 'shared',
              test: new RegExp(`src/(?:parts|api)/(?!${OF_FEW_PAGES})`),
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '^/(ui/api|openapi.json)': { target: GATEWAY_URL } },
  },
});
