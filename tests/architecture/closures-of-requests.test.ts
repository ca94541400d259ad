import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '../..');

/**
 * A function that is written where it is assigned to a member: V8 allocates its closure in the old generation
 * (`CheckAssigningFunctionLiteralToProperty` in its parser: it takes it for a method of a prototype). A scavenge takes each
 * closure there for alive, and all that it closes over: requests that ended were copied twice and filled the old generation.
 * A `const` in between leaves the closure in the young one.
 */
const ASSIGNED =
  /(?:[\w$\])]\s*\.\s*#?[\w$]+|^\s*[\w.#]+\[[\w.#]+\]) (?:\?\?)?= (?:async )?(?:function\b|[\w$]+ =>|\((?:[^()]|\([^()]*\))*\)(?:: [^=;\n]+)? =>)/gm;

/** What is made once a connection, or once a process. */
const RARE: Readonly<Record<string, number>> = {
  'src/http/connections.ts': 1,
  'src/http/console/callers.ts': 1,
  'src/http/server.ts': 1,
  'src/lib/net/skip-continue.ts': 2,
  'src/telemetry/append-queue.ts': 1,
};

function countAssigned(source: string): number {
  return source.match(ASSIGNED)?.length ?? 0;
}

test('leaves closures of requests in the young generation', () => {
  const found: Record<string, number> = {};
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) {
    const count = file.endsWith('.test.ts') ? 0 : countAssigned(readFileSync(path.join(ROOT, file), 'utf8'));
    if (count > 0) found[file.replaceAll('\\', '/')] = count;
  }
  assert.deepEqual(found, RARE, 'assign a const that holds the function, or list what is made once a connection');
});

test('finds each form of a function assigned to a member', () => {
  const forms = [
    'this.#cancel = () => call.cancel();',
    'socket.read = (size?: number): unknown => {',
    'run.end = async (one, f = () => 1) => one;',
    'list[0].stop ??= function () {};',
    'a.b = c => c;',
    'list[name] = (one) => one;',
  ];
  assert.deepEqual(
    forms.filter((form) => countAssigned(form) !== 1),
    [],
  );
  const others = [
    'const cancel = (): void => call.cancel();',
    'this.#cancel = cancel;',
    'a.b = (c) + (d);',
    'x.y = list.map((one) => one);',
  ];
  assert.deepEqual(
    others.filter((form) => countAssigned(form) !== 0),
    [],
  );
});
