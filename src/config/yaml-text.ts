import { LineCounter, parseDocument, stringify } from 'yaml';

/** A file of another program, as data. */
export interface YamlText {
  readonly value: unknown;
  /** The first thing that is no YAML, by its line from 1. */
  readonly problem?: { readonly line: number; readonly message: string };
}

/** As many as our own files may have: nested aliases expand to gigabytes. */
const ALIAS_EXPANSIONS_MAX = 100;

/** Reads YAML in which `${NAME}` has no meaning. Never throws. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const [error] = document.errors;
  if (error !== undefined)
    return {
      value: undefined,
      problem: { line: Math.max(1, lines.linePos(error.pos[0]).line), message: error.message },
    };
  try {
    return { value: document.toJS({ maxAliasCount: ALIAS_EXPANSIONS_MAX }) };
  } catch (cause) {
    return { value: undefined, problem: { line: 1, message: cause instanceof Error ? cause.message : String(cause) } };
  }
}

export function formatYaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
