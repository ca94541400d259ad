import { isRecord } from '../../api/errors.ts';

interface Leaf {
  /** `server.port` */
  readonly path: string;
  readonly value?: unknown;
}

/** Values by their paths as nested YAML; each value as JSON, which is YAML. */
export function toYaml(leaves: readonly Leaf[]): string {
  const root: Record<string, unknown> = {};
  for (const { path, value } of leaves) place(root, path.split('.'), value ?? null);
  return linesOf(root, '').join('\n');
}

function place(node: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    node[first] = value;
    return;
  }
  const below: unknown = Object.hasOwn(node, first) ? node[first] : undefined;
  const next: Record<string, unknown> = isRecord(below) ? { ...below } : {};
  place(next, rest, value);
  node[first] = next;
}

const PLAIN_KEY = /^[\w-]+$/;

function linesOf(node: Readonly<Record<string, unknown>>, indent: string): readonly string[] {
  return Object.entries(node).flatMap(([name, value]) => {
    const key = PLAIN_KEY.test(name) ? name : JSON.stringify(name);
    const isNested = isRecord(value) && Object.keys(value).length > 0;
    return isNested
      ? [`${indent}${key}:`, ...linesOf(value, `${indent}  `)]
      : [`${indent}${key}: ${JSON.stringify(value)}`];
  });
}
