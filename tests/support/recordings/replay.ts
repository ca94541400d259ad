import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { startGateway, MANAGEMENT_KEY, type RunningGateway } from '../gateway.ts';
import type { Recording } from './recordings.ts';

/** Everything that a caller can be: each gets a provider of its own, so that no failure cools another's endpoint. */
export const ASKS = [
  { format: 'chat', stream: false },
  { format: 'chat', stream: true },
  { format: 'messages', stream: false },
  { format: 'messages', stream: true },
] as const;
export type Ask = (typeof ASKS)[number];

/** The configuration with which the gateway calls the provider of a recording. */
export interface ReplayedProvider {
  readonly adapter: string;
  /** Stands in for the recorded model, where the adapter chooses the wire format by the model's name. */
  readonly model?: string;
  /** Further members of the provider's entry. */
  readonly entry?: JsonObject;
}

/** What came back, and what the gateway kept of it. */
export interface Replayed {
  readonly status: number;
  readonly contentType: string;
  /** What is random or depends on the port has a fixed word in its place. */
  readonly text: string;
  /** The row of the generation; absent for what was refused before it had an id. */
  readonly record: JsonObject | undefined;
}

export interface Replay {
  ask(recording: Recording, ask: Ask): Promise<Replayed>;
  close(): Promise<void>;
}

/** One price for all, so that a cost in a golden can be checked by hand: USD per million tokens. */
const PRICE: JsonObject = { prompt: 1, completion: 2, cache_read: 0.1, cache_write: 1.25 };

/**
 * A server that plays each recording under a path of its own, as the provider that it came from, and a gateway in front
 * that has that provider as its upstream.
 * @param cutAt a stream is written in pieces of this many bytes
 * @param price of every endpoint, in the words of the configuration
 */
export async function startReplay(
  recordings: readonly Recording[],
  providerOf: (recording: Recording) => ReplayedProvider,
  cutAt = Number.POSITIVE_INFINITY,
  price = PRICE,
): Promise<Replay> {
  const player = await startPlayer(recordings, cutAt);
  const gateway = await startGateway({ yaml: JSON.stringify(configOf(recordings, providerOf, player.url, price)) });
  return {
    ask: (recording, ask) => askGateway(gateway, recording, ask),
    async close() {
      await gateway.close();
      await player.close();
    },
  };
}

async function startPlayer(
  recordings: readonly Recording[],
  cutAt: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const byName = new Map(recordings.map((recording) => [recording.name, recording]));
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const [, provider = '', stem = ''] = (request.url ?? '').split('/');
      const recording = byName.get(`${provider}/${stem}`);
      if (recording === undefined) {
        response.writeHead(500).end(`no recording for ${request.url}`);
        return;
      }
      const { status, contentType, headers, body } = recording;
      response.writeHead(status, { 'content-type': contentType, ...headers });
      for (let at = 0; at < body.length; at += cutAt) response.write(body.subarray(at, at + cutAt));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function slugOf({ name }: Recording, { format, stream }: Ask): string {
  return `${name.replaceAll('/', '-')}-${format}-${stream ? 'stream' : 'whole'}`;
}

function configOf(
  recordings: readonly Recording[],
  providerOf: (recording: Recording) => ReplayedProvider,
  url: string,
  price: JsonObject,
): JsonObject {
  const providers: Record<string, JsonObject> = {};
  const models: Record<string, JsonObject> = {};
  for (const recording of recordings) {
    const { adapter, model = recording.model ?? 'model', entry } = providerOf(recording);
    for (const ask of ASKS) {
      const slug = slugOf(recording, ask);
      providers[slug] = {
        adapter,
        name: 'Replay',
        base_url: `${url}/${recording.name}/${ask.format}`,
        api_key: 'replay-key',
        ...entry,
      };
      models[`replay/${slug}`] = { endpoints: [{ provider: slug, model, price }] };
    }
  }
  return { providers, models };
}

async function askGateway(gateway: RunningGateway, recording: Recording, ask: Ask): Promise<Replayed> {
  const path = ask.format === 'chat' ? '/chat/completions' : '/messages';
  const answer = await gateway.post(path, {
    model: `replay/${slugOf(recording, ask)}`,
    [ask.format === 'chat' ? 'max_completion_tokens' : 'max_tokens']: 8_000,
    stream: ask.stream,
    messages: [{ role: 'user', content: 'Play it again.' }],
    // One attempt: how often a failed one is repeated is not what is judged.
    provider: { allow_fallbacks: false },
  });
  const { status, headers } = answer;
  const text = await answer.text();
  const id = headers.get('x-generation-id');
  return {
    status,
    contentType: headers.get('content-type') ?? '',
    text: withoutChance(text, id, recording, slugOf(recording, ask)),
    record: id === null ? undefined : await readRecord(gateway, id),
  };
}

function withoutChance(text: string, id: string | null, { body }: Recording, slug: string): string {
  const recorded = body.toString('latin1');
  const made = new Map<string, string>();
  const fixed = text
    .replaceAll(/call_[A-Za-z0-9]{24}(?![A-Za-z0-9])/g, (callId) => {
      if (recorded.includes(callId)) return callId;
      if (!made.has(callId)) made.set(callId, `call_made_here_${made.size + 1}`);
      return made.get(callId) ?? callId;
    })
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/v1/g, '{base_url}')
    .replaceAll(slug, 'model');
  return id === null ? fixed : fixed.replaceAll(id, 'gen-1');
}

/** The row of a generation, as the management route returns it. */
export async function readRecord(gateway: RunningGateway, id: string): Promise<JsonObject> {
  const answer = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
  });
  const { data } = parseJsonObject(await answer.text()) ?? {};
  assert.ok(typeof data === 'object' && data !== null, `the generation ${id} is kept`);
  return data as JsonObject;
}
