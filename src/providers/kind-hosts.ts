import type { ProviderAdapter } from './contract.ts';
import { createOpenAiCompatibleAdapter } from './openai-compatible/adapter.ts';

// voyageai 0.4, `EmbedRequestInputType`; jina-ai-provider 1.0, `task` (2026-11).
const VOYAGE_INPUT_TYPES = { search_query: 'query', query: 'query', search_document: 'document', document: 'document' };
const JINA_TASKS = {
  search_query: 'retrieval.query',
  query: 'retrieval.query',
  search_document: 'retrieval.passage',
  document: 'retrieval.passage',
  classification: 'classification',
  clustering: 'separation',
  semantic_similarity: 'text-matching',
};

/** Hosts that make vectors and order documents, and serve no generations. */
export const KIND_HOSTS = {
  // voyageai 0.4 (2026-11): numbers come where no encoding is named, "base64" is the only one that may be, and a text that is
  // too long is cut unless that is forbidden.
  voyage: createOpenAiCompatibleAdapter({
    id: 'voyage',
    name: 'Voyage AI',
    baseUrl: 'https://api.voyageai.com/v1',
    apiKeyVariable: 'VOYAGE_API_KEY',
    embeddings: {
      dialect: {
        dimensionsMember: 'output_dimension',
        inputTypeMember: 'input_type',
        inputTypes: VOYAGE_INPUT_TYPES,
        encodings: ['base64'],
        withoutUser: true,
        body: { truncation: false },
      },
      facts: { maxInputs: 128 },
    },
    ownEmbeddings: {
      format: 'embeddings/voyage',
      models: /multimodal/,
      dialect: { inputTypeMember: 'input_type', inputTypes: VOYAGE_INPUT_TYPES },
    },
    rerank: { format: 'rerank/voyage' },
    checkPath: false,
  }),
  // jina-ai-provider 1.0 (2026-11).
  jina: createOpenAiCompatibleAdapter({
    id: 'jina',
    name: 'Jina AI',
    baseUrl: 'https://api.jina.ai/v1',
    apiKeyVariable: 'JINA_API_KEY',
    embeddings: {
      dialect: {
        encodingMember: 'embedding_type',
        inputTypeMember: 'task',
        inputTypes: JINA_TASKS,
        content: 'single',
        withoutUser: true,
      },
    },
    checkPath: false,
  }),
  // Its OpenAPI document 1.7 (2026-11): 32 texts a call by default, each scored by itself.
  tei: createOpenAiCompatibleAdapter({
    id: 'tei',
    name: 'Text Embeddings Inference',
    embeddings: { facts: { maxInputs: 32 } },
    rerank: { format: 'rerank/tei', basePath: '', rerank: { maxDocuments: 32, pointwise: true } },
    checkPath: false,
    cancellable: true,
  }),
  // michaelfeil/infinity, `infinity_server.py` (2026-11): its routes stand at the root of its host.
  infinity: createOpenAiCompatibleAdapter({
    id: 'infinity',
    name: 'Infinity',
    embeddings: { dialect: { encodings: ['float'] }, basePath: '' },
    rerank: { basePath: '' },
    checkPath: false,
    cancellable: true,
  }),
  // leejet/stable-diffusion.cpp, `examples/server` (2026-11): settings of the server may stand in the prompt.
  'stable-diffusion.cpp': createOpenAiCompatibleAdapter({
    id: 'stable-diffusion.cpp',
    name: 'stable-diffusion.cpp',
    image: {
      image: { streaming: false },
      imageDialect: { members: new Set(['output_format', 'output_compression', 'seed']), readsPromptTag: true },
    },
    checkPath: false,
    cancellable: true,
  }),
  // recraft.ai "API reference", read 2026-11: pixels, base64 on request, vectors from its vector models.
  recraft: createOpenAiCompatibleAdapter({
    id: 'recraft',
    name: 'Recraft',
    baseUrl: 'https://external.api.recraft.ai/v1',
    apiKeyVariable: 'RECRAFT_API_TOKEN',
    image: { image: { streaming: false, referencesMax: 0 }, imageDialect: { members: new Set() } },
    checkPath: false,
  }),
} satisfies Readonly<Record<string, ProviderAdapter>>;
