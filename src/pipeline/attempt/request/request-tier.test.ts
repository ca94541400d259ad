import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { setServiceTier } from './request-tier.ts';
import { plainDirectives } from '../../../../tests/support/plain-directives.ts';

function requestOf(serviceTier?: string): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools: [],
    settings: serviceTier === undefined ? {} : { serviceTier },
    directives: plainDirectives(),
    warnings: [],
  };
}

const APART = { tiersApart: new Set(['priority']) };

const CASES: readonly (readonly [
  promise: string,
  asked: string | undefined,
  endpoint: Parameters<typeof setServiceTier>[1],
  tier: string | undefined,
])[] = [
  ['requests the tier of an endpoint of that tier', undefined, { serviceTier: 'priority' }, 'priority'],
  ['whatever the caller wrote', 'flex', { serviceTier: 'priority' }, 'priority'],
  ['does not request a tier of the standard endpoint where the tier has its own', 'priority', APART, 'default'],
  ['another tier is, as it was written', 'scale', APART, 'scale'],
  ['without endpoints of tiers the word travels on', 'priority', {}, 'priority'],
  ['adds nothing where the request names no tier', undefined, APART, undefined],
];

for (const [promise, requested, endpoint, tier] of CASES)
  test(promise, () => {
    const request = requestOf(requested);
    const sent = setServiceTier(request, endpoint);
    assert.equal(sent.settings.serviceTier, tier);
    if (requested === tier) assert.equal(sent, request);
  });
