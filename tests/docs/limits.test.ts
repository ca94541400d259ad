import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const SOURCES = new URL('../../src/', import.meta.url);

interface Row {
  readonly figure: string;
  readonly path: string;
  /** The constant that holds the figure; absent: it has no name of its own. */
  readonly name: string | undefined;
}

/** `| what | 5,000 ms | `a/b.ts` `NAME` | note |` */
function readRows(): readonly Row[] {
  const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');
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

test('lists in docs/limits.md the value of each constant', () => {
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

/** Constants that are named like bounds and bound nothing. */
const NO_BOUNDS: ReadonlySet<string> = new Set([
  // Lengths of time that are what they are called.
  'store/usage/hours.ts HOUR_MS',
  'store/usage/hours.ts DAY_MS',
  'store/usage/usage-sums.ts WEEK_MS',
  'store/usage/usage-sums.ts FIRST_MONDAY_MS',
  'telemetry/analytics/dimensions.ts MINUTE_MS',
  'notifications/deliver.ts HOUR_MS',
  'notifications/quiet-hours.ts MINUTE_MS',
  'lib/cron.ts MINUTE_MS',
  'lib/cron.ts DAY_MS',
  'app/notifications/open-notifications.ts DAY_MS',
  // Of all ports.
  'config/schema/notifications.ts PORT_MAX',
  // The length of a day.
  'accounts/limits/windows.ts DAY_MS',
  'store/journal/charges.ts DAY_MS',
  'telemetry/task-traffic.ts DAY_MS',
  'accounts/console/sign-in-limit.ts MINUTE_MS',
  'accounts/console/sign-in-limit.ts HOUR_MS',
  'accounts/limits/analytics-rate-limit.ts MINUTE_MS',
  'accounts/limits/analytics-rate-limit.ts DAY_MS',
]);

/** Constants of a file whose names end like those of bounds and times, and that are a number or a product of some. */
function boundsIn(path: string): readonly string[] {
  const source = readFileSync(new URL(path, SOURCES), 'utf8');
  const constants = source.matchAll(/^(?:export )?const ([A-Z0-9_]+_(?:MAX|MS)) = [\d_.]+(?: \* [\d_.]+)*;/gm);
  return [...constants].map(([, name]) => `${path} ${name}`);
}

test('lists in docs/limits.md every limit of the sources', () => {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !/(?:\.test\.ts|(?:^|\/)test-[^/]*)$/.test(path));
  const reported = new Set(readRows().map(({ path, name }) => `${path} ${name ?? ''}`));
  const bounds = sources.flatMap(boundsIn);
  assert.ok(bounds.length > 100, 'there are bounds to look at');
  assert.deepEqual(
    bounds.filter((bound) => !reported.has(bound) && !NO_BOUNDS.has(bound)),
    [],
  );
});
