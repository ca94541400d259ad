import { samplePrincipal } from '../accounts/test-principal.ts';
import { DEFAULT_PREFERENCES } from '../canonical/directives.ts';
import type { Endpoint } from '../catalog/model.ts';
import { GenerationRecord } from '../telemetry/record.ts';

/** 1 and 2 USD a million tokens. */
export const sampleEndpoint: Endpoint = {
  model: 'acme/one',
  provider: 'first',
  providerName: 'First',
  upstreamModel: 'one',
  price: { prompt: 1_000_000, completion: 2_000_000 },
  dataPolicy: {},
  formats: ['chat'],
  cancellable: true,
};

/** The record of a streamed chat request, at a time that stands still. */
export function sampleRecord(): GenerationRecord {
  return new GenerationRecord({
    id: 'gen-1',
    request: {
      format: 'chat',
      delivery: 'stream',
      turns: [{ role: 'user', blocks: [{ type: 'text', text: 'a question of some length' }], plain: true }],
      tools: [],
      settings: {},
      directives: {
        models: ['acme/one'],
        provider: DEFAULT_PREFERENCES,
        plugins: [],
        echoUpstreamBody: false,
        serviceMetadata: false,
        betas: [],
      },
      warnings: [],
    },
    asker: samplePrincipal(),
    endUserId: 'u',
    requested: 'acme/one',
    arrivedMs: 0,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
  });
}
