import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * What is too large, or must not be there, each as a sentence.
 * @param {string} folder of the build, with Vite's manifest
 * @param {string} limitsFile
 * @returns {string[]}
 */
export function checkSizes(folder, limitsFile) {
  const limits = JSON.parse(readFileSync(limitsFile, 'utf8'));
  const manifest = JSON.parse(readFileSync(path.join(folder, '.vite/manifest.json'), 'utf8'));
  const files = readdirSync(path.join(folder, 'assets')).map((name) => `assets/${name}`);
  const first = closure(manifest, [manifest['index.html'], manifest[limits.firstPage]], new Set());
  const problems = [
    ...over('the first load of /', sizeOf(folder, first), limits.firstLoadKb),
    ...(first.size + 1 > limits.firstLoadRequests
      ? [`the first load of / takes ${first.size + 1} requests, at most ${limits.firstLoadRequests}`]
      : []),
    ...over(
      'all style sheets',
      sizeOf(
        folder,
        files.filter((file) => file.endsWith('.css')),
      ),
      limits.cssKb,
    ),
    ...files.filter((file) => file.endsWith('.map')).map((file) => `${file}: a source map`),
    ...files.filter((file) => file.endsWith('.js')).flatMap((file) => foreignHosts(folder, file, limits.hosts)),
  ];
  const shell = closure(manifest, [manifest['index.html']], new Set());
  for (const [source, chunk] of Object.entries(manifest)) {
    const page = /^src\/pages\/([^/]+)\/page\.tsx$/.exec(source)?.[1];
    if (page === undefined) continue;
    const more = [...closure(manifest, [chunk], new Set())].filter((file) => !shell.has(file));
    problems.push(
      ...over(`the page ${page}, beside the shell,`, sizeOf(folder, more), limits.pages[page] ?? limits.pageKb),
    );
  }
  return problems;
}

/** The files that a browser fetches for these chunks before it runs them. */
function closure(manifest, chunks, found) {
  for (const chunk of chunks) {
    if (chunk === undefined || found.has(chunk.file)) continue;
    found.add(chunk.file);
    for (const file of chunk.css ?? []) found.add(file);
    closure(
      manifest,
      (chunk.imports ?? []).map((name) => manifest[name]),
      found,
    );
  }
  return found;
}

function sizeOf(folder, files) {
  let sum = 0;
  for (const file of files) sum += gzipSync(readFileSync(path.join(folder, file)), { level: 9 }).length;
  return sum / 1_000;
}

function over(what, kb, limitKb) {
  return kb > limitKb ? [`${what} has ${kb.toFixed(1)} KB gzip, at most ${limitKb}`] : [];
}

/** Addresses in a chunk, but for documentation that libraries and pages link to. */
function foreignHosts(folder, file, allowed) {
  const text = readFileSync(path.join(folder, file), 'utf8');
  const hosts = new Set(
    [...text.matchAll(/https?:\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?)/gi)].map(([, host]) => host),
  );
  return [...hosts].filter((host) => !allowed.includes(host)).map((host) => `${file}: names the host ${host}`);
}
