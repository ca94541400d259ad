import type { FormatId } from '../../canonical/extra.ts';
import type { JsonObject } from '../../lib/json.ts';
import { encodePathSegment } from '../../lib/net/path-segment.ts';
import type { CallContext, Connection, ConnectionSetup, ProviderAdapter } from '../contract.ts';
import { createTokenAuthorize } from './access-token.ts';
import { readVertexCredential } from './credential.ts';
import { readVertexSettings, refuseBesideKey, vertexOptions } from './options.ts';

/** What the makers of the models that it serves know of them. */
export interface VertexFamilies {
  readonly gemini: Pick<ProviderAdapter, 'dialect' | 'classify'>;
  readonly claude: Pick<ProviderAdapter, 'dialect' | 'classify'>;
}

/** platform.claude.com "Claude on Vertex AI", read 2026-11: a member of the body there, not a header. */
const CLAUDE_VERSION = 'vertex-2023-10-16';

/**
 * Google Cloud: Gemini in its own format, Claude in the messages format, and models of other authors (`meta/...`) at
 * one address in the chat format. The name shows which of them is meant.
 */
export function createGoogleVertexAdapter({ gemini, claude }: VertexFamilies): ProviderAdapter {
  return {
    id: 'google-vertex',
    name: 'Google Vertex AI',
    apiKeyVariable: 'GOOGLE_VERTEX_API_KEY',
    // GOOGLE_CLOUD_PROJECT is set wherever `gcloud` is used; this one means Vertex and nothing else.
    turnedOnBy: ['GOOGLE_VERTEX_PROJECT'],
    options: vertexOptions,
    secretOptions: ['credentials'],
    ownHosts: /\.googleapis\.com$/,
    connect,
    readCredential: readVertexCredential,
    formats: [
      { format: 'gemini', path: geminiPath },
      { format: 'messages', path: claudePath },
      { format: 'chat', path: () => '/endpoints/openapi/chat/completions' },
    ],
    offers: [
      // 2,048 tokens a text and 20,000 a call, so that nine texts always fit; Gemini's model takes one. cloud.google.com "Get
      // text embeddings", read 2026-11.
      { kind: 'embeddings', format: 'embeddings/vertex', models: /^(?:google\/)?text/, facts: { maxInputs: 9 } },
      // All others of Gemini's, but for the first one, have a call of their own: google-genai 2.32, `tIsVertexEmbedContentModel`.
      {
        kind: 'embeddings',
        format: 'embeddings/vertex-content',
        models: /^(?:google\/)?gemini-embedding-(?!001)/,
        facts: { maxInputs: 1 },
      },
      { kind: 'embeddings', format: 'embeddings/vertex', facts: { maxInputs: 1 } },
      { kind: 'video', format: 'video/vertex-veo', models: /^(?:google\/)?veo-/ },
    ],
    formatsOf,
    checkPath: '',
    dialect: (context) => {
      if (context.format === 'gemini') return { ...gemini.dialect(context) };
      if (context.format !== 'messages') return {};
      // Neither structured output nor addresses of media there: vercel/ai, @ai-sdk/google-vertex, read 2026-08.
      return { ...claude.dialect(context), structuredOutput: false, mediaUrls: false, readsAttribution: false };
    },
    authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { 'x-goog-api-key': settings.apiKey }),
    adjust,
    classify: (answer) => gemini.classify?.(answer) ?? claude.classify?.(answer),
  };
}

/** Only Gemini can be called with a key ("express mode"), and then without a project. */
function connect(setup: ConnectionSetup): Connection {
  if (setup.apiKey !== undefined) {
    refuseBesideKey(setup);
    return {
      baseUrl: setup.baseUrl ?? 'https://aiplatform.googleapis.com/v1',
      formats: [{ format: 'gemini', path: geminiPath }],
      checkPath: false,
    };
  }
  const { project, location, credentials, clipBucket } = readVertexSettings(setup);
  const host = setup.baseUrl ?? `https://${hostOf(location)}/v1`;
  return {
    baseUrl: `${host}/projects/${project}/locations/${location}`,
    authorize: createTokenAuthorize(credentials),
    ...(clipBucket !== undefined && { clipBucket }),
    secrets: [project, ...(typeof credentials?.['private_key'] === 'string' ? [credentials['private_key']] : [])],
  };
}

// cloud.google.com "Locations", read 2026-11: the global endpoint has no location in its host, and the two that span
// regions have hosts of another kind.
function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com';
  if (location === 'eu' || location === 'us') return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}

/** `claude-...`, `meta/llama-...-maas`, `gemini-...`; the two vendors with a format of their own also with their name. */
function formatsOf(model: string): readonly FormatId[] {
  if (/^(?:anthropic\/)?claude/.test(model)) return ['messages'];
  return model.includes('/') && !model.startsWith('google/') ? ['chat'] : ['gemini'];
}

function geminiPath({ model, stream }: CallContext): string {
  const name = encodePathSegment(model.replace(/^google\//, ''));
  return `/publishers/google/models/${name}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

/** A version stands behind an `@`, which Google's examples leave as it is. */
function claudePath({ model, stream }: CallContext): string {
  const name = encodePathSegment(model.replace(/^anthropic\//, '')).replaceAll('%40', '@');
  return `/publishers/anthropic/models/${name}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
}

function adjust(body: JsonObject, { format }: CallContext): JsonObject {
  if (format !== 'messages') return body;
  const { model: _inThePath, ...rest } = body;
  return { ...rest, anthropic_version: CLAUDE_VERSION };
}
