import { digestedToolName, legalToolName } from '../../gateway/legal-tool-name.ts';
import type { Namespaced } from '../../../canonical/blocks.ts';

/** The namespace of tools that stand in none, for some clients. */
const BARE_NAMESPACE = 'functions';

/** `undefined` for a tool in no namespace. @param namespace as an entry, a call or a choice has it */
export function namespacedOf(namespace: string | undefined, name: string): Namespaced | undefined {
  return namespace === undefined || namespace === '' || namespace === BARE_NAMESPACE ? undefined : { namespace, name };
}

/** The one name of a tool of a namespace, where there are none: `mcp__files`, `read` -> `mcp__files__read`. */
export function joinName({ namespace, name }: Namespaced): string {
  const joint = namespace.endsWith('_') || name.startsWith('_') ? '' : '__';
  return legalToolName(`${namespace}${joint}${name}`);
}

/**
 * The names that the tools of one request have where there are no namespaces. The same tools in the same order get the
 * same names, because they are part of a cached prefix.
 */
export class ToolNames {
  readonly #flat = new Map<string, string>();
  readonly #declared = new Map<string, Namespaced>();
  readonly #taken = new Set<string>();

  /** A tool in no namespace keeps its name. */
  declareBare(name: string): void {
    this.#taken.add(name);
  }

  /** @returns the name of a tool of a namespace; one that is taken gets a digest */
  declare(tool: Namespaced): string {
    const key = keyOf(tool);
    const known = this.#flat.get(key);
    if (known !== undefined) return known;
    const joined = joinName(tool);
    const flat = this.#taken.has(joined) ? digestedToolName(key) : joined;
    this.#taken.add(flat);
    this.#flat.set(key, flat);
    this.#declared.set(flat, tool);
    return flat;
  }

  /** How a call, or a choice, is named, whether its tool is declared or not. */
  resolve(
    namespace: string | undefined,
    name: string,
  ): { readonly name: string; readonly namespaced: Namespaced | undefined } {
    const namespaced = namespacedOf(namespace, name);
    // A client that keeps no namespace sends the joined name.
    if (namespaced === undefined) return { name, namespaced: this.#declared.get(name) };
    return { name: this.#flat.get(keyOf(namespaced)) ?? joinName(namespaced), namespaced };
  }
}

function keyOf({ namespace, name }: Namespaced): string {
  return JSON.stringify([namespace, name]);
}
