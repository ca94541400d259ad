import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

/*
 * As much of Helm's templates as deploy/helm uses: Go's actions, and a few functions of Sprig and Helm. Anything else is an
 * error here, so that the chart stays within what is tried. Its output was compared with that of Go's own engine and Sprig.
 */

type Value = unknown;
type Scope = { readonly dot: Value; readonly root: Value; readonly variables: ReadonlyMap<string, Value> };
type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: string }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: string;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

const ACTION = /\{\{(-?)\s*([^]*?)\s*(-?)\}\}/g;
const TOKEN = /"(?:[^"\\]|\\.)*"|\(|\)|\||[^\s()|]+/g;

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

/**
 * The manifests that `helm template` would print.
 * @param values over those of values.yaml, a mapping by mapping
 * @throws Error for a template that cannot be read, and with the words of `fail`
 */
export function renderChart(folder: string, release: Release, values: object = {}): readonly Record<string, Value>[] {
  return parseManifests(renderChartText(folder, release, values));
}

export function renderChartText(folder: string, release: Release, values: object = {}): string {
  const chart: Record<string, Value> = parse(readFileSync(path.join(folder, 'Chart.yaml'), 'utf8'));
  const defaults: Record<string, Value> = parse(readFileSync(path.join(folder, 'values.yaml'), 'utf8'));
  const names = readdirSync(path.join(folder, 'templates')).toSorted();
  const defined = new Map<string, readonly Node[]>();
  const files = names.map((name) => [name, parseTemplate(readTemplate(folder, name), defined)] as const);
  const root = {
    Values: merge(defaults, values),
    Release: { Name: release.name, Namespace: release.namespace, Service: 'Helm' },
    Chart: { ...chart, AppVersion: chart['appVersion'], Name: chart['name'] },
  };
  return files
    .filter(([name]) => name.endsWith('.yaml'))
    .map(([, nodes]) => renderNodes(nodes, { dot: root, root, variables: new Map() }, defined).trim())
    .filter((text) => text !== '')
    .join('\n---\n');
}

export function parseManifests(text: string): readonly Record<string, Value>[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      const value: Record<string, Value> | null = document.toJS();
      return value;
    })
    .filter((one) => one !== null);
}

function readTemplate(folder: string, name: string): string {
  return readFileSync(path.join(folder, 'templates', name), 'utf8');
}

function merge(base: Value, over: Value): Value {
  if (!isMapping(base) || !isMapping(over)) return over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, key in over ? merge(base[key], over[key]) : base[key]]));
}

function isMapping(value: Value): value is Record<string, Value> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text and actions, with the white space that `{{-` and `-}}` take away. */
function parseTemplate(template: string, defined: Map<string, readonly Node[]>): readonly Node[] {
  const parts: (string | { readonly action: string })[] = [];
  let from = 0;
  let trimsNext = false;
  for (const match of template.matchAll(ACTION)) {
    const [whole, trimsBefore = '', action = '', trimsAfter = ''] = match;
    let text = template.slice(from, match.index);
    if (trimsNext) text = text.trimStart();
    if (trimsBefore === '-') text = text.trimEnd();
    parts.push(text, { action });
    trimsNext = trimsAfter === '-';
    from = match.index + whole.length;
  }
  const last = template.slice(from);
  parts.push(trimsNext ? last.trimStart() : last);
  const rest = [...parts];
  const nodes = parseNodes(rest, defined);
  if (rest.length > 0) throw new Error('an {{ end }} too many');
  return nodes;
}

function parseNodes(rest: (string | { readonly action: string })[], defined: Map<string, readonly Node[]>): Node[] {
  const nodes: Node[] = [];
  for (let part = rest[0]; part !== undefined; part = rest[0]) {
    if (typeof part !== 'string' && /^(?:end|else)\b/.test(part.action)) return nodes;
    rest.shift();
    if (typeof part === 'string') nodes.push({ kind: 'text', text: part });
    else {
      const node = parseAction(part.action, rest, defined);
      if (node !== undefined) nodes.push(node);
    }
  }
  return nodes;
}

function parseAction(
  action: string,
  rest: (string | { readonly action: string })[],
  defined: Map<string, readonly Node[]>,
): Node | undefined {
  const [, keyword, pipeline = ''] = /^(if|with|range|define)\s+([^]*)$/.exec(action) ?? [];
  if (action.startsWith('/*')) return undefined;
  if (keyword === undefined) return { kind: 'action', pipeline: action };
  const body = parseNodes(rest, defined);
  const otherwise = isElse(rest[0]) ? (rest.shift(), parseNodes(rest, defined)) : [];
  const end = rest.shift();
  if (typeof end !== 'object' || end.action !== 'end') throw new Error(`{{ ${action} }} has no end`);
  if (keyword === 'define') {
    const name: string = JSON.parse(pipeline);
    defined.set(name, body);
    return undefined;
  }
  return { kind: keyword === 'if' || keyword === 'with' ? keyword : 'range', pipeline, body, otherwise };
}

