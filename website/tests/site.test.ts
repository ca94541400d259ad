import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

// On what `npm run docs:build` has built.
const DIST = path.join(import.meta.dirname, '../dist');
const DOCS = path.join(import.meta.dirname, '../../docs');
/** Pages that are found from others, and stand in no list: decisions, and statements of the specification. */
const UNLISTED = /^(?:decisions|spec)\//;

const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
const pages = new Map<string, string>(
  files
    .filter((name) => name.endsWith('.html'))
    .map((name) => [`/${name}`, readFileSync(path.join(DIST, name), 'utf8')]),
);

/** Where a link of a page leads: the file on the site, and the place in it. */
function targetOf(href: string, from: string): readonly [file: string, anchor: string] {
  const url = new URL(href, `http://site${from}`);
  const file = url.pathname.endsWith('/') ? `${url.pathname}index.html` : url.pathname;
  const withEnding = pages.has(file) || existsSync(path.join(DIST, file)) ? file : `${file}.html`;
  return [withEnding, decodeURIComponent(url.hash.slice(1))];
}

function attributes(html: string, name: string): readonly string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  );
}

const isForeign = (target: string): boolean => /^(?:https?:)?\/\//.test(target);

test('every link and every picture of the site leads somewhere', () => {
  const ids = new Map([...pages].map(([page, html]) => [page, new Set(attributes(html, 'id'))]));
  const broken: string[] = [];
  let links = 0;
  for (const [page, html] of pages) {
    if (page === '/404.html') continue;
    for (const href of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
      if (isForeign(href) || /^(?:mailto|data):/.test(href)) continue;
      links++;
      const [file, anchor] = targetOf(href, page);
      const isThere = pages.has(file) || existsSync(path.join(DIST, file));
      if (!isThere) broken.push(`${page}: ${href}`);
      else if (anchor !== '' && pages.has(file) && !ids.get(file)?.has(anchor))
        broken.push(`${page}: ${href} (no such heading)`);
    }
  }
  assert.ok(links > 1_000, `there are links to follow: ${links}`);
  assert.deepEqual([...new Set(broken)], []);
});

test('a page loads nothing from a foreign host', () => {
  const loaded: string[] = [];
  for (const [page, html] of pages) {
    // What a reader may follow is a link; what a browser fetches by itself is none.
    for (const tag of html.match(/<(?:script|link|img|iframe|source|video|audio|object|embed|use|image)\b[^>]*>/g) ??
      [])
      if (
        [...attributes(tag, 'src'), ...attributes(tag, 'href'), ...attributes(tag, 'srcset')].some((one) =>
          isForeign(one),
        )
      )
        loaded.push(`${page}: ${tag}`);
    for (const style of html.match(/<style\b[^]*?<\/style>|\sstyle="[^"]*"/g) ?? [])
      if (/url\(\s*["']?(?:https?:)?\/\/|@import/.test(style)) loaded.push(`${page}: ${style.slice(0, 80)}`);
  }
  for (const name of files.filter((one) => one.endsWith('.css'))) {
    const css = readFileSync(path.join(DIST, name), 'utf8');
    if (/url\(\s*["']?(?:https?:)?\/\/|@import/.test(css)) loaded.push(name);
  }
  assert.ok(pages.size > 100);
  assert.deepEqual(loaded, []);
});

test('no script of the site calls a foreign host', () => {
  const calls = files
    .filter((name) => name.endsWith('.js'))
    .filter((name) =>
      /(?:fetch|import|WebSocket|EventSource|Worker)\(\s*["'`](?:https?:)?\/\//.test(
        readFileSync(path.join(DIST, name), 'utf8').replaceAll(/<code>[^]*?<\/code>|<pre[^]*?<\/pre>/g, ''),
      ),
    );
  assert.deepEqual(calls, []);
});

test('every page of docs/ is in the list at the side', () => {
  const sidebar = pages.get('/quick-start.html') ?? '';
  const linked = new Set(attributes(sidebar, 'href').map((href) => targetOf(href, '/quick-start.html')[0]));
  const missing = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !UNLISTED.test(name))
    .filter((name) => !linked.has(`/${name.replace(/\.md$/, '.html')}`) && name !== 'http.md');
  assert.deepEqual(missing, []);
});

test('diagrams are pictures in the page, not code', () => {
  for (const page of [
    '/concepts/request.html',
    '/concepts/money.html',
    '/concepts/failover.html',
    '/concepts/scale-out.html',
    '/tour.html',
  ]) {
    const html = pages.get(page) ?? '';
    assert.match(html, /<figure class="diagram"[^>]*><svg/, page);
    assert.doesNotMatch(html, /class="language-mermaid/, page);
    // The script of the page brings the same picture: what it lacked would vanish when the page has loaded.
    const actors = html.match(/<g class="(?:actor|node)[^>]*>/g) ?? [];
    const name = `assets/${page.slice(1).replaceAll('/', '_').replace('.html', '.md.')}`;
    const script = files.find((file) => file.startsWith(name) && !file.endsWith('.lean.js'));
    assert.ok(script !== undefined, name);
    const text = readFileSync(path.join(DIST, script), 'utf8').replaceAll('\\"', '"');
    for (const actor of actors) assert.ok(text.includes(actor), `${page}: ${actor}`);
    assert.ok(actors.length > 2, page);
  }
});

test('the search index is part of the site', () => {
  const index = files.find((name) => /localSearchIndex/.test(name));
  assert.ok(index !== undefined);
  const text = readFileSync(path.join(DIST, index), 'utf8');
  for (const word of ['durability', 'embeddings', 'failover', 'sagemaker']) assert.ok(text.includes(word), word);
});
