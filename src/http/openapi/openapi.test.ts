import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { buildOpenApi } from './openapi.ts';
import { CONSOLE_ROUTES } from '../console/console-routes.ts';
import { MANAGEMENT_ROUTES } from '../routes.ts';

interface Part {
  readonly text: string;
  readonly parts?: readonly Part[] | undefined;
}

const part: z.ZodType<Part> = z.strictObject({
  text: z.string(),
  get parts() {
    return z.array(part).optional();
  },
});

const document = buildOpenApi({
  routes: MANAGEMENT_ROUTES,
  consoleRoutes: CONSOLE_ROUTES,
  generation: {
    chat: {
      request: z.looseObject({ messages: z.array(part), at: z.iso.datetime().default('2026-01-01T00:00:00Z') }),
      response: z.looseObject({ id: z.string() }),
      event: z.looseObject({ id: z.string(), at: z.string().default('') }),
    },
    responses: { request: z.looseObject({ input: z.string() }), response: z.looseObject({ id: z.string() }) },
    messages: {
      request: part,
      response: { $defs: { Block: { type: 'object' } }, type: 'array', items: { $ref: '#/$defs/Block' } },
    },
  },
  countTokens: z.looseObject({ messages: z.array(part) }),
  embeddings: z.looseObject({ model: z.string() }),
  videos: z.looseObject({ model: z.string() }),
  images: z.looseObject({ model: z.string() }),
  audio: { transcription: z.looseObject({ model: z.string() }), speech: z.looseObject({ model: z.string() }) },
  rerank: z.looseObject({ model: z.string() }),
  decisions: z.looseObject({ model: z.string() }),
  version: '1.0.0',
});

/** Every member of this name, anywhere, with where it stands. */
function findAll(
  value: Json | undefined,
  name: string,
  path = '',
): readonly { path: string; value: Json | undefined }[] {
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => findAll(item, name, `${path}/${index}`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([member, inner]) => [
    ...(member === name ? [{ path, value: inner }] : []),
    ...findAll(inner, name, `${path}/${member}`),
  ]);
}

function resolve(reference: string): Json | undefined {
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce<Json | undefined>((at, step) => (isJsonObject(at) ? at[step] : undefined), document);
}

function object(value: Json | undefined): JsonObject {
  assert.ok(isJsonObject(value), `expected an object, got ${JSON.stringify(value)}`);
  return value;
}

const operations = Object.entries(object(document['paths'])).flatMap(([path, item]) =>
  Object.entries(object(item)).map(([method, operation]) => ({ path, method, operation: object(operation) })),
);

test('resolves every reference to a component', () => {
  const references = findAll(document, '$ref');
  assert.ok(references.length > 20);
  for (const { path, value } of references) {
    assert.ok(typeof value === 'string');
    assert.match(value, /^#\/components\/schemas\/[\w.-]+$/, path);
    assert.ok(isJsonObject(resolve(value)), `${value} at ${path}`);
  }
});

test('keeps no definitions and no dialect inside schemas', () => {
  assert.deepEqual(findAll(document, '$defs'), []);
  assert.deepEqual(findAll(document, '$schema'), []);
});

// @spec workspace-16
test('contains every route of the table, and beside them only the generation routes and those of sessions', () => {
  const documented = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).toSorted();
  const known = MANAGEMENT_ROUTES.map(({ path, method }) => `${method} ${path}`);
  assert.deepEqual(
    documented,
    [
      ...known,
      ...CONSOLE_ROUTES.map(({ path, method }) => `${method} /ui/api${path}`),
      'GET /ui/api/live',
      'POST /chat/completions',
      'POST /audio/speech',
      'POST /audio/transcriptions',
      'POST /audio/translations',
      'POST /embeddings',
      'POST /images',
      'POST /images/edits',
      'POST /images/generations',
      'POST /videos',
      'POST /rerank',
      'POST /alpha/decisions',
      'POST /messages',
      'POST /messages/count_tokens',
      'POST /responses',
      'POST /responses/compact',
      'POST /responses/input_tokens',
      'POST /route/explain',
    ].toSorted(),
  );
});

