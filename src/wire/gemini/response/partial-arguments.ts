import { unreachable } from '../../../lib/assert.ts';
import { ExactNumber, type Json, type JsonObject } from '../../../lib/json.ts';
import { parseJsonPath, type PathStep } from './json-path.ts';

/** Bounds on the arguments of one call, so that a stream cannot fill the memory. */
const NODES_MAX = 100_000;
const CHARS_MAX = 16 * 1024 * 1024;

type Node =
  | { readonly kind: 'object'; readonly members: Map<string, Node> }
  | { readonly kind: 'list'; readonly items: Node[] }
  | { readonly kind: 'string'; text: string }
  /** Written as it came. */
  | { readonly kind: 'value'; readonly json: string };

/**
 * Arguments that come as values for paths: `{jsonPath: "$.items[0].name", stringValue: "App", willContinue: true}`. Paths
 * may come back to a place that others have left, so the text is only known at the end.
 * @source `types.ts` of @google/genai 2.18, `PartialArg` (2026-08); recordings of vercel/ai, 2026-04 and 2026-05
 */
export class PartialArguments {
  readonly #root: Node = { kind: 'object', members: new Map() };
  #nodes = 0;
  #chars = 0;

  /** Takes one value. False when it cannot be placed. */
  add(piece: JsonObject): boolean {
    const { jsonPath } = piece;
    const steps = typeof jsonPath === 'string' ? parseJsonPath(jsonPath) : undefined;
    const leaf = leafOf(piece);
    const last = steps?.at(-1);
    if (steps === undefined || leaf === undefined || last === undefined) return false;
    this.#chars += leaf.kind === 'string' ? leaf.text.length : leaf.json.length;
    if (this.#chars > CHARS_MAX) return false;
    let node: Node | undefined = this.#root;
    for (const [at, step] of steps.slice(0, -1).entries()) {
      node = this.#enter(node, step, steps[at + 1]);
      if (node === undefined) return false;
    }
    return this.#put(node, last, leaf);
  }

  /** All arguments as JSON text. */
  write(): string {
    return writeNode(this.#root);
  }

  /** The container at a step, made where it is missing: a list when the step after it is a number. */
  #enter(node: Node, step: PathStep, next: PathStep | undefined): Node | undefined {
    const known = childOf(node, step);
    if (known !== undefined) return known;
    const made: Node = typeof next === 'number' ? { kind: 'list', items: [] } : { kind: 'object', members: new Map() };
    return this.#attach(node, step, made) ? made : undefined;
  }

  /** More of a string is added to what has come of it; any other value replaces the one before. */
  #put(node: Node, step: PathStep, leaf: Node): boolean {
    const known = childOf(node, step);
    if (known?.kind === 'string' && leaf.kind === 'string') {
      known.text += leaf.text;
      return true;
    }
    return this.#attach(node, step, leaf);
  }

  /** A list grows by one at a time: an index far beyond its end would fill the memory with nothing. */
  #attach(node: Node, step: PathStep, child: Node): boolean {
    if (++this.#nodes > NODES_MAX) return false;
    if (node.kind === 'object' && typeof step === 'string') node.members.set(step, child);
    else if (node.kind === 'list' && typeof step === 'number' && step <= node.items.length) node.items[step] = child;
    else return false;
    return true;
  }
}

function childOf(node: Node, step: PathStep): Node | undefined {
  if (node.kind === 'object' && typeof step === 'string') return node.members.get(step);
  return node.kind === 'list' && typeof step === 'number' ? node.items[step] : undefined;
}

function leafOf(piece: JsonObject): Extract<Node, { kind: 'string' | 'value' }> | undefined {
  const { stringValue, numberValue, boolValue } = piece;
  if (typeof stringValue === 'string') return { kind: 'string', text: stringValue };
  if (typeof numberValue === 'number' || numberValue instanceof ExactNumber) return valueLeaf(numberValue);
  if (typeof boolValue === 'boolean') return valueLeaf(boolValue);
  return 'nullValue' in piece ? valueLeaf(null) : undefined;
}

function valueLeaf(value: Json): Extract<Node, { kind: 'value' }> {
  return { kind: 'value', json: JSON.stringify(value) };
}

/** No deeper than a path is long. */
function writeNode(node: Node): string {
  switch (node.kind) {
    case 'string':
      return JSON.stringify(node.text);
    case 'value':
      return node.json;
    case 'list':
      return `[${node.items.map(writeNode).join(',')}]`;
    case 'object':
      return `{${[...node.members].map(([name, child]) => `${JSON.stringify(name)}:${writeNode(child)}`).join(',')}}`;
    default:
      return unreachable(node);
  }
}
