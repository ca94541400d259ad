import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json } from '../../src/lib/json.ts';

const GOLDEN = fileURLToPath(new URL('../golden/', import.meta.url));
const UPDATES = process.env['UPDATE_GOLDEN'] === '1';
const LINE_CHARS_MAX = 120;
const INDENT = '  ';

/**
 * Compares with `tests/golden/<path>`. With `UPDATE_GOLDEN=1` it is written instead; then read what changed, line by
 * line: a golden that has not been read proves nothing.
 */
export function checkGolden(path: string, value: Json): void {
  const file = join(GOLDEN, path);
  const formatted = `${formatJson(value)}\n`;
  if (UPDATES) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, formatted);
    return;
  }
  const hint = `tests/golden/${path} differs; UPDATE_GOLDEN=1 writes it again, to be reviewed`;
  assert.ok(existsSync(file), `tests/golden/${path} does not exist; UPDATE_GOLDEN=1 writes it, to be reviewed`);
  const golden = readFileSync(file, 'utf8');
  if (golden !== formatted) assert.equal(formatted, golden, `${hint}:\n${firstDifference(golden, formatted)}`);
}

/** Names of the golden files below a folder, without `.json`: for the test that none is left over. */
export function goldenNames(folder: string): readonly string[] {
  const directory = join(GOLDEN, folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .toSorted();
}

/** Lists of events: one line each, however long, as streams are read. */
const EVENT_LISTS: ReadonlySet<string> = new Set(['stream', 'events']);

/** JSON for reading: whatever fits on a line stands on one. */
function formatJson(value: Json, indent = '', before = 0): string {
  const line = formatLine(value);
  if (indent.length + before + line.length <= LINE_CHARS_MAX || (!Array.isArray(value) && !isJsonObject(value)))
    return line;
  const inner = indent + INDENT;
  if (Array.isArray(value)) return `[\n${value.map((item) => inner + formatJson(item, inner)).join(',\n')}\n${indent}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const lines = members.map(([name, member]) => {
    const head = `${JSON.stringify(name)}: `;
    if (EVENT_LISTS.has(name) && Array.isArray(member) && member.length > 0)
      return `${inner}${head}[\n${member.map((item) => inner + INDENT + formatLine(item)).join(',\n')}\n${inner}]`;
    return inner + head + formatJson(member ?? null, inner, head.length);
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

function formatLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item) => formatLine(item)).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return '{}';
  return `{ ${members.map(([name, member]) => `${JSON.stringify(name)}: ${formatLine(member ?? null)}`).join(', ')} }`;
}

function firstDifference(before: string, after: string): string {
  const [left, right] = [before.split('\n'), after.split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return `line ${at + 1}\n- ${left[at] ?? ''}\n+ ${right[at] ?? ''}`;
}

/** Signatures, encrypted data and the like: nothing to read, but each character counts. */
const SEAL_CHARS_MAX = 100;
const SHOWN_CHARS = 24;

/** Every unreadable string is cut to its beginning, its length and a digest; texts longer than the bound too. */
export function shortenStrings(value: Json, textCharsMax: number): Json {
  if (typeof value === 'string') return shortenString(value, textCharsMax);
  if (Array.isArray(value)) return value.map((item) => shortenStrings(item, textCharsMax));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, shortenStrings(member ?? null, textCharsMax)]),
  );
}

function shortenString(text: string, textCharsMax: number): string {
  const sealed =
    text.length > SEAL_CHARS_MAX && (/^[^\s,]*$/.test(text) || text.startsWith('data:')) && !text.startsWith('http');
  if (!sealed && text.length <= textCharsMax) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const shown = text.slice(0, sealed ? SHOWN_CHARS : textCharsMax / 2);
  return `${shown}… (${text.length} characters, sha256 ${digest})`;
}
