import type { Json, JsonObject } from '../lib/json.ts';
import { readContentRules, type ContentRules } from './content-rules.ts';

/** The kind of job that sorts one generation. Its subject is the classifier, so that one call of it runs at a time. */
export const CLASSIFY = 'classify';

/** A transcript opens only for its own generation. */
export function purposeOf(generationId: string): string {
  return `classify:${generationId}`;
}

/** What is to be sorted. */
export interface ClassifyTask {
  readonly generationId: string;
  /** Of the generation, Unix ms. */
  readonly createdAtMs: number;
  /** Of the classifier. */
  readonly version: number;
  readonly addedAtMs: number;
  readonly rules: ContentRules;
  /** The transcript. */
  readonly sealed: string;
}

/** `undefined`: it was sorted, or given up, and nothing of it is kept. */
export function readTask(checkpoint: JsonObject): ClassifyTask | undefined {
  const { generationId, createdAtMs, version, addedAtMs, rules, sealed } = checkpoint;
  if (typeof generationId !== 'string' || typeof sealed !== 'string') return undefined;
  return {
    generationId,
    createdAtMs: numberOf(createdAtMs),
    version: numberOf(version),
    addedAtMs: numberOf(addedAtMs),
    rules: readContentRules(rules),
    sealed,
  };
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