test('gives every operation a unique id, a summary, a success unless it is gone, and a described response for each status', () => {
  const ids = operations.map(({ operation }) => operation['operationId']);
  assert.equal(new Set(ids).size, ids.length);
  for (const { path, operation } of operations) {
    assert.ok(typeof operation['summary'] === 'string', path);
    const responses = object(operation['responses']);
    assert.ok(
      Object.keys(responses).some((status) => status.startsWith('2') || status === '410'),
      path,
    );
    assert.ok('500' in responses, path);
    for (const [status, response] of Object.entries(responses)) {
      assert.ok(typeof object(response)['description'] === 'string');
      if (status === '304' || status === '204') continue;
      for (const media of Object.values(object(object(response)['content'])))
        assert.ok(isJsonObject(object(media)['schema']));
    }
  }
});

test('declares every path parameter as required, and uses it in its path', () => {
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = Array.isArray(operation['parameters']) ? operation['parameters'].map(object) : [];
    const declared = parameters.filter((parameter) => parameter['in'] === 'path');
    assert.deepEqual(
      declared.map((parameter) => parameter['name']),
      inPath,
    );
    for (const parameter of declared) assert.equal(parameter['required'], true);
  }
});

test('names the credentials of every operation, each by a declared scheme', () => {
  const schemes = object(object(document['components'])['securitySchemes']);
  for (const { path, operation } of operations) {
    const { security } = operation;
    assert.ok(Array.isArray(security), path);
    for (const requirement of security) for (const name of Object.keys(object(requirement))) assert.ok(name in schemes);
  }
  const [listing] = operations.filter(({ operation }) => operation['operationId'] === 'listKeys');
  assert.deepEqual(listing?.operation['security'], [{ managementKey: [] }]);
});

test('operations that look at a key promise 401 and 503, those for one kind of key 403 too', () => {
  for (const { path, method, scope, errors, readsKey = false } of MANAGEMENT_ROUTES) {
    const responses = object(object(object(object(document['paths'])[path])[method.toLowerCase()])['responses']);
    assert.equal('401' in responses, scope !== 'public' || readsKey);
    if ('401' in responses) assert.ok('503' in responses, path);
    assert.equal('403' in responses, scope === 'management' || scope === 'normal' || errors.includes(403));
  }
});

test('describes requests as they are sent, and responses as they come back', () => {
  const schemas = object(object(document['components'])['schemas']);
  assert.deepEqual(object(schemas['ChatRequest'])['required'], ['messages']);
  assert.deepEqual(object(schemas['ChatEvent'])['required'], ['id', 'at']);
});

test('describes the body of a preset as a request of its format', () => {
  for (const [path, name] of [
    ['/presets/{slug}/chat/completions', 'ChatRequest'],
    ['/presets/{slug}/messages', 'MessagesRequest'],
  ] as const) {
    const found = operations.find((each) => each.path === path);
    const { content } = object(found?.operation['requestBody']);
    assert.deepEqual(content, { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });
  }
});

test('lets a recursive schema refer to its own component', () => {
  const schemas = object(object(document['components'])['schemas']);
  const { parts } = object(object(schemas['MessagesRequest'])['properties']);
  assert.deepEqual(object(parts)['items'], { $ref: '#/components/schemas/MessagesRequest' });
});

test('does not repeat a format as a regular expression', () => {
  const withFormat = JSON.stringify(document).match(/"format":"date-time"/g) ?? [];
  assert.ok(withFormat.length > 3);
  assert.ok(!JSON.stringify(document).includes('[02468][048]00'));
});

test('keeps definitions of JSON Schema that comes as such, as components', () => {
  const schemas = object(object(document['components'])['schemas']);
  assert.deepEqual(schemas['Block'], { type: 'object' });
  assert.deepEqual(schemas['MessagesResponse'], { type: 'array', items: { $ref: '#/components/schemas/Block' } });
});
