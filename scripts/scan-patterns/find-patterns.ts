import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTokens } from '../../tests/support/architecture/source-tokens.ts';

/** A regular expression where it stands. */
export interface FoundPattern {
  /** `src/wire/a.ts:12`. */
  readonly place: string;
  /** With its slashes and flags. */
  readonly literal: string;
}

export interface FoundPatterns {
  readonly patterns: readonly FoundPattern[];
  /** Places where a pattern is built at run time, which cannot be read from the source. */
  readonly made: readonly string[];
}

/** Texts of the operator alone: command lines, the configuration. */
const OPERATORS = /^src\/(?:cli|config)\//;

/** Every pattern of the sources that may meet what callers or upstreams send. */
export function findPatterns(root: string): FoundPatterns {
  const patterns: FoundPattern[] = [];
  const made: string[] = [];
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts') && !OPERATORS.test(file),
  );
  for (const file of files.toSorted()) {
    const source = readFileSync(join(root, file), 'utf8');
    const tokens = readTokens(source, (literal, line) => patterns.push({ place: `${file}:${line}`, literal }));
    for (const [at, { text, line }] of tokens.entries())
      if (text === 'RegExp' && tokens[at - 1]?.text === 'new' && tokens[at + 1]?.text === '(')
        made.push(`${file}:${line}`);
  }
  return { patterns, made };
}
