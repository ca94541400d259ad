import type { z } from 'zod';

/** What docs/configuration.md says of a key besides its type, which the schema knows. */
export interface KeyFacts {
  /** What is in effect where the key is left out. The test of the page writes it into a file and compares. */
  readonly default?: unknown;
  /** The same in words, where it is no value of the key. */
  readonly usual?: string;
  /** A value that the schema takes; absent: the default. */
  readonly example?: unknown;
}

/** A key that may be left out. @param what one sentence for operators: docs/configuration.md is made of them */
export function key<Schema extends z.ZodType>(schema: Schema, what: string, facts: KeyFacts = {}) {
  return schema.optional().meta({ ...facts, description: what });
}

/** A key that must be there. */
export function requiredKey<Schema extends z.ZodType>(schema: Schema, what: string, facts: KeyFacts = {}): Schema {
  return schema.meta({ ...facts, description: what });
}
