import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PREFERENCES } from '../../canonical/directives.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Endpoint, Model } from '../../catalog/model.ts';
import { priceTableOf as tableOf } from '../../catalog/price.ts';
import { openCandidatePool, type CandidatePoolRules } from './candidate-pool.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

function endpoint(slug: string, changes: Partial<Endpoint> = {}): Endpoint {
  return {
    model: slug,
    provider: 'alpha',
    providerName: 'Alpha',
    upstreamModel: slug,
    price: tableOf({ prompt: 1, completion: 2 }),
    dataPolicy: {},
    formats: ['chat'],
    cancellable: true,
    ...changes,
  };
}

function model(slug: string, changes: Partial<Model> = {}, ...endpoints: readonly Partial<Endpoint>[]): Model {
  const served = (endpoints.length > 0 ? endpoints : [{}]).map((one) => endpoint(slug, one));
  return { slug, name: slug, endpoints: served, ...changes };
}

function request(changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Hello' }] }],
    tools: [],
    settings: {},
    directives: plainDirectives('service/auto'),
    warnings: [],
    ...changes,
  };
}

const FORMATS = { chat: { parameters: new Set(['tools', 'response_format', 'structured_outputs']) } };

function open(models: readonly Model[], originalRequest = request(), rules: Partial<CandidatePoolRules> = {}) {
  const parts = { catalog: { list: () => models }, stats: { routing: () => undefined }, formats: FORMATS };
  const field = openCandidatePool(parts, originalRequest, { preferences: DEFAULT_PREFERENCES, ...rules });
  return {
    slugs: field.models.map(({ slug }) => slug),
    out: field.leftOut.map(({ slug, reason, lacks }) => [slug, reason, ...(lacks === undefined ? [] : [lacks])]),
    models: field.models,
  };
}

// @spec router-2
test('never chooses a model without a known price, without a review, or that writes no text', () => {
  const { slugs, out } = open([
    model('a/one'),
    model('a/unpriced', {}, { price: undefined }),
    model('a/found', { unreviewed: true }),
    model('a/painter', { outputModalities: ['image'] }),
  ]);
  assert.deepEqual(slugs, ['a/one']);
  assert.deepEqual(out, [
    ['a/unpriced', 'price_unknown'],
    ['a/found', 'not_reviewed'],
    ['a/painter', 'no_text'],
  ]);
});

test('requires everything that the request needs, also what a named model may lack', () => {
  const tools = [{ type: 'function', name: 'f' }] as const;
  const { slugs, out } = open(
    [
      model('a/able', {}, { supportedParameters: new Set(['tools']) }),
      model('a/unable', {}, { supportedParameters: new Set(['temperature']) }),
      model('a/some', {}, { supportedParameters: new Set() }, { supportedParameters: new Set(['tools']) }),
    ],
    request({ tools }),
  );
  assert.deepEqual(slugs, ['a/able', 'a/some']);
  assert.deepEqual(out, [['a/unable', 'require_parameters', 'tools']]);
});

test('leaves out models without room for the prompt and the response, unless none has room', () => {
  const models = [model('a/small', {}, { contextTokensMax: 100 }), model('a/large', {}, { contextTokensMax: 10_000 })];
  const originalRequest = request({ settings: { maxTokens: 500 } });
  assert.deepEqual(open(models, originalRequest).slugs, ['a/large']);
  assert.deepEqual(open(models.slice(0, 1), originalRequest).slugs, ['a/small']);
});

test('chooses no model that the gateway cannot pay, unless the caller has a credential', () => {
  const models = [model('a/one', {}, { lacksCredentials: true }), model('a/two')];
  assert.deepEqual(open(models).out, [['a/one', 'credentials']]);
  const credentials = () => [{ id: '1', label: 'own', isFallback: false, alwaysUse: false }];
  assert.deepEqual(open(models, request(), { credentials }).slugs, ['a/one', 'a/two']);
});

test('keeps to an order without fallbacks', () => {
  const models = [model('a/one', {}, { provider: 'beta' }), model('a/two')];
  const preferences = { ...DEFAULT_PREFERENCES, order: ['beta'], allowFallbacks: false };
  assert.deepEqual(open(models, request(), { preferences }).slugs, ['a/one']);
});

test('chooses the sandbox only where no other model could be paid, and its first model alone', () => {
  const sandbox = [model('s/echo', { simulated: true }), model('s/tools', { simulated: true })];
  assert.deepEqual(open([...sandbox, model('a/one')]).slugs, ['a/one']);
  assert.deepEqual(open([...sandbox, model('a/one', {}, { lacksCredentials: true })]).slugs, ['s/echo']);
  assert.deepEqual(open(sandbox).slugs, ['s/echo']);
});

test("takes the author's own list price, else the middle one of those that the gateway can pay", () => {
  const priced = (provider: string, prompt: number, lacksCredentials = false): Partial<Endpoint> => ({
    provider,
    price: tableOf({ prompt, completion: 2 * prompt }),
    ...(lacksCredentials && { lacksCredentials }),
  });
  const { models } = open([
    model('acme-ai/own', {}, priced('reseller', 1), priced('acmeai', 5)),
    model('acme/middle', {}, priced('x', 9), priced('y', 1), priced('z', 3)),
    model('acme/paid', {}, priced('x', 9), priced('y', 1, true)),
    model('acme/free', {}, priced('x', 0)),
  ]);
  assert.deepEqual(
    models.map(({ promptPrice, completionPrice, isFree }) => [promptPrice, completionPrice, isFree]),
    [
      [5, 10, false],
      [3, 6, false],
      [9, 18, false],
      [0, 0, true],
    ],
  );
});
