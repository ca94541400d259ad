import { z } from 'zod';
import { invalid } from '../canonical/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { defineTool, type Tool } from './define-tool.ts';

const LISTED = 20;
const LISTED_MAX = 50;
const OFFSET_MAX = 1_000_000;
const NAME_CHARS_MAX = 512;
const QUERY_CHARS_MAX = 500;
const PAGES = 5;
const PAGES_MAX = 10;

const text = z.string().min(1).max(QUERY_CHARS_MAX);
const model = z.string().min(1).max(NAME_CHARS_MAX).describe('A slug such as author/name.');
const rows = z.object({ data: z.array(z.looseObject({})) });
const one = z.object({ data: z.looseObject({}) });

export const READ_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'list-models',
    title: 'List models',
    description: 'Lists the models that can be used, with their context length, prices and parameters.',
    isReadOnly: true,
    scope: 'mcp:read',
    input: z.object({
      query: text.optional().describe('Words that the slug or the name holds.'),
      output_modalities: text
        .optional()
        .describe('Any of them, comma-separated: text, image, audio, video, embeddings.'),
      supported_parameters: text.optional().describe('All of them, comma-separated, such as tools,reasoning.'),
      max_price: z.number().min(0).optional().describe('USD per million prompt tokens.'),
      sort: z
        .enum([
          'newest',
          'pricing-low-to-high',
          'pricing-high-to-low',
          'context-high-to-low',
          'intelligence-high-to-low',
        ])
        .optional(),
      limit: z.int().min(1).max(LISTED_MAX).default(LISTED),
      offset: z.int().min(0).max(OFFSET_MAX).default(0),
    }),
    output: rows.extend({ total_count: z.int() }),
    async run({ query, ...filters }, { principal, abilities }) {
      const { data = [], total_count = 0 } = await abilities.read('getModels', principal, {
        query: { ...filters, ...(query !== undefined && { q: query }) },
      });
      return { structured: { data, total_count } };
    },
  }),
  defineTool({
    name: 'get-model',
    title: 'Get a model',
    description: 'Shows one model: what it takes and gives, its context length, prices and parameters.',
    isReadOnly: true,
    scope: 'mcp:read',
    input: z.object({ model }),
    output: one,
    async run(input, { principal, abilities }) {
      return { structured: await abilities.read('getModel', principal, { params: pathOf(input.model) }) };
    },
  }),
  defineTool({
    name: 'list-model-endpoints',
    title: 'List the endpoints of a model',
    description: 'Lists the providers of one model, with the price, the limits and the latency of each.',
    isReadOnly: true,
    scope: 'mcp:read',
    input: z.object({ model }),
    output: one,
    async run(input, { principal, abilities }) {
      return { structured: await abilities.read('listEndpoints', principal, { params: pathOf(input.model) }) };
    },
  }),
  defineTool({
    name: 'list-providers',
    title: 'List providers',
    description: 'Lists the providers of models, with their data policies.',
    isReadOnly: true,
    scope: 'mcp:read',
    input: z.object({}),
    output: rows,
    async run(_input, { principal, abilities }) {
      return { structured: await abilities.read('listProviders', principal, {}) };
    },
  }),
  defineTool({
    name: 'credits',
    title: 'Show what the key may spend',
    description: 'Shows the limit of the key that is used, what it has spent, and what is left, in USD.',
    isReadOnly: true,
    scope: 'mcp:read',
    input: z.object({}),
    output: z.object({ limit: z.number().nullable(), usage: z.number(), limit_remaining: z.number().nullable() }),
    async run(_input, { principal, abilities }) {
      const { data } = await abilities.read('getOwnKey', principal, {});
      const { limit = null, usage = 0, limit_remaining = null } = isJsonObject(data) ? data : {};
      return { structured: { limit, usage, limit_remaining } };
    },
  }),
  defineTool({
    name: 'get-generation',
    title: 'Get a generation',
    description:
      'Shows what is recorded of a generation of this key: model, provider, tokens, cost and times. No text.',
    isReadOnly: true,
    scope: 'mcp:read',
    input: z.object({ id: z.string().min(1).max(NAME_CHARS_MAX).describe('The id of the response.') }),
    output: one,
    async run({ id }, { principal, abilities }) {
      return { structured: await abilities.read('getGeneration', principal, { query: { id } }) };
    },
  }),
  defineTool({
    name: 'search-docs',
    title: 'Search the documentation',
    description: 'Searches the documentation of the gateway and returns the sections that fit best.',
    isReadOnly: true,
    scope: 'mcp:read',
    isThere: ({ searchDocs }) => searchDocs !== undefined,
    input: z.object({ query: text, limit: z.int().min(1).max(PAGES_MAX).default(PAGES) }),
    output: z.object({ results: z.array(z.object({ page: z.string(), heading: z.string(), text: z.string() })) }),
    async run({ query, limit }, { abilities }) {
      const results = abilities.searchDocs?.(query, limit) ?? [];
      return { structured: { results: results.map((page) => ({ ...page })) } };
    },
  }),
];

/** @throws GatewayError 400 */
function pathOf(slug: string): JsonObject {
  const at = slug.indexOf('/');
  if (at < 1 || at === slug.length - 1) throw invalid('model', 'must be a slug such as author/name');
  return { author: slug.slice(0, at), slug: slug.slice(at + 1) };
}
