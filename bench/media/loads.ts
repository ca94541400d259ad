/** What the upstream of the media suite answers with. */
export const ANSWER_SIZES = { inputs: 2_048, dimensions: 1_536, documents: 1_000, pictureBytes: 3_145_728 } as const;
/** Speech: chunks at a pace, of some seconds in all. */
export const SPEECH = { chunks: 25, chunkBytes: 4_096, gapMs: 40 } as const;

/** An upstream that takes few texts a call, and some time for each. */
export const NARROW = { model: 'narrow', inputs: 96, delayMs: 60 } as const;
/** Speech that its reader does not take. */
export const LONG_SPEECH_BYTES = 27_000_000;
/** Even, so that its halves are alike. */
export const CLIP_BYTES = 100_000_000;

const DOCUMENT_CHARS = 1_024;

/** A kind of request that is sent again and again. */
export interface MediaLoad {
  readonly label: string;
  readonly path: string;
  /** @param model the name that its receiver knows it by */
  readonly bodyOf: (model: string) => object;
  /** At the upstream. */
  readonly model: string;
  readonly connections: number;
  /** Requests a second at the gateway, of those at the proxy that hands bytes on. */
  readonly ratioGoal?: number;
  readonly ratioMin?: number;
  /** What the gateway takes longer for one answer than the proxy, ms. */
  readonly addedMsGoal?: number;
  readonly addedMsMin?: number;
}

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_none, at) => `text ${at}`);
const embed = (model: string, count: number, encoding: 'float' | 'base64'): object => ({
  model,
  input: count === 1 ? 'text' : texts(count),
  encoding_format: encoding,
});

export const MEDIA_LOADS: readonly MediaLoad[] = [
  {
    label: 'embeddings, one text, base64',
    path: '/v1/embeddings',
    model: 'small',
    bodyOf: (model) => embed(model, 1, 'base64'),
    connections: 64,
    ratioGoal: 0.4,
    ratioMin: 0.3,
  },
  {
    label: 'embeddings, 2,048 texts, numbers (43 MB)',
    path: '/v1/embeddings',
    model: 'large',
    bodyOf: (model) => embed(model, ANSWER_SIZES.inputs, 'float'),
    connections: 4,
    ratioGoal: 0.55,
    ratioMin: 0.4,
  },
  {
    label: 'embeddings, 2,048 texts, base64 (17 MB)',
    path: '/v1/embeddings',
    model: 'large',
    bodyOf: (model) => embed(model, ANSWER_SIZES.inputs, 'base64'),
    connections: 4,
    ratioGoal: 0.6,
    ratioMin: 0.45,
  },
  {
    label: 'embeddings, 2,048 texts, numbers made base64',
    path: '/v1/embeddings',
    model: 'float-only',
    bodyOf: (model) => embed(model, ANSWER_SIZES.inputs, 'base64'),
    connections: 1,
    addedMsGoal: 200,
    addedMsMin: 400,
  },
  {
    label: 'rerank, 1,000 documents of 1 KB',
    path: '/v1/rerank',
    model: 'rank',
    bodyOf: (model) => ({
      model,
      query: 'q',
      documents: Array.from({ length: ANSWER_SIZES.documents }, (_none, at) => `${at} `.padEnd(DOCUMENT_CHARS, 'x')),
    }),
    connections: 8,
    ratioGoal: 0.35,
    ratioMin: 0.25,
  },
  {
    label: 'a picture of 4 MB as base64',
    path: '/v1/images/generations',
    model: 'draw',
    bodyOf: (model) => ({ model, prompt: 'a cat' }),
    connections: 4,
    ratioGoal: 0.45,
    ratioMin: 0.3,
  },
];
