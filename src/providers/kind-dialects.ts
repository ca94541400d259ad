import type { OpenAiCompatibleFacts } from './openai-compatible/adapter.ts';
import { inferencePath } from '../wire/rerank/deepinfra/format.ts';
import type { KindOffer } from './contract.ts';

type Pictures = Pick<KindOffer, 'image' | 'imageDialect'>;

// docs.x.ai "Image Generation" and "Image Editing", read 2026-11: a ratio and a tier in place of pixels, no mask, no seed.
const XAI_RATIOS = '1:1 3:4 4:3 9:16 16:9 2:3 3:2 9:19.5 19.5:9 9:20 20:9 1:2 2:1'.split(' ');
const XAI_IMAGE = {
  image: { nMax: 10, referencesMax: 3, mask: false, streaming: false },
  imageDialect: {
    geometry: 'ratio',
    ratios: XAI_RATIOS,
    tiers: { '1K': '1k', '2K': '2k' },
    edits: 'json',
    members: new Set(['quality', 'user']),
  },
} as const satisfies Pictures;

// @ai-sdk/togetherai 2.0, `togetherai-image-model.ts`, and docs.together.ai "Images" (2026-11).
const TOGETHER_IMAGE = {
  image: { referencesMax: 1, mask: false, streaming: false },
  imageDialect: {
    base64Word: 'base64',
    geometry: 'sides',
    edits: 'image_url',
    members: new Set(['seed', 'output_format']),
  },
} as const satisfies Pictures;

// deepinfra.com, the page "API" of each model for pictures; vercel/ai, `deepinfra-image-model.ts` (2026-11): generations and a form
// of edits, in base64, of which the seed and the output format are no members.
const DEEPINFRA_IMAGE = {
  image: { streaming: false },
  imageDialect: { members: new Set(['user']) },
} as const satisfies Pictures;

// deepinfra.com, page "API" of Qwen/Qwen3-Reranker-8B, read 2026-11: each pair of a query and a document is scored by itself, at a
// path that the form of OpenAI has no part in.
const DEEPINFRA_RERANK = {
  format: 'rerank/deepinfra',
  basePath: '/v1/inference',
  path: inferencePath,
  rerank: { pointwise: true },
} as const satisfies OpenAiCompatibleFacts['rerank'];

// docs.fireworks.ai "Generate an image with FLUX.1 [schnell] FP8" and its pages of Kontext, read 2026-11.
export const FIREWORKS_FLUX = {
  format: 'image/fireworks',
  models: /flux/,
  image: {
    nMax: 1,
    resolutions: ['1K'],
    outputFormats: ['png', 'jpeg'],
    referencesMax: 1,
    mask: false,
    seed: true,
    streaming: false,
  },
} as const satisfies Pick<KindOffer, 'format' | 'models' | 'image'>;

/** Its pictures, and the order of documents. */
export const DEEPINFRA_KINDS = { image: DEEPINFRA_IMAGE, rerank: DEEPINFRA_RERANK } as const;

/** How single hosts make pictures. */
export const PICTURES = { xai: XAI_IMAGE, together: TOGETHER_IMAGE } as const;

// Base64 is ignored there without an error: lmstudio-ai/lmstudio-bug-tracker#756, BerriAI/litellm#42426.
export const FLOATS_ONLY = { dialect: { encodings: ['float'] } } as const satisfies Pick<KindOffer, 'dialect'>;
export const NVIDIA_INPUT_TYPES = {
  search_query: 'query',
  query: 'query',
  search_document: 'passage',
  document: 'passage',
};
