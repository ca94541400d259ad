import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { askForTier } from './ask-for-tier.ts';

function requestOf(serviceTier?: string): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools: [],
    settings: serviceTier === undefined ? {} : { serviceTier },
    directives: {
      models: [],
      provider: DEFAULT_PREFERENCES,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
  };
}

const APART = { tiersApart: new Set(['priority']) };

const CASES: readonly (readonly [
  promise: string,
  asked: string | undefined,
  endpoint: Parameters<typeof askForTier>[1],
  tier: string | undefined,
])[] = [
  ['an endpoint of a tier is asked for the tier', undefined, { serviceTier: 'priority' }, 'priority'],
  ['whatever the caller wrote', 'flex', { serviceTier: 'priority' }, 'priority'],
  ['a tier with an endpoint of its own is not asked of the standard one', 'priority', APART, 'default'],
  ['another tier is, as it was written', 'scale', APART, 'scale'],
  ['without endpoints of tiers the word travels on', 'priority', {}, 'priority'],
  ['and nothing is added where nobody asked', undefined, APART, undefined],
];

for (const [promise, asked, endpoint, tier] of CASES)
  test(promise, () => {
    const request = requestOf(asked);
    const sent = askForTier(request, endpoint);
    assert.equal(sent.settings.serviceTier, tier);
    if (asked === tier) assert.equal(sent, request);
  });
