import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { startUpstream, type Arrived, type ScriptedUpstream } from '../../support/upstream.ts';

/** USD for a million tokens, of prompts and of answers: one token of a prompt costs 1,000 nano-USD. */
const PRICE = 1;
export const PAYER = createHash('sha256').update(API_KEY).digest('hex');

/** What the model is to say, or a status that it fails with. */
export type Say = (arrived: Arrived) => string | number | JsonObject | Promise<string | number | JsonObject>;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
}

export interface Setting {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
  say: Say;
  readonly call: (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>;
  readonly upload: (lines: readonly object[] | string, name?: string) => Promise<Answer>;
  /** @returns the id of a dataset */
  readonly dataset: (lines: readonly object[], name?: string) => Promise<string>;
  /** @returns the id of a run that has begun */
  readonly run: (datasetId: string, members?: object) => Promise<string>;
  /** Waits for one of these states. @returns what the run says then */
  readonly until: (id: string, ...states: readonly string[]) => Promise<JsonObject>;
}

export function configOf(baseUrl: string, more = ''): string {
  const model = (name: string): string =>
    `  acme/${name}: { context_length: 8192, endpoints: [{ provider: alpha, model: ${name}, price: { prompt: ${PRICE}, completion: ${PRICE} } }] }`;
  return `
providers:
  alpha: { adapter: openai-compatible, base_url: "${baseUrl}", api_key: key-alpha }
models:
${['good', 'bad', 'judge'].map(model).join('\n')}
  acme/unpriced: { endpoints: [{ provider: alpha, model: unpriced }] }
${more}`;
}

/** The last message of a request. */
export function questionIn({ body }: Arrived): string {
  const messages = body['messages'];
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return textAt(isJsonObject(last) ? last : {}, 'content');
}

/** An upstream that answers as the setting says, with 10 tokens of a prompt and 5 of an answer. */
export function startModels(say: () => Say): Promise<ScriptedUpstream> {
  return startUpstream(async (arrived, response) => {
    const said = await say()(arrived);
    if (typeof said === 'number') {
      response.writeHead(said, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'no', type: 'x' } }));
      return;
    }
    const choice =
      typeof said === 'string' ? { message: { role: 'assistant', content: said }, finish_reason: 'stop' } : said;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: arrived.body['model'],
        choices: [{ index: 0, ...choice }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      }),
    );
  });
}

export async function setUp(t: TestContext, more = ''): Promise<Setting> {
  let say: Say = () => 'yes';
  const upstream = await startModels(() => say);
  t.after(() => upstream.close());
  const gateway = await startGateway({
    yaml: configOf(upstream.baseUrl, more),
    jobTimes: { tickMs: 10, renewMs: 20 },
  });
  t.after(() => gateway.close());
  return {
    gateway,
    upstream,
    get say() {
      return say;
    },
    set say(next) {
      say = next;
    },
    ...clientOf(gateway.baseUrl),
  };
}

type Client = Pick<Setting, 'call' | 'upload' | 'dataset' | 'run' | 'until'>;

const TRIES_MAX = 12_000;
const LOOK_MS = 10;

export function clientOf(baseUrl: string): Client {
  const answer = async (response: Response): Promise<Answer> => {
    const text = await response.text();
    const parsed: Json = text === '' ? {} : JSON.parse(text);
    return { status: response.status, text, body: isJsonObject(parsed) ? parsed : {} };
  };
  const call: Client['call'] = async (method, path, body, key = MANAGEMENT_KEY) =>
    answer(
      await fetch(baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const upload: Client['upload'] = async (lines, name = 'questions') => {
    const text = typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n');
    const form = new FormData();
    form.set('file', new Blob([text]), 'questions.jsonl');
    form.set('name', name);
    return answer(
      await fetch(`${baseUrl}/benchmarks/datasets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
        body: form,
      }),
    );
  };
  const made = ({ status, text, body: { data } }: Answer): JsonObject => {
    if (status >= 300 || !isJsonObject(data)) throw new Error(`${status}: ${text}`);
    return data;
  };
  return {
    call,
    upload,
    dataset: async (lines, name) => textAt(made(await upload(lines, name)), 'id'),
    run: async (datasetId, members = {}) =>
      textAt(
        made(
          await call('POST', '/benchmarks/runs', {
            dataset_id: datasetId,
            models: ['acme/good'],
            payer_key_hash: PAYER,
            max_cost_usd: 1,
            max_tokens: 100,
            ...members,
          }),
        ),
        'id',
      ),
    async until(id, ...states) {
      let seen: JsonObject = {};
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const { body } = await call('GET', `/benchmarks/runs/${id}`);
        seen = body;
        if (states.includes(textAt(body, 'data', 'state'))) return body;
        await wait(LOOK_MS);
      }
      throw new Error(`the run is not ${states.join()}: ${JSON.stringify(seen['data'])}`);
    },
  };
}

/** The same where it is a text. */
export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** A member of nested JSON, by its path. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path)
    found = Array.isArray(found) ? found[Number(name)] : isJsonObject(found) ? found[String(name)] : undefined;
  return found;
}
