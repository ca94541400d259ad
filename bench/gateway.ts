import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { MANAGEMENT_KEY } from './manage.ts';
import { startServer, type ServerProcess } from './processes.ts';
import type { MockFormat } from './servers/mock-formats.ts';

export const GATEWAY_KEY = 'bench-key-0123456789abcdef';
/** A provider of each format, all of them the mock: its slug, its adapter and the path below the mock's address. */
const PROVIDERS: Readonly<Record<MockFormat, readonly [slug: string, adapter: string, path: string]>> = {
  chat: ['mock', 'openai-compatible', '/v1'],
  messages: ['mock-messages', 'messages-compatible', '/v1'],
  gemini: ['mock-gemini', 'google', '/v1beta'],
  converse: ['mock-converse', 'bedrock', ''],
  responses: ['mock-responses', 'perplexity', '/v1'],
  cohere: ['mock-cohere', 'cohere', '/v2'],
};
const FORMATS = Object.keys(PROVIDERS).filter((format): format is MockFormat => Object.hasOwn(PROVIDERS, format));

/** What `npm start` gives to node before the program. */
export const START_FLAGS = readStartFlags();

function readStartFlags(): readonly string[] {
  const text = readFileSync(path.join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const [, flags] = /"start": "exec node (.*) src\/main\.ts"/.exec(text) ?? [];
  if (flags === undefined) throw new Error('npm start no longer reads as this expects');
  return flags.split(' ');
}

export interface GatewayOptions {
  readonly directory: string;
  readonly upstream: ServerProcess;
  /** The mock's model names that the run uses. */
  readonly models: readonly string[];
  /** Further arguments of the program. */
  readonly args?: readonly string[];
  /** Extra arguments of node, before the program. */
  readonly nodeArgs?: readonly string[];
}

/** The gateway's name of one of the mock's models. */
export function gatewayModel(upstreamFormat: MockFormat, model: string): string {
  return model === 'whole' ? `bench/${upstreamFormat}` : `bench/${upstreamFormat}-${model}`;
}

/** Starts the gateway as its user would, with everything on that is on by default. */
export async function startGateway(options: GatewayOptions): Promise<ServerProcess> {
  const configPath = path.join(options.directory, 'gateway.json');
  const dataDirectory = path.join(options.directory, 'data');
  mkdirSync(dataDirectory, { recursive: true });
  writeFileSync(configPath, JSON.stringify(writeConfig(options), undefined, 2));
  return startServer({
    name: 'gateway',
    args: [
      ...START_FLAGS,
      ...(options.nodeArgs ?? []),
      path.join(import.meta.dirname, '..', 'src', 'main.ts'),
      '--config',
      configPath,
      '--port',
      '0',
      '--data-dir',
      dataDirectory,
      ...(options.args ?? []),
    ],
    cpu: 0,
    directory: options.directory,
    // Nothing is inherited but the path: a vendor's key in the environment would switch that vendor's catalog on.
    environment: {
      PATH: process.env['PATH'] ?? '',
      GATEWAY_API_KEY: GATEWAY_KEY,
      GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
    },
    hasChannel: false,
  });
}

/** Providers at the mock, and its models with a price. */
export function writeConfig(options: Pick<GatewayOptions, 'upstream' | 'models'>): object {
  const origin = `http://${options.upstream.host}:${options.upstream.port}`;
  const providers: Record<string, object> = {};
  const models: Record<string, object> = {};
  for (const format of FORMATS) {
    const [slug, adapter, below] = PROVIDERS[format];
    const region = adapter === 'bedrock' ? { options: { region: 'us-east-1' } } : {};
    providers[slug] = { adapter, base_url: origin + below, api_key: 'upstream', ...region };
    for (const model of options.models) {
      models[gatewayModel(format, model)] = {
        name: `Bench ${format} ${model}`,
        context_length: 200_000,
        endpoints: [{ provider: slug, model, price: { prompt: 1, completion: 2 } }],
      };
    }
  }
  return { providers, models };
}
