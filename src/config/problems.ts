import type { z } from 'zod';
import { nearestName } from '../lib/text/nearest-name.ts';
import type { ConfigDocument, Path, Problem } from './document.ts';

/** Longest list of known keys that a message spells out. */
const KNOWN_SHOWN_MAX = 12;
const SHOWN_CHARS_MAX = 40;

const NAMES_OF_TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys to values',
  record: 'a mapping of keys to values',
};

/** What a schema's findings mean for the operator, each at its line. */
export function problemsOf(error: z.ZodError, document: ConfigDocument, value: unknown, base: Path = []): Problem[] {
  const problems: Problem[] = [];
  const misspelt = new Set<string>();
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    for (const key of issue.keys) {
      const path = [...base, ...pathOf(issue), key];
      const known = issue.message.split(' ');
      const nearest = nearestName(key, known);
      if (nearest !== undefined) misspelt.add(JSON.stringify([...base, ...pathOf(issue), nearest]));
      problems.push({ path, line: document.lineOf(path), message: `unknown key; ${orNearest(nearest, known)}` });
    }
  }
  for (const issue of error.issues) {
    const path = [...base, ...pathOf(issue)];
    // A required key that is there under a wrong spelling is one mistake, not two.
    if (issue.code === 'unrecognized_keys' || misspelt.has(JSON.stringify(path))) continue;
    problems.push({
      path,
      line: document.lineOf(path),
      message: sentence(issue, document, path, valueAt(value, pathOf(issue))),
    });
  }
  return problems;
}

export function problem(document: ConfigDocument, path: Path, message: string): Problem {
  return { path, line: document.lineOf(path), message };
}

/** `unknown adapter "openia"; did you mean "openai"?` */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  return `unknown ${what} ${quote(name)}; ${orNearest(nearestName(name, known), known)}`;
}

function orNearest(nearest: string | undefined, known: readonly string[]): string {
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  const shown = known.slice(0, KNOWN_SHOWN_MAX).join(', ');
  return `known here: ${shown}${known.length > KNOWN_SHOWN_MAX ? ', ...' : ''}`;
}

type Issue = z.core.$ZodIssue;

function pathOf(issue: Issue): Path {
  return issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
}

function sentence(issue: Issue, document: ConfigDocument, path: Path, value: unknown): string {
  const hidden = document.isFromEnvironment(path) ? 'the value of its variable' : undefined;
  switch (issue.code) {
    case 'invalid_type':
      if (value === undefined) return 'is required';
      return `must be ${NAMES_OF_TYPES[issue.expected] ?? issue.expected}, not ${hidden ?? show(value, issue.expected)}`;
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const nearest = typeof value === 'string' ? nearestName(value, allowed) : undefined;
      const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
      return `must be one of ${allowed.join(', ')}, not ${hidden ?? formatPlain(value)}${hint}`;
    }
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty';
      return `must be ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}, not ${hidden ?? formatPlain(value)}`;
    case 'too_big':
      return `must be at most ${issue.maximum}, not ${hidden ?? formatPlain(value)}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is no valid key';
    case 'unrecognized_keys':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_union':
    case 'invalid_element':
    case 'custom':
    default:
      // The schema words these itself.
      return issue.message;
  }
}

/** A secret in the wrong place must not be shown: only its type is named, save where a word stands for a number. */
function show(value: unknown, expected: string): string {
  const wantsPlain = expected === 'number' || expected === 'int' || expected === 'boolean';
  if (value === null) return 'empty';
  if (typeof value === 'string') return wantsPlain ? quote(value) : 'text';
  if (typeof value === 'number' && wantsPlain) return String(value);
  if (typeof value === 'number' || typeof value === 'boolean')
    return `a ${typeof value === 'number' ? 'number' : 'truth value'}`;
  return Array.isArray(value) ? 'a list' : 'a mapping';
}

/** A value of a closed list, or a number: never a secret. */
function formatPlain(value: unknown): string {
  return typeof value === 'number' ? String(value) : show(value, 'boolean');
}

function quote(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}...` : text);
}

/** The value at a path of plain data; `undefined` where a step is missing. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (!isContainer(found)) return undefined;
    found = Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}

/** A mapping or a list of plain data. */
export function isContainer(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}
