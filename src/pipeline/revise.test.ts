import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { mergeRules } from '../accounts/policy.ts';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import type { Warning } from '../canonical/extra.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport } from '../canonical/route-report.ts';
import type { Plugin, PluginAbilities, RequestFitting } from '../plugins/contract.ts';
import { fitOnly, revise } from './revise.ts';

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
  const record = {
    report,
    warn: (more: readonly Warning[]): void => void warnings.push(...more),
    pluginFeesNanoUsd: 0,
    fileFeesNanoUsd: 0,
    forError: {},
  };
  const question = {
    record,
    rules: RULES,
    signal: new AbortController().signal,
    abilities,
    variants: new Set<string>(),
    endpointsOf: () => [],
    fund: () => Promise.resolve(),
  };
  return { report, warnings, revised: revise({ plugins, abilities: {}, nowMs: () => 0 }, request, question) };
}

test('each plugin sees what those before it made of the request, and the chosen models stand in the place of the slug', async () => {
  const seen: (readonly string[])[] = [];
  const router: Plugin = {
    id: 'router',
    options,
    slugs: ['service/pick'],
    chooseModels: (_request, slug) => Promise.resolve([`${slug}-one`, 'a/b']),
  };
  const adder: Plugin = {
    id: 'adder',
    options,
    reviseRequest(request) {
      seen.push(request.directives.models);
      return Promise.resolve({ ...request, tools: [{ type: 'server', name: 'added' }] });
    },
  };
  const reader: Plugin = {
    id: 'reader',
    options,
    reviseEvents:
      ({ tools }) =>
      (events) => [
        ...events,
        { type: 'warning', warning: { code: 'field-changed', path: '', message: tools[0]?.type ?? '' } },
      ],
  };
  const { revised } = run([router, adder, reader], requestFor(['a/b', 'service/pick', 'c/d'], 'adder', 'reader'));
  const { request, revisers, fitting } = await revised;
  assert.deepEqual(seen, [['a/b', 'service/pick-one', 'c/d']]);
  assert.equal(request.tools.length, 1);
  assert.equal(fitting, undefined);
  assert.deepEqual(
    revisers.flatMap((reviser) => reviser([])).map((event) => (event.type === 'warning' ? event.warning.message : '')),
    ['server'],
  );
});

test('a plugin that is switched off says which model its slug is, and does nothing else', async () => {
  const router: Plugin = {
    id: 'router',
    options,
    slugs: ['service/pick'],
    chooseModels: () => Promise.resolve(['a/b']),
    reviseRequest: () => assert.fail('it is switched off'),
    reviseEvents: () => assert.fail('it is switched off'),
  };
  const asked = requestFor(['service/pick']);
  const plugins = [{ id: 'router', enabled: false, options: {} }];
  const { request } = await run([router], { ...asked, directives: { ...asked.directives, plugins } }).revised;
  assert.deepEqual(request.directives.models, ['a/b']);
});

test('a plugin knows which of its slugs was asked for', async () => {
  const seen: (string | undefined)[] = [];
  const router: Plugin = {
    id: 'router',
    options,
    slugs: ['service/pick', 'service/pick-fast'],
    chooseModels: () => Promise.resolve(['a/b']),
    reviseRequest(request, _options, { slug }) {
      seen.push(slug);
      return Promise.resolve(request);
    },
  };
  await run([router], requestFor(['c/d', 'service/pick-fast:nitro'])).revised;
  await run([router], requestFor(['c/d'], 'router')).revised;
  assert.deepEqual(seen, ['service/pick-fast:nitro', undefined]);
});

test('a request that no plugin changes goes on as it is', async () => {
  const plain: Plugin = {
    id: 'plain',
    options,
    reviseRequest: (request) => Promise.resolve(request),
    reviseEvents: () => undefined,
  };
  const request = requestFor(['a/b'], 'plain');
  const revision = await run([plain], request).revised;
  assert.equal(revision.request, request);
  assert.deepEqual(revision.revisers, []);
});

test('a plugin has what it may do handed in, and what it notes stands in the report', async () => {
  const generate: InnerGenerate = () => Promise.reject(new Error('nobody asks'));
  const noter: Plugin = {
    id: 'noter',
    options,
    reviseRequest(request, _options, context) {
      const { abilities, asked: isAsked } = context;
      context.note({
        type: 'plugin',
        name: 'noter',
        data: { asked: isAsked, mayGenerate: abilities.generate === generate },
      });
      context.warn({ code: 'content-dropped', path: 'messages', message: 'noted' });
      return Promise.resolve(request);
    },
  };
  const { report, warnings, revised } = run([noter], requestFor(['a/b'], 'noter'), { generate });
  await revised;
  assert.deepEqual(report.pipeline, [{ type: 'plugin', name: 'noter', data: { asked: true, mayGenerate: true } }]);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['noted'],
  );
});

test('what makes a request fit is found without running anything else', () => {
  const fitting: RequestFitting = { asked: true, judge: () => () => undefined, fit: () => undefined };
  const fitter: Plugin = { id: 'fitter', options, fitRequest: (_request, _options, asked) => ({ ...fitting, asked }) };
  const other: Plugin = { id: 'other', options, reviseRequest: () => assert.fail('nobody may run this') };
  const parts = { plugins: [other, fitter], abilities: {} };
  assert.equal(fitOnly(parts, requestFor(['a/b'], 'other', 'fitter'), RULES)?.asked, true);
  assert.equal(fitOnly(parts, requestFor(['a/b'], 'other'), RULES), undefined);
});

test('where no plugin finds anything in the request none is run, and what makes it fit is known at once', () => {
  const fitting: RequestFitting = { asked: true, judge: () => () => undefined, fit: () => undefined };
  const idle: Plugin = {
    id: 'idle',
    options,
    concerns: ({ turns }) => turns.length > 0,
    reviseRequest: () => assert.fail('there is nothing for it'),
  };
  const fitter: Plugin = { id: 'fitter', options, fitRequest: () => fitting };
  const request = requestFor(['a/b'], 'idle', 'fitter');
  assert.deepEqual(run([idle, fitter], request).revised, { request, fitting, revisers: [] });
});

test('a plugin that may find something is run', async () => {
  const changed = requestFor(['c/d']);
  const concerned: Plugin = {
    id: 'concerned',
    options,
    concerns: ({ turns }) => turns.length === 0,
    reviseRequest: () => Promise.resolve(changed),
  };
  assert.equal((await run([concerned], requestFor(['a/b'], 'concerned')).revised).request, changed);
});
