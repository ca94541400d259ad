import { parseArgs } from 'node:util';
import { nearestName } from '../lib/text/nearest-name.ts';
import { ConfigError } from './config-error.ts';

/** What a flag takes: a word after it, or nothing. */
export interface FlagShape {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
}

export type FlagShapes = Readonly<Record<string, FlagShape>>;

/** Flags and plain words of one command line. A flag that was not given is absent. */
export interface ParsedFlags<Shapes extends FlagShapes> {
  readonly values: { readonly [Name in keyof Shapes]?: Shapes[Name]['type'] extends 'string' ? string : true };
  readonly words: readonly string[];
}

/** The flags that say where configuration comes from; every command that reads configuration takes them. */
export const CONFIG_FLAGS = {
  config: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  'data-dir': { type: 'string' },
  'log-format': { type: 'string' },
  workers: { type: 'string' },
} as const satisfies FlagShapes;

/**
 * Reads a command line. The last of a repeated flag wins.
 * @throws ConfigError (usage) for a flag that is not among `shapes`, with the nearest one that is, or a value too many or
 * too few
 */
export function parseFlags<const Shapes extends FlagShapes>(
  argv: readonly string[],
  shapes: Shapes,
): ParsedFlags<Shapes>;
export function parseFlags(argv: readonly string[], shapes: FlagShapes): { values: object; words: readonly string[] } {
  // Not strict: the parser's own complaints suggest `--` tricks instead of the flag that was meant.
  const { tokens } = parseArgs({
    args: [...argv],
    options: { ...shapes },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string | true> = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const shape = Object.hasOwn(shapes, token.name) ? shapes[token.name] : undefined;
    if (shape === undefined) throw unknownFlag(token.rawName, Object.keys(shapes));
    values[token.name] = flagValue(shape, token);
  }
  return { values, words };
}

interface OptionToken {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function flagValue(shape: FlagShape, token: OptionToken): string | true {
  if (shape.type === 'boolean') {
    if (token.value !== undefined) throw usage(`${token.rawName} takes no value`);
    return true;
  }
  // `--config --port 1` would otherwise read a file named `--port`.
  const swallowedFlag = token.inlineValue !== true && token.value !== undefined && /^-./.test(token.value);
  if (token.value === undefined || token.value === '' || swallowedFlag) throw usage(`${token.rawName} needs a value`);
  return token.value;
}

function unknownFlag(flag: string, known: readonly string[]): ConfigError {
  const nearest = nearestName(flag.replace(/^-+/, ''), [...known, 'help', 'version']);
  return usage(`${flag}: unknown flag${nearest === undefined ? '' : `; did you mean "--${nearest}"?`}`);
}

function usage(message: string): ConfigError {
  return new ConfigError(message, { isUsage: true });
}
