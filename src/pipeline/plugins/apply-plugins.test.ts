import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { mergeRules } from '../../accounts/policy/policy.ts';
import { DEFAULT_PREFERENCES } from '../../canonical/directives.ts';
import type { Warning } from '../../canonical/extra.ts';
import type { GenerateNested } from '../../canonical/tools/nested-generation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { openRouteReport } from '../../canonical/route-report.ts';
import type { Plugin, PluginAbilities, RequestFitting } from '../../plugins/contract.ts';
import { fitOnly, applyPlugins } from './apply-plugins.ts';
import { Cancellation } from '../../lib/async/cancellation.ts';

const options = z.object({});
const RULES = { policy: { ...mergeRules([]), limits: [], preferences: [], plugins: [], defaultModel: null } };

function requestFor(models: readonly string[], ...ids: readonly string[]): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'stream',
    turns: [],
    tools: [],
    settings: {},
    directives: {
      models,
      provider: DEFAULT_PREFERENCES,
      plugins: ids.map((id) => ({ id, enabled: true, options: {} })),
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
  };
}

function run(plugins: readonly Plugin[], request: GenerationRequest, abilities: PluginAbilities = {}) {
  const report = openRouteReport('a/b', 0);
  const warnings: Warning[] = [];
  const log = {
    warn: (more: readonly Warning[]): void => void warnings.push(...more),
    chargePlugin: () => undefined,
    errorMetadata: {},
    createdMs: 0,
    noteStep: () => undefined,
  };
  const question = {
    log,
    report,
    rules: RULES,
    cancellation: new Cancellation(),
    abilities,
    variants: new Set<string>(),
    endpointsOf: () => [],
    fund: () => Promise.resolve(),
  };
  return { report, warnings, transformed: applyPlugins({ plugins, abilities: {}, nowMs: () => 0 }, request, question) };
}

// @spec plugin-5, router-1
test('shows each plugin the request as earlier ones changed it, and replaces the slug by the chosen models', async () => {
  const seen: (readonly string[])[] = [];
  const router: Plugin = {
    id: 'router',
    summary: 'Of a test.',
    options,
    slugs: ['service/pick'],
    chooseModels: (_request, slug) => Promise.resolve([`${slug}-one`, 'a/b']),
  };
  const adder: Plugin = {
    id: 'adder',
    summary: 'Of a test.',
    options,
    transformRequest(request) {
      seen.push(request.directives.models);
      return Promise.resolve({ ...request, tools: [{ type: 'server', name: 'added' }] });
    },
  };
  const reader: Plugin = {
    id: 'reader',
    summary: 'Of a test.',
    options,
    transformEvents:
      ({ tools }) =>
      (events) => [
        ...events,
        { type: 'warning', warning: { code: 'field-changed', path: '', message: tools[0]?.type ?? '' } },
      ],
  };
  const { transformed } = run([router, adder, reader], requestFor(['a/b', 'service/pick', 'c/d'], 'adder', 'reader'));
  const { request, streamTransforms, fitting } = await transformed;
  assert.deepEqual(seen, [['a/b', 'service/pick-one', 'c/d']]);
  assert.equal(request.tools.length, 1);
  assert.equal(fitting, undefined);
  assert.deepEqual(
    streamTransforms
      .flatMap((streamTransform) => streamTransform([]))
      .map((event) => (event.type === 'warning' ? event.warning.message : '')),
    ['server'],
  );
});

test('uses a disabled plugin only for the model that its slug means', async () => {
  const router: Plugin = {
    id: 'router',
    summary: 'Of a test.',
    options,
    slugs: ['service/pick'],
    chooseModels: () => Promise.resolve(['a/b']),
    transformRequest: () => assert.fail('it is switched off'),
    transformEvents: () => assert.fail('it is switched off'),
  };
  const originalRequest = requestFor(['service/pick']);
  const plugins = [{ id: 'router', enabled: false, options: {} }];
  const { request } = await run([router], {
    ...originalRequest,
    directives: { ...originalRequest.directives, plugins },
  }).transformed;
  assert.deepEqual(request.directives.models, ['a/b']);
});

