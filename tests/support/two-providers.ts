import type { TestContext } from 'node:test';
import { startGateway, type GatewayOptions, type RunningGateway } from './gateway.ts';
import { startUpstream, type Script, type ScriptedUpstream } from './upstream.ts';

export interface TwoProviders {
  readonly gateway: RunningGateway;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
}

export interface TwoProvidersOptions {
  readonly first: Script;
  readonly second?: Script;
  /** Adapters of both providers. */
  readonly adapter?: 'openai-compatible' | 'messages-compatible' | 'openai';
  /** YAML lines below `timeouts:`. */
  readonly timeouts?: string;
  /** Further top-level YAML. */
  readonly more?: string;
  /** Default: the first provider is always drawn. */
  readonly random?: () => number;
  readonly log?: GatewayOptions['log'];
}

/**
 * A gateway in front of two scripted upstreams: `acme/both` is served by `first` and then `second`, `acme/first` and
 * `acme/second` by one of them.
 */
export async function startTwoProviders(t: TestContext, options: TwoProvidersOptions): Promise<TwoProviders> {
  const { adapter = 'openai-compatible', timeouts = '{}', more = '', random, log } = options;
  const unexpected: Script = (_arrived, response) => void response.writeHead(500).end('unexpected');
  const first = await startUpstream(options.first);
  const second = await startUpstream(options.second ?? unexpected);
  const gateway = await startGateway({
    ...(random !== undefined && { random }),
    ...(log !== undefined && { log }),
    yaml: `
timeouts: ${timeouts}
providers:
  first: { adapter: ${adapter}, name: First, base_url: "${first.baseUrl}", api_key: upstream-secret-1 }
  second: { adapter: ${adapter}, name: Second, base_url: "${second.baseUrl}", api_key: upstream-secret-2 }
models:
  acme/both:
    name: Both
    endpoints:
      - { provider: first, model: one-2026, price: { prompt: 1, completion: 2, cache_read: 0.1, cache_write: 1.25 } }
      - { provider: second, model: one-2026, price: { prompt: 1, completion: 2 } }
  acme/first:
    name: First
    endpoints: [{ provider: first, model: one-2026, price: { prompt: 1, completion: 2 } }]
  acme/second:
    name: Second
    endpoints: [{ provider: second, model: one-2026, price: { prompt: 1, completion: 2 } }]
${more}`,
  });
  t.after(async () => {
    await gateway.close();
    await first.close();
    await second.close();
  });
  return { gateway, first, second };
}
