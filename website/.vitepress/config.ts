import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { renderDiagram } from '../build/diagrams.ts';
import { SIDEBAR } from '../build/sidebar.ts';

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

const UNSEARCHED = /^(?:decisions\/|project\/(?:CHANGELOG|README|bench|eval)\b)/;

/** As hosts of repositories do it, so that one link works in both places. */
function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

export default defineConfig({
  title: 'Model Gateway',
  description: 'A self-hosted gateway in front of many models',
  lang: 'en',
  // Written by build/prepare.ts, from docs/ and what its pages link to.
  srcDir: '.pages',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: false,
  // Every link leads somewhere, or the build fails. Addresses of this machine are examples.
  ignoreDeadLinks: [/^https?:\/\/(?:127\.0\.0\.1|localhost)/],
  // A strict policy of scripts can name the file, but not what stands in a page.
  metaChunk: true,
  vite: { build: { chunkSizeWarningLimit: 3_000 } },
  themeConfig: {
    siteTitle: `Model Gateway ${version}`,
    search: {
      provider: 'local',
      options: {
        // Long lists of everything would be found first for every word.
        _render: (source, env, markdown) => (UNSEARCHED.test(env.relativePath) ? '' : markdown.render(source, env)),
      },
    },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Concepts', link: '/concepts/request' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'HTTP', link: '/http/' },
    ],
    sidebar: SIDEBAR,
    outline: { level: [2, 3] },
  },
  markdown: {
    anchor: { slugify },
    config(markdown) {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
        const token = tokens[index];
        if (token?.info.trim() === 'mermaid') return renderDiagram(token.content);
        return fence === undefined ? '' : fence(tokens, index, options, env, self);
      };
    },
  },
});
