/**
 * What made a generation, where that is no request of a caller for a response: a decision's calls of its judge, a benchmark
 * run, a classifier, a judge that a router, a filter or a benchmark run consults, or the compaction of a conversation. No
 * member of a request and no header sets it.
 */
export const GENERATION_ORIGINS = ['decisions', 'evaluation', 'classifier', 'judge', 'compaction'] as const;
export type GenerationOrigin = (typeof GENERATION_ORIGINS)[number];

/** Made by the gateway for itself: not what callers use models for, so neither rankings nor task shares count it. */
export const INTERNAL_ORIGINS = ['evaluation', 'classifier', 'judge'] as const satisfies readonly GenerationOrigin[];
