import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { DEFAULT_PREFERENCES } from '../../canonical/directives.ts';
import type { Directives, PluginRequest } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { GATEWAY_FIELDS, gatewayShape, decodeDirectives } from './directives.ts';
import type { OwnFields } from './directives.ts';
import type { HeaderDirectives } from './headers.ts';
import { checkShape } from './validation/check-shape.ts';

const plugin: z.ZodType<PluginRequest> = z
  .object({ id: z.enum(['one', 'two']), enabled: z.boolean().optional() })
  .transform(({ id, enabled }) => ({ id, enabled: enabled ?? true, options: {} }));
const shape = z.looseObject(gatewayShape({ plugin }));
const NO_HEADERS: HeaderDirectives = { serviceMetadata: false, betas: [] };

function read(body: unknown, own: OwnFields = {}, headers = NO_HEADERS): Directives {
  return decodeDirectives(checkShape(shape, body), headers, own);
}

function issuePath(body: unknown, own?: OwnFields): string | undefined {
  try {
    read(body, own);
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.status === 400, String(error));
    return error.issues?.[0]?.path;
  }
  return undefined;
}

test('decodes a body without directives to the defaults', () => {
  assert.deepEqual(read({}, { model: 'a/one' }), {
    models: ['a/one'],
    provider: DEFAULT_PREFERENCES,
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
  });
});

test('decodes every directive', () => {
  const body = {
    models: ['a/two'],
    provider: { zdr: true },
    plugins: [{ id: 'one' }, { id: 'two', enabled: false }],
    route: 'sort',
    session_id: 's1',
    trace: { trace_id: 't', span_name: null, team: { id: 7 } },
    stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }],
    max_tool_calls: 5,
    preset: 'p',
    debug: { echo_upstream_body: true },
    transforms: ['middle-out'],
    usage: { include: true },
  };
  const app = { url: 'https://app.example' };
  const own = { model: 'a/one', user: 'u', metadata: { k: 'v' } };
  assert.deepEqual(read(body, own, { serviceMetadata: true, sessionId: 's2', betas: ['b-1'], app }), {
    models: ['a/one', 'a/two'],
    provider: { ...DEFAULT_PREFERENCES, zdr: true, sort: { partition: 'none' } },
    plugins: [
      { id: 'one', enabled: true, options: {} },
      { id: 'two', enabled: false, options: {} },
      { id: 'context-compression', enabled: true, options: {} },
    ],
    sessionId: 's1',
    user: 'u',
    trace: { trace_id: 't', team: { id: 7 } },
    metadata: { k: 'v' },
    stopServerToolsWhen: [{ type: 'step_count_is', stepCount: 2 }],
    maxToolCalls: 5,
    preset: 'p',
    echoUpstreamBody: true,
    serviceMetadata: true,
    betas: ['b-1'],
    app,
  });
});

for (const [what, body, own, models] of [
  ['only the model', {}, { model: 'a' }, ['a']],
  ['no model at all', {}, {}, []],
  ['only a list: its first is the primary', { models: ['a', 'b'] }, {}, ['a', 'b']],
  ['the model before the list', { models: ['b', 'c'] }, { model: 'a' }, ['a', 'b', 'c']],
  ['each once', { models: ['b', 'a', 'b', 'c'] }, { model: 'a' }, ['a', 'b', 'c']],
  ['an empty list', { models: [] }, { model: 'a' }, ['a']],
  ['fallbacks of the messages format', {}, { model: 'a', fallbacks: ['b', 'a'] }, ['a', 'b']],
] as const) {
  test(`models: ${what}`, () => {
    assert.deepEqual(read(body, own).models, models);
  });
}

// @spec request-22
test('ten models to fall back to are taken, eleven are 400', () => {
  const names = Array.from({ length: 11 }, (_, index) => `m/${index}`);
  assert.equal(read({ models: names.slice(0, 10) }, { model: 'a' }).models.length, 11);
  assert.equal(read({ models: names }).models.length, 11, 'without a model the first of the list is no fallback');
  assert.equal(read({ models: [...names.slice(0, 10), 'a', 'm/0'] }, { model: 'a' }).models.length, 11);
  assert.equal(issuePath({ models: names }, { model: 'a' }), 'models');
});

// @spec request-19
test('prefers the session id of the body to the header, unless it is empty', () => {
  const headers = { ...NO_HEADERS, sessionId: 'header' };
  assert.equal(read({ session_id: 'body' }, {}, headers).sessionId, 'body');
  assert.equal(read({}, {}, headers).sessionId, 'header');
  assert.equal(read({ session_id: '' }, {}, headers).sessionId, 'header');
  assert.ok(!('sessionId' in read({ session_id: '' })));
});

// @spec plugin-4
test('takes the last of two plugin entries with one id', () => {
  const plugins = [{ id: 'one' }, { id: 'two' }, { id: 'one', enabled: false }];
  assert.deepEqual(
    read({ plugins }).plugins.map(({ id, enabled }) => [id, enabled]),
    [
      ['one', false],
      ['two', true],
    ],
  );
});

