import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { GATEWAY_KEY } from '../gateway.ts';
import { createKey, manage, MANAGEMENT_KEY } from '../manage.ts';
import { startWatchedGateway, type WatchedGateway } from '../processes.ts';
import { UPSTREAM_MODELS, type SoakUpstream } from './upstream.ts';

/** Requests at a time that a key may have under way. */
export const AT_A_TIME = 32;
const GRANT_USD = 1_000_000;
export const LIMIT_USD = 50;
/** Spent after some answers, and from then on refused. */
const POOR_LIMIT_USD = 0.05;
/** So dear that one answer of the longest kind costs more than the limit. */
const DEAR_USD_PER_MILLION = 1_000;

export interface SoakKeys {
  readonly open: string;
  /** With a limit that is never reached, counted anew each day. */
  readonly limited: string;
  readonly poor: string;
  /** For bursts of more than `AT_A_TIME`. */
  readonly hasty: string;
}

/** Starts the gateway with everything that accounts can do switched on. */
export async function startSoakGateway(
  directory: string,
  upstream: SoakUpstream,
): Promise<{ readonly gateway: WatchedGateway; readonly keys: SoakKeys; readonly args: readonly string[] }> {
  const configPath = path.join(directory, 'soak.json');
  writeFileSync(configPath, JSON.stringify(writeConfig(upstream), undefined, 2));
  const args = ['--config', configPath, '--data-dir', path.join(directory, 'data')];
  const gateway = await startWatchedGateway({
    name: 'gateway',
    args: [
      '--expose-gc',
      path.join(import.meta.dirname, '..', 'servers', 'watched-gateway.ts'),
      'on',
      ...args,
      '--port',
      '0',
    ],
    cpu: 'any',
    directory,
    environment: {
      PATH: process.env['PATH'] ?? '',
      GATEWAY_API_KEY: GATEWAY_KEY,
      GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
    },
  });
  await manage(gateway, 'POST', '/credits/grants', { amount: GRANT_USD, note: 'soak' });
  const keys = {
    open: GATEWAY_KEY,
    limited: await createKey(gateway, { name: 'limited', limitUsd: LIMIT_USD, reset: 'daily' }),
    poor: await createKey(gateway, { name: 'poor', limitUsd: POOR_LIMIT_USD }),
    hasty: await createKey(gateway, { name: 'hasty', limitUsd: LIMIT_USD }),
  };
  return { gateway, keys, args };
}

function writeConfig({ baseUrl }: SoakUpstream): object {
  const provider = (adapter: string): object => ({ adapter, base_url: baseUrl, api_key: 'upstream' });
  const endpoint = (slug: string, model: string, completion = 10): object => ({
    provider: slug,
    model,
    price: { prompt: 1, completion },
  });
  const models: Record<string, object> = {};
  const add = (name: string, ...endpoints: object[]): void => {
    models[`soak/${name}`] = { context_length: 200_000, endpoints };
  };
  for (const model of UPSTREAM_MODELS) {
    add(model, endpoint('chat-a', model), endpoint('messages-a', model));
    // Served in one format: callers of the other are translated.
    add(`${model}-chat`, endpoint('chat-a', model));
    add(`${model}-messages`, endpoint('messages-a', model));
  }
  add('fallback', endpoint('chat-a', 'down'), endpoint('chat-b', 'talk'));
  add('rescued', endpoint('chat-a', 'cut'), endpoint('chat-b', 'talk'));
  add('dear', endpoint('chat-a', 'talk', DEAR_USD_PER_MILLION));
  return {
    credits: { enforce: true },
    rate_limits: { key: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrent: AT_A_TIME } },
    providers: {
      'chat-a': provider('openai-compatible'),
      'chat-b': provider('openai-compatible'),
      'messages-a': provider('messages-compatible'),
    },
    models,
  };
}
