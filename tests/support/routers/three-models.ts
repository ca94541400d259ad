import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../gateway.ts';
import { chatAnswer, json, startUpstream, type Script, type ScriptedUpstream } from '../upstream.ts';

/** `acme/cheap`, `acme/mid` and `acme/best`: the dearer the better. Only `acme/mid` reads pictures, and `acme/best` calls no tools. */
export const THREE_MODELS = `
  acme/cheap:
    name: "Acme: Cheap"
    scores: { coding: 0.3, agentic: 0.3, intelligence: 0.3 }
    context_length: 8000
    input_modalities: [text]
    endpoints: [{ provider: alpha, model: cheap-1, price: { prompt: 0.1, completion: 0.2 }, supported_parameters: [tools] }]
  acme/mid:
    name: "Acme: Mid"
    scores: { coding: 0.6, agentic: 0.6, intelligence: 0.6 }
    context_length: 100000
    input_modalities: [text, image]
    endpoints: [{ provider: alpha, model: mid-1, price: { prompt: 1, completion: 2 }, supported_parameters: [tools] }]
  acme/best:
    name: "Acme: Best"
    scores: { coding: 0.9, agentic: 0.9, intelligence: 0.9 }
    context_length: 100000
    input_modalities: [text]
    endpoints: [{ provider: alpha, model: best-1, price: { prompt: 10, completion: 20 }, supported_parameters: [response_format, structured_outputs] }]
`;

export interface Routed {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
  /** The upstream's own names of the requested models, oldest first. */
  readonly requested: () => readonly unknown[];
  /** POST to a path below the base URL, with metadata enabled. */
  readonly post: (
    body: object,
    path?: string,
    headers?: Record<string, string>,
  ) => Promise<{ readonly status: number; readonly body: JsonObject }>;
}

/** A gateway with one upstream and these models. */
export async function startRouted(
  t: TestContext,
  {
    models = THREE_MODELS,
    more = '',
    script = json(200, chatAnswer('well')),
    random,
  }: {
    readonly models?: string;
    readonly more?: string;
    readonly script?: Script;
    readonly random?: () => number;
  } = {},
): Promise<Routed> {
  const upstream = await startUpstream(script);
  const gateway = await startGateway({
    ...(random !== undefined && { random }),
    yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: "${upstream.baseUrl}", api_key: upstream-secret }
models:${models}
${more}`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return {
    gateway,
    upstream,
    requested: () => upstream.arrived.map(({ body }) => body['model']),
    async post(body, path = '/chat/completions', headers = {}) {
      const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled', ...headers });
      const parsed: unknown = JSON.parse(await response.text());
      assert.ok(isJsonObject(parsed));
      return { status: response.status, body: parsed };
    },
  };
}

/** What stands at a path of members and indexes; `undefined` where there is nothing. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value;
  for (const step of path) {
    if (Array.isArray(found) && typeof step === 'number') found = found.at(step) as Json | undefined;
    else if (isJsonObject(found) && typeof step === 'string') found = found[step];
    else return undefined;
  }
  return found;
}

/** A request for a function in Python, without any other feature. */
export const CODE = [{ role: 'user', content: 'Write a Python function that parses a CSV file.' }];
