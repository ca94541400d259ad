#!/usr/bin/env node
// Plain JavaScript that every Node understands: it finds one that runs the TypeScript sources, which takes Node 24.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
/** That of an earlier Node 24 cannot add a constraint to a table, and so cannot follow the migrations. */
const SQLITE_MIN = [3, 53];
/** Those of `npm start`. */
const NODE_FLAGS = ['--max-semi-space-size=32'];
// A package has JavaScript, since Node strips no types below node_modules; a checkout has the sources.
const packed = new URL('../dist/main.js', import.meta.url);
const entry = existsSync(fileURLToPath(packed)) ? packed : new URL('../src/main.ts', import.meta.url);

if (isNewEnough(process.versions)) await import(entry.href);
else runWithPinnedNode();

function isNewEnough({ node, sqlite = '' }) {
  const [major = 0, minor = 0] = sqlite.split('.').map(Number);
  const hasSqlite = major > SQLITE_MIN[0] || (major === SQLITE_MIN[0] && minor >= SQLITE_MIN[1]);
  return Number.parseInt(node, 10) >= NODE_MAJOR_MIN && hasSqlite;
}

function runWithPinnedNode() {
  // npm installs the one of these packages that fits the machine; from where others depend on the gateway it lies beside it.
  const windows = process.platform === 'win32';
  const pinned = `node-${windows ? 'win' : process.platform}-${process.arch}/bin/node${windows ? '.exe' : ''}`;
  const places = [`../node_modules/${pinned}`, '../node_modules/.bin/node', `../../${pinned}`];
  const node = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  if (node === undefined) {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const advice =
      entry === packed
        ? 'install the package again without --omit=optional (Linux and Windows)'
        : `run "npm ci" in ${root} (Linux and Windows)`;
    process.stderr.write(
      `Model Gateway needs Node ${NODE_MAJOR_MIN} or newer, with SQLite ${SQLITE_MIN.join('.')} or newer. This is Node ` +
        `${process.versions.node}, and the pinned one is not installed: ${advice}, or install Node 24.21\n`,
    );
    process.exitCode = 1;
    return;
  }
  // Before the child is there: on a busy machine a signal may come between its first words and our next line.
  const children = [];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => children.forEach((started) => started.kill(signal)));
  const child = spawn(node, [...NODE_FLAGS, fileURLToPath(entry), ...process.argv.slice(2)], {
    stdio: 'inherit',
    // glibc keeps what each of its arenas once held, and gives each thread one (docs/deploy.md, "Memory").
    env: { MALLOC_ARENA_MAX: '2', ...process.env },
  });
  children.push(child);
  child.on('error', (error) => {
    process.stderr.write(`Model Gateway cannot start ${node}: ${error.message}\n`);
    process.exit(1);
  });
  // A child that a signal ended has no code: shells expect 128 and the signal's number.
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
