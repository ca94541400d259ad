import type { GenerationRow } from '../store/generations/columns.ts';
import type { GenerationStore } from '../store/generations/generations.ts';

export type { GenerationPlace, GenerationSearch } from '../store/generations/generation-search.ts';

/** The stored facts of a generation, for callers that may see it. */
export type GenerationRecord = GenerationRow;

/** Generations of the account, by id. A record may appear a moment after its answer has ended. */
export type GenerationLookup = GenerationStore;
