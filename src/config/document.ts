import { isAlias, isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { findJsonFault } from './json-syntax.ts';
import { readSecretFile, type ReadText } from './secret-file.ts';
import type { Document, Node, Pair, Scalar, YAMLError, YAMLMap } from 'yaml';

/** Steps from the top of a document: keys of mappings, indexes of lists. */
export type Path = readonly (string | number)[];

/** Something wrong in a configuration file. Lines count from 1. */
export interface Problem {
  readonly line: number;
  /** Counts from 1, where it is known. */
  readonly column?: number;
  readonly path: Path;
  readonly message: string;
}

/** A configuration file, read and with its variables filled in, that still knows where everything stood. */
export interface ConfigDocument {
  /** Plain data: what the file says. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  lineOf(path: Path): number;
  /** Whether the value came from the environment or a file of its own, so that it is never shown and may stand for a number. */
  isFromEnvironment(path: Path): boolean;
  /** The variables and files that the value came from: `ALPHA_API_KEY`, `file:/path`. Empty: the file says it itself. */
  sourcesOf(path: Path): readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the values of variables come from. */
interface Sources {
  readonly env: Environment;
  readonly readText: ReadText;
}

/** Far more than an alias needs, far less than a file of nested aliases that expands to gigabytes. */
const ALIAS_EXPANSIONS_MAX = 100;
const VARIABLE = /\$?\$\{[^{}\n]*\}/g;
const FILE_PREFIX = 'file:';
const VAULT_PREFIX = 'vault:';
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/*
 * `${NAME}` is not YAML: inside `{ api_key: ${NAME} }` its braces would open a mapping. While YAML reads the text, these
 * stand for `$`, `{` and `}`, one for one, so that every position stays true. They are private-use characters, which
 * no sane configuration holds.
 */
const DOLLAR = '\u{E0F0}';
const OPEN = '\u{E0F1}';
const CLOSE = '\u{E0F2}';
const MASKED_VARIABLE = /\u{E0F0}?\u{E0F0}\u{E0F1}([^\u{E0F2}]*)\u{E0F2}/gu;

/**
 * Reads YAML, of which JSON is a part. Never throws: what is wrong is in `problems`.
 * @param mustBeJson what YAML takes and JSON does not is refused: a comma before a closing bracket, say
 */
export function readDocument(
  text: string,
  env: Environment,
  readText: ReadText,
  { mustBeJson = false }: { readonly mustBeJson?: boolean } = {},
): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(maskVariables(text), { lineCounter: lines, prettyErrors: false, merge: true });
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const format = mustBeJson || isMeantAsJson(text) ? 'JSON' : 'YAML';
  const problems = [...document.errors, ...document.warnings].map((error) =>
    syntaxProblem(error, document, format, lineAt),
  );
  const isJson = mustBeJson || (problems.length > 0 && format === 'JSON');
  const jsonProblem = isJson ? findJsonProblem(text) : undefined;
  if (jsonProblem !== undefined) problems.splice(0, problems.length, jsonProblem);
  const substituted = new WeakMap<Node, readonly string[]>();
  if (problems.length === 0) problems.push(...keyProblems(document, lineAt));
  if (problems.length === 0) problems.push(...fillVariables(document, { env, readText }, substituted, lineAt));
  const value = problems.length === 0 ? toData(document, problems) : undefined;
  return {
    value,
    problems,
    lineOf: (path) => lineAt(offsetOf(document, path)),
    isFromEnvironment: (path) => {
      const node = valueAt(document, path);
      return node !== undefined && substituted.has(node);
    },
    sourcesOf(path) {
      const node = valueAt(document, path);
      return (node && substituted.get(node)) ?? [];
    },
  };
}

/** `providers.alpha.endpoints[0]`. */
export function formatPath(path: Path): string {
  let formatted = '';
  for (const step of path) {
    if (typeof step === 'number') formatted += `[${step}]`;
    else formatted += formatted === '' ? step : `.${step}`;
  }
  return formatted;
}

function maskVariables(text: string): string {
  return text.replace(VARIABLE, (variable) => variable.replaceAll('$', DOLLAR).replace('{', OPEN).replace('}', CLOSE));
}

function unmask(text: string): string {
  return text.replaceAll(DOLLAR, '$').replaceAll(OPEN, '{').replaceAll(CLOSE, '}');
}

function toData(document: Document, problems: Problem[]): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIAS_EXPANSIONS_MAX });
  } catch (error) {
    // Aliases are only followed here; an unknown anchor and too many expansions end in a ReferenceError.
    problems.push({ line: 1, path: [], message: lowerFirst(error instanceof Error ? error.message : String(error)) });
    return undefined;
  }
}

function syntaxProblem(
  error: YAMLError,
  document: Document,
  format: 'JSON' | 'YAML',
  lineAt: (offset: number) => number,
): Problem {
  const line = lineAt(error.pos[0]);
  const duplicate = error.code === 'DUPLICATE_KEY' ? pathOfKeyAt(document, error.pos[0]) : undefined;
  if (duplicate !== undefined) return { line, path: duplicate, message: 'stands here twice; keys must be unique' };
  if (error.code === 'MULTIPLE_DOCS')
    return { line, path: [], message: 'a second document (---) begins here; one is read' };
  return { line, path: [], message: `this is not ${format}: ${lowerFirst(unmask(error.message))}` };
}