for (const [given, read_] of [
  [0, 0],
  [1, 1],
  [30, 30],
  [31, 30],
  [1_000_000, 30],
  [null, undefined],
] as const) {
  // @spec request-24
  test(`max_tool_calls ${given} is read as ${read_}`, () => {
    assert.equal(read({ max_tool_calls: given }).maxToolCalls, read_);
  });
}

// @spec request-13
test('null is absent where the specification does not refuse it', () => {
  const nulls = ['provider', 'route', 'max_tool_calls', 'preset', 'transforms', 'usage', 'x_search_filter'];
  assert.deepEqual(read(Object.fromEntries(nulls.map((field) => [field, null]))), read({}));
});

for (const [body, path] of [
  // Null in a member that is not nullable.
  [{ models: null }, 'models'],
  [{ plugins: null }, 'plugins'],
  [{ session_id: null }, 'session_id'],
  [{ trace: null }, 'trace'],
  [{ stop_server_tools_when: null }, 'stop_server_tools_when'],
  [{ debug: null }, 'debug'],
  [{ debug: { echo_upstream_body: null } }, 'debug.echo_upstream_body'],
  // Kinds and limits.
  [{ models: 'a' }, 'models'],
  [{ models: ['a', ''] }, 'models[1]'],
  [{ models: ['a', 7] }, 'models[1]'],
  [{ models: ['x'.repeat(1_025)] }, 'models[0]'],
  [{ provider: { unknown: 1 } }, 'provider.unknown'],
  [{ plugins: [{ id: 'three' }] }, 'plugins[0].id'],
  [{ plugins: { id: 'one' } }, 'plugins'],
  [{ route: 'random' }, 'route'],
  [{ session_id: 's'.repeat(257) }, 'session_id'],
  [{ trace: { trace_id: 7 } }, 'trace.trace_id'],
  [{ trace: [] }, 'trace'],
  [{ stop_server_tools_when: [] }, 'stop_server_tools_when'],
  [{ max_tool_calls: -1 }, 'max_tool_calls'],
  [{ max_tool_calls: 1.5 }, 'max_tool_calls'],
  [{ max_tool_calls: '3' }, 'max_tool_calls'],
  [{ preset: '' }, 'preset'],
  [{ preset: 'p'.repeat(257) }, 'preset'],
  [{ debug: { echo_upstream_body: 'yes' } }, 'debug.echo_upstream_body'],
  [{ transforms: 'middle-out' }, 'transforms'],
  [{ transforms: ['inside-out'] }, 'transforms[0]'],
  [{ usage: true }, 'usage'],
] as const) {
  test(`${JSON.stringify(body).slice(0, 60)} is 400 at ${path}`, () => {
    assert.equal(issuePath(body), path);
  });
}

// @spec request-18
test('limits are met exactly', () => {
  assert.equal(read({ session_id: 's'.repeat(256) }).sessionId?.length, 256);
  assert.equal(read({ preset: 'p'.repeat(256) }).preset?.length, 256);
  assert.equal(read({ models: ['x'.repeat(1_024)] }).models.length, 1);
});

// @spec web-16
test('does not refuse an invalid search filter', () => {
  for (const filter of [null, 7, 'x', {}, { allowed_x_handles: 3 }]) read({ x_search_filter: filter });
});

// @spec request-12
test('lists the fields that are never sent upstream', () => {
  assert.deepEqual([...GATEWAY_FIELDS].toSorted(), [
    'debug',
    'fallbacks',
    'max_tool_calls',
    'models',
    'n',
    'plugins',
    'preset',
    'provider',
    'route',
    'session_id',
    'stop_server_tools_when',
    'trace',
    'transforms',
    'usage',
    'user',
    'x_search_filter',
  ]);
});

test('decodes any JSON in the gateway fields, or refuses it with a GatewayError', () => {
  const field = fc.constantFrom(...GATEWAY_FIELDS);
  fc.assert(
    fc.property(fc.dictionary(field, fc.jsonValue()), (body) => {
      issuePath(body, { model: 'a' });
    }),
    { numRuns: 1_000 },
  );
});

const ONE = { id: 'one', enabled: true, options: {} };
const COMPRESSION_OFF = { id: 'context-compression', enabled: false, options: {} };

// @spec chat-44
test('switches the plugin by the old list of transforms, unless the plugin itself is set', () => {
  const compression = (enabled: boolean): object => ({ id: 'context-compression', enabled, options: {} });
  assert.deepEqual(read({ transforms: ['middle-out'] }).plugins, [compression(true)]);
  assert.deepEqual(read({ transforms: [] }).plugins, [compression(false)]);
  assert.deepEqual(read({ transforms: null }).plugins, []);
  const named = { ...checkShape(shape, { transforms: ['middle-out'] }), plugins: [COMPRESSION_OFF, ONE] };
  assert.deepEqual(decodeDirectives(named, NO_HEADERS, {}).plugins, [COMPRESSION_OFF, ONE]);
});
