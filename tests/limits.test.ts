import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const SOURCES = new URL('../src/', import.meta.url);

interface Row {
  readonly figure: string;
  readonly path: string;
  /** The constant that holds the figure; absent: it has no name of its own. */
  readonly name: string | undefined;
}

/** `| what | 5,000 ms | `a/b.ts` `NAME` | note |` */
function readRows(): readonly Row[] {
  const page = readFileSync(new URL('../docs/limits.md', import.meta.url), 'utf8');
  return page.split('\n').flatMap((line) => {
    const match = /^\| .* \| ([^|]*?) +\| `([^`]+\.ts)`(?: `([A-Z0-9_]+)`)? +\|/.exec(line);
    return match === null ? [] : [{ figure: match[1] ?? '', path: match[2] ?? '', name: match[3] }];
  });
}

/** The product of numbers that a constant is set to. */
function valueOf(path: string, name: string): number | undefined {
  const source = readFileSync(new URL(path, SOURCES), 'utf8');
  const match = new RegExp(`^(?:export )?const ${name} = ([\\d_.]+(?: \\* [\\d_.]+)*);`, 'm').exec(source);
  return match?.[1]
    ?.split('*')
    .map((factor) => Number(factor.trim().replaceAll('_', '')))
    .reduce((product, factor) => product * factor, 1);
}

test('every figure in docs/limits.md is what its constant says', () => {
  const rows = readRows();
  assert.ok(rows.length > 50, 'the page has its tables');
  const wrong = rows.flatMap(({ figure, path, name }) => {
    if (!existsSync(new URL(path, SOURCES))) return [`${path}: there is no such file`];
    if (name === undefined) return [];
    const value = valueOf(path, name);
    const written = Number.parseFloat(figure.replaceAll(',', ''));
    return value === written ? [] : [`${path} ${name}: is ${value ?? 'not there'}, the page says ${figure}`];
  });
  assert.deepEqual(wrong, []);
});