/** YAML may begin like this, too: it matters only where the text cannot be read. */
function isMeantAsJson(text: string): boolean {
  return /^\s*[{[]\s*(?:["{}\]]|$)/.test(text);
}

/** What a reader of JSON stumbles over: that of YAML speaks of flow collections. */
function findJsonProblem(text: string): Problem | undefined {
  const fault = findJsonFault(text);
  if (fault === undefined) return undefined;
  const before = text.slice(0, fault.offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { line: before.length, column, path: [], message: `this is not JSON: ${fault.message}` };
}

/** YAML lets a whole mapping be a key, which is what a stray brace or `?` makes of it. */
function keyProblems(document: Document, lineAt: (offset: number) => number): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Pair(_key, pair, ancestors) {
      if (isScalar(pair.key)) return;
      const offset = isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
      problems.push({ line: lineAt(offset), path: pathOf(ancestors), message: 'a key must be plain text' });
    },
  });
  return problems;
}

function fillVariables(
  document: Document,
  sources: Sources,
  substituted: WeakMap<Node, readonly string[]>,
  lineAt: (offset: number) => number,
): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Scalar(key, scalar, ancestors) {
      if (typeof scalar.value !== 'string' || !scalar.value.includes(DOLLAR)) return;
      const path = [...pathOf(ancestors), ...(typeof key === 'number' ? [key] : [])];
      const line = lineAt(scalar.range?.[0] ?? 0);
      if (key === 'key') {
        scalar.value = unmask(scalar.value);
        return;
      }
      const filled = fill(scalar.value, sources);
      for (const message of filled.wrong) problems.push({ line, path, message });
      scalar.value = filled.text;
      if (filled.used.length > 0) substituted.set(scalar, filled.used);
    },
  });
  return problems;
}

interface Filled {
  readonly text: string;
  /** What it names: variables, and files with their prefix. */
  readonly used: readonly string[];
  readonly wrong: readonly string[];
}

function fill(masked: string, sources: Sources): Filled {
  const wrong: string[] = [];
  const used: string[] = [];
  const text = masked.replace(MASKED_VARIABLE, (whole, name: string) => {
    const plain = unmask(whole);
    if (plain.startsWith('$$')) return plain.slice(1);
    // Filled when it is sent, and not here. @spec vault-9
    if (name.startsWith(VAULT_PREFIX)) return plain;
    used.push(name);
    const found = name.startsWith(FILE_PREFIX) ? fileOf(name, sources) : variableOf(name, plain, sources);
    if ('wrong' in found) wrong.push(found.wrong);
    return 'value' in found ? found.value : '';
  });
  return { text, used, wrong };
}

type Found = { readonly value: string } | { readonly wrong: string };

function variableOf(name: string, plain: string, { env }: Sources): Found {
  if (!VARIABLE_NAME.test(name)) return { wrong: `${plain} names no variable; write $${plain} for the text itself` };
  const value = env[name];
  return value === undefined ? { wrong: `the environment variable ${name} is not set` } : { value };
}

/** `${file:/path}`: for secrets that no process may read from the environment. */
function fileOf(name: string, { readText }: Sources): Found {
  try {
    return { value: readSecretFile(name.slice(FILE_PREFIX.length), readText) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

/** The path of the pair whose key stands at this place in the text. */
function pathOfKeyAt(document: Document, offset: number): Path | undefined {
  let found: Path | undefined;
  visit(document, {
    Pair(_key, pair, ancestors) {
      if (isScalar(pair.key) && pair.key.range?.[0] === offset) found = [...pathOf(ancestors), keyText(pair.key)];
    },
  });
  return found;
}

function pathOf(ancestors: readonly (Document | Node | Pair)[]): Path {
  const path: (string | number)[] = [];
  ancestors.forEach((ancestor, index) => {
    if (isPair(ancestor)) path.push(isScalar(ancestor.key) ? keyText(ancestor.key) : '?');
    const next = ancestors[index + 1];
    if (isSeq(ancestor) && next !== undefined) path.push(ancestor.items.indexOf(next));
  });
  return path;
}

function keyText(key: Scalar): string {
  return unmask(String(key.value));
}

/** Where the last step of a path stands; where a step is missing, its nearest ancestor. */
function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    const container = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(container) ? pairOf(container, String(step)) : undefined;
    node = pair === undefined ? itemOf(container, step) : pair.value;
    const place = pair === undefined ? node : pair.key;
    if (!isNode(place)) return offset;
    offset = place.range?.[0] ?? offset;
  }
  return offset;
}

function valueAt(document: Document, path: Path): Node | undefined {
  let node: unknown = document.contents;
  for (const step of path) {
    const container = isAlias(node) ? node.resolve(document) : node;
    node = isMap(container) ? pairOf(container, String(step))?.value : itemOf(container, step);
  }
  const resolved = isAlias(node) ? node.resolve(document) : node;
  return isNode(resolved) ? resolved : undefined;
}

function itemOf(container: unknown, step: string | number): unknown {
  return isSeq(container) && typeof step === 'number' ? container.items[step] : undefined;
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && keyText(pair.key) === key);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
