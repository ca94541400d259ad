import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** What a build is made of, besides the lock beside the workspace. */
const PARTS = [
  'build',
  'build.js',
  'index.html',
  'package.json',
  'size-limits.json',
  'src',
  'tsconfig.json',
  'vite.config.ts',
];

/**
 * SHA-256 over every file that a build reads: of each, in the order of their paths, the path below the workspace with forward
 * slashes, NUL, the content, NUL; the lock last. The gateway computes the same to see whether dist/ is of these sources.
 * @param {string} root of the workspace
 */
export function hashSources(root) {
  const hash = createHash('sha256');
  const add = (name, file) => hash.update(`${name}\0`).update(readFileSync(file)).update('\0');
  for (const file of PARTS.flatMap((part) => listFiles(root, part)).sort()) add(file, path.join(root, file));
  add('package-lock.json', path.join(root, '../package-lock.json'));
  return hash.digest('hex');
}

/** @returns {string[]} */
function listFiles(root, name) {
  const found = statSync(path.join(root, name), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return /\.test\.tsx?$/.test(name) ? [] : [name];
  return readdirSync(path.join(root, name)).flatMap((entry) => listFiles(root, `${name}/${entry}`));
}