function isElse(part: string | { readonly action: string } | undefined): boolean {
  return typeof part === 'object' && part.action === 'else';
}

function renderNodes(nodes: readonly Node[], scope: Scope, defined: ReadonlyMap<string, readonly Node[]>): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return node.text;
      const value = evaluate(node.pipeline, scope, defined);
      if (node.kind === 'action') return textOf(value);
      if (!isTrue(value)) return renderNodes(node.otherwise, scope, defined);
      if (node.kind === 'if') return renderNodes(node.body, scope, defined);
      if (node.kind === 'with') return renderNodes(node.body, { ...scope, dot: value }, defined);
      if (!Array.isArray(value)) throw new Error(`range over what is no list: ${node.pipeline}`);
      return value.map((dot: Value) => renderNodes(node.body, { ...scope, dot }, defined)).join('');
    })
    .join('');
}

function textOf(value: Value): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isMapping(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function evaluate(pipeline: string, scope: Scope, defined: ReadonlyMap<string, readonly Node[]>): Value {
  const tokens = [...pipeline.matchAll(TOKEN)].map(([token]) => token);
  const value = evaluatePipeline(tokens, scope, defined);
  if (tokens.length > 0) throw new Error(`cannot read {{ ${pipeline} }}`);
  return value;
}

function evaluatePipeline(tokens: string[], scope: Scope, defined: ReadonlyMap<string, readonly Node[]>): Value {
  let value: Value;
  let isFirst = true;
  do {
    const [head = '', ...operands] = evaluateCommand(tokens, scope, defined);
    const name = typeof head === 'symbol' ? head.description : undefined;
    const before = isFirst ? [] : [value];
    value = name === undefined ? head : call(name, [...operands, ...before], scope, defined);
    isFirst = false;
  } while (tokens[0] === '|' && tokens.shift() !== undefined);
  return value;
}

/** Operands; the name of a function stands as a symbol. */
function evaluateCommand(tokens: string[], scope: Scope, defined: ReadonlyMap<string, readonly Node[]>): Value[] {
  const operands: Value[] = [];
  for (let token = tokens[0]; token !== undefined && token !== '|' && token !== ')'; token = tokens[0]) {
    tokens.shift();
    if (token === '(') {
      operands.push(evaluatePipeline(tokens, scope, defined));
      tokens.shift();
    } else operands.push(evaluateToken(token, scope));
  }
  return operands;
}

function evaluateToken(token: string, { dot, root }: Scope): Value {
  if (token.startsWith('"')) return JSON.parse(token);
  if (/^-?\d+$/.test(token)) return Number(token);
  if (token === '.') return dot;
  if (token.startsWith('.')) return fieldOf(dot, token.slice(1));
  if (token.startsWith('$.')) return fieldOf(root, token.slice(2));
  return Symbol(token);
}

function fieldOf(value: Value, names: string): Value {
  let found = value;
  for (const name of names.split('.')) found = isMapping(found) ? found[name] : undefined;
  return found;
}

function call(
  name: string,
  operands: readonly Value[],
  scope: Scope,
  defined: ReadonlyMap<string, readonly Node[]>,
): Value {
  const [first, second] = operands;
  switch (name) {
    case 'include': {
      const nodes = defined.get(String(first));
      if (nodes === undefined) throw new Error(`no template ${String(first)}`);
      return renderNodes(nodes, { ...scope, dot: second }, defined);
    }
    case 'toYaml':
      return stringify(first, { lineWidth: 0, sortMapEntries: true }).trimEnd();
    case 'nindent':
      return `\n${String(second).replaceAll(/^(?=.)/gm, ' '.repeat(Number(first)))}`;
    case 'default':
      return isTrue(second) ? second : first;
    case 'quote':
      return JSON.stringify(textOf(first));
    case 'trunc':
      return String(second).slice(0, Number(first));
    case 'trimSuffix':
      return String(second).endsWith(String(first)) ? String(second).slice(0, -String(first).length) : second;
    case 'sha256sum':
      return createHash('sha256').update(String(first)).digest('hex');
    case 'int':
      return Math.trunc(Number(first));
    case 'gt':
      return Number(first) > Number(second);
    case 'and':
      return operands.find((one) => !isTrue(one)) ?? operands.at(-1);
    case 'not':
      return !isTrue(first);
    case 'fail':
      throw new Error(String(first));
    default:
      throw new Error(`the renderer of the tests knows no function ${name}`);
  }
}