test('gives a plugin the slug that the request names', async () => {
  const seen: (string | undefined)[] = [];
  const router: Plugin = {
    id: 'router',
    summary: 'Of a test.',
    options,
    slugs: ['service/pick', 'service/pick-fast'],
    chooseModels: () => Promise.resolve(['a/b']),
    transformRequest(request, _options, { slug }) {
      seen.push(slug);
      return Promise.resolve(request);
    },
  };
  await run([router], requestFor(['c/d', 'service/pick-fast:nitro'])).transformed;
  await run([router], requestFor(['c/d'], 'router')).transformed;
  assert.deepEqual(seen, ['service/pick-fast:nitro', undefined]);
});

test('passes a request on that no plugin changes', async () => {
  const plain: Plugin = {
    id: 'plain',
    summary: 'Of a test.',
    options,
    transformRequest: (request) => Promise.resolve(request),
    transformEvents: () => undefined,
  };
  const request = requestFor(['a/b'], 'plain');
  const transform = await run([plain], request).transformed;
  assert.equal(transform.request, request);
  assert.deepEqual(transform.streamTransforms, []);
});

test('gives a plugin what it may use, and reports what it notes', async () => {
  const inputs: unknown[] = [];
  const generate: GenerateNested = (input) => {
    inputs.push(input);
    return Promise.reject(new Error('not answered'));
  };
  const noter: Plugin = {
    id: 'noter',
    summary: 'Of a test.',
    options,
    async transformRequest(request, _options, context) {
      const { abilities, isRequested, signal } = context;
      context.note({ type: 'plugin', name: 'noter', data: { asked: isRequested } });
      context.warn({ code: 'content-dropped', path: 'messages', message: 'noted' });
      await abilities.generate?.({ models: ['a/b'], turns: [] }, signal).catch(() => undefined);
      return request;
    },
  };
  const { report, warnings, transformed } = run([noter], requestFor(['a/b'], 'noter'), { generate });
  await transformed;
  assert.deepEqual(report.pipeline, [{ type: 'plugin', name: 'noter', data: { asked: true } }]);
  assert.deepEqual(inputs, [{ models: ['a/b'], turns: [], startedBy: { kind: 'plugin', key: 'noter' } }]);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['noted'],
  );
});

test('finds how to make a request fit without running anything else', () => {
  const fitting: RequestFitting = { isRequested: true, judge: () => () => undefined, fit: () => undefined };
  const fitter: Plugin = {
    id: 'fitter',
    summary: 'Of a test.',
    options,
    fitRequest: (_request, _options, isRequested) => ({ ...fitting, isRequested }),
  };
  const other: Plugin = {
    id: 'other',
    summary: 'Of a test.',
    options,
    transformRequest: () => assert.fail('must not run'),
  };
  const parts = { plugins: [other, fitter], abilities: {} };
  assert.equal(fitOnly(parts, requestFor(['a/b'], 'other', 'fitter'), RULES)?.isRequested, true);
  assert.equal(fitOnly(parts, requestFor(['a/b'], 'other'), RULES), undefined);
});

test('runs no plugin where none finds anything in the request, and knows at once how to make it fit', () => {
  const fitting: RequestFitting = { isRequested: true, judge: () => () => undefined, fit: () => undefined };
  const idle: Plugin = {
    id: 'idle',
    summary: 'Of a test.',
    options,
    concerns: ({ turns }) => turns.length > 0,
    transformRequest: () => assert.fail('there is nothing for it'),
  };
  const fitter: Plugin = { id: 'fitter', summary: 'Of a test.', options, fitRequest: () => fitting };
  const request = requestFor(['a/b'], 'idle', 'fitter');
  assert.deepEqual(run([idle, fitter], request).transformed, { request, fitting, streamTransforms: [] });
});

test('runs a plugin that may find something', async () => {
  const changed = requestFor(['c/d']);
  const concerned: Plugin = {
    id: 'concerned',
    summary: 'Of a test.',
    options,
    concerns: ({ turns }) => turns.length === 0,
    transformRequest: () => Promise.resolve(changed),
  };
  assert.equal((await run([concerned], requestFor(['a/b'], 'concerned')).transformed).request, changed);
});
