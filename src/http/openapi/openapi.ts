import type { z } from 'zod';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ManagementRoute } from '../management/route.ts';
import type { ConsoleRoute } from '../console/console-route.ts';
import { SESSION_COOKIE } from '../console/session-routes.ts';
import { serializeConsoleRoute } from './console.ts';
import { createSchemaComponents, type AnySchema } from './components.ts';
import { errorSchema } from './errors.ts';
import { serializeImages } from './images.ts';
import { serializeAudio, type AudioSchemas } from './audio.ts';
import { serializeEmbeddings } from './embeddings.ts';
import { serializeExplain } from './explain.ts';
import { serializeLive } from './live.ts';
import { serializeChat, serializeCountTokens, serializeMessages, type GenerationSchemas } from './generation.ts';
import { serializeRoute } from './management.ts';
import { serializeVideos } from './videos.ts';
import { serializeRerank } from './rerank.ts';
import { serializeDecisions } from './decisions.ts';
import { compactionSchema, inputTokensSchema, serializeBesideResponses, serializeResponses } from './responses.ts';

export interface OpenApiDeps {
  readonly routes: readonly ManagementRoute[];
  readonly consoleRoutes: readonly ConsoleRoute[];
  readonly generation: Readonly<Record<ClientFormatId, GenerationSchemas>>;
  /** What of a request in the messages format is looked at to count it. */
  readonly countTokens: AnySchema;
  /** The body of `POST /embeddings` but for its `input`. */
  readonly embeddings: z.ZodObject<z.ZodRawShape>;
  /** The body of `POST /videos`. */
  readonly videos: AnySchema;
  readonly audio: AudioSchemas;
  /** The body of the routes that make pictures. */
  readonly images: z.ZodObject<z.ZodRawShape>;
  /** The body of `POST /rerank` but for its `documents`. */
  readonly rerank: z.ZodObject<z.ZodRawShape>;
  /** The body of `POST /alpha/decisions` but for its `state` and `questions`. */
  readonly decisions: z.ZodObject<z.ZodRawShape>;
  /** Of the interface: `1.0.0`. */
  readonly version: string;
}

/** The OpenAPI 3.1 document of everything the gateway answers, made from the schemas that check the requests. */
export function buildOpenApi(deps: OpenApiDeps): JsonObject {
  const components = createSchemaComponents();
  const error = components.add('Error', errorSchema, 'output');
  const paths: Record<string, Record<string, JsonObject>> = {
    '/chat/completions': { post: serializeChat(components, deps.generation.chat, error) },
    '/messages': { post: serializeMessages(components, deps.generation.messages) },
    '/responses': { post: serializeResponses(components, deps.generation.responses) },
    '/responses/compact': {
      post: serializeBesideResponses(components, deps.generation.responses.request, {
        operationId: 'compactResponse',
        summary: 'Shorten a history to its latest messages and a sealed summary',
        name: 'CompactResponse',
        schema: compactionSchema,
      }),
    },
    '/responses/input_tokens': {
      post: serializeBesideResponses(components, deps.generation.responses.request, {
        operationId: 'countInputTokens',
        summary: 'Count the input tokens of a request, which costs nothing',
        name: 'InputTokensResponse',
        schema: inputTokensSchema,
      }),
    },
    '/messages/count_tokens': { post: serializeCountTokens(components, deps.countTokens) },
  };
  paths['/embeddings'] = { post: serializeEmbeddings(components, deps.embeddings, error) };
  paths['/videos'] = { post: serializeVideos(components, deps.videos, error) };
  Object.assign(paths, serializeAudio(components, deps.audio, error));
  Object.assign(paths, serializeImages(components, deps.images, error));
  paths['/rerank'] = { post: serializeRerank(components, deps.rerank, error) };
  paths['/alpha/decisions'] = { post: serializeDecisions(components, deps.decisions, error) };
  paths['/route/explain'] = { post: serializeExplain(components, deps.generation, error) };
  // Every session of the dashboard may generate, as a key of its own.
  for (const operations of Object.values(paths))
    for (const operation of Object.values(operations)) Object.assign(operation, { 'x-console-role': 'member' });
  for (const route of deps.routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = serializeRoute(components, route, deps.generation, error);
  }
  for (const route of deps.consoleRoutes) {
    const operations = (paths[`/ui/api${route.path}`] ??= {});
    operations[route.method.toLowerCase()] = serializeConsoleRoute(components, route, error);
  }
  paths['/ui/api/live'] = { get: serializeLive(components, error) };
  return {
    openapi: '3.1.0',
    info: { title: 'Model Gateway', version: deps.version },
    servers: [{ url: '/v1' }, { url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A normal API key.' },
        apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'Instead of Authorization.' },
        consoleCookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Half of a session.' },
        consoleToken: { type: 'apiKey', in: 'header', name: 'x-console-token', description: 'The other half.' },
        managementKey: { type: 'http', scheme: 'bearer', description: 'A management key.' },
      },
      schemas: components.all(),
    },
  };
}
