import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { MANAGEMENT_KEY, startGateway, type GatewayOptions, type RunningGateway } from './gateway.ts';
import {
  chatAnswer,
  chatStream,
  json,
  messagesAnswer,
  messagesStream,
  startUpstream,
  stream,
  type Script,
  type ScriptedUpstream,
} from './upstream.ts';

export interface Annotation {
  readonly type: string;
  readonly url_citation?: {
    readonly url: string;
    readonly title: string;
    readonly start_index: number;
    readonly end_index: number;
    readonly content?: string;
  };
  readonly file?: { readonly hash: string; readonly name?: string; readonly content: readonly object[] };
}

export interface Stage {
  readonly type: string;
  readonly name: string;
  readonly summary?: string;
  readonly data?: object;
  readonly cost_usd?: number;
}

/** What is looked at of a whole chat answer, or of an error. */
export interface ChatBody {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly message: { readonly content: string; readonly annotations?: readonly Annotation[] };
  }[];
  readonly usage: { readonly cost: number; readonly server_tool_use_details?: object };
  readonly service_metadata: { readonly pipeline?: readonly Stage[] };
  readonly error: { readonly message: string; readonly metadata: Readonly<Record<string, unknown>> };
}

/** What is looked at of a whole messages answer. */
export interface MessagesBody {
  readonly id: string;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly name?: string;
    readonly citations?: readonly object[];
    readonly content?: unknown;
  }[];
  readonly usage: { readonly cost: number; readonly server_tool_use: object | null };
}

/** Pages as Exa gives them. */
export const FOUND = {
  requestId: 'r',
  results: [
    { url: 'https://a.example/one', title: 'One', highlights: ['what one says'], publishedDate: '2026-11-01' },
    { url: 'https://b.example/two/', title: 'Two', highlights: ['what two says'] },
  ],
};

/** Responds in the format and the delivery of the request. */
function states(text: string): Script {
  return (arrived, response, request) => {
    const isChat = arrived.path.endsWith('/chat/completions');
    const streams = arrived.body['stream'] === true;
    const whole = isChat ? chatAnswer(text) : messagesAnswer(text);
    const answer = streams ? stream(isChat ? chatStream(text) : messagesStream(text)) : json(200, whole);
    return answer(arrived, response, request);
  };
}

export interface WebSetup {
  readonly gateway: RunningGateway;
  /** In the place of Exa, and of Mistral's service. */
  readonly engine: ScriptedUpstream;
  /** Speaks the chat format: `acme/chat`, and `acme/able`, which searches by itself, `acme/blind`, which takes text alone. */
  readonly chat: ScriptedUpstream;
  /** Speaks the messages format: `acme/messages`, and `acme/vendor`, which runs the vendor's tools. */
  readonly messages: ScriptedUpstream;
}

export interface WebOptions extends Pick<GatewayOptions, 'downloads'> {
  /** What the models say. */
  readonly text?: string;
  readonly engine?: Script;
  /** No OCR service: only the gateway itself reads files. */
  readonly withoutOcr?: boolean;
  /** Further top-level YAML. */
  readonly yaml?: string;
}

const PRICE = 'price: { prompt: 1, completion: 2 }';

/** A gateway with a search engine, a reader of files, and models in both formats. */
export async function startWeb(
  t: TestContext,
  { text = 'Said.', engine: script = json(200, FOUND), withoutOcr = false, yaml = '', downloads }: WebOptions = {},
): Promise<WebSetup> {
  const engine = await startUpstream(script);
  const chat = await startUpstream(states(text));
  const messages = await startUpstream(states(text));
  const gateway = await startGateway({
    ...(downloads !== undefined && { downloads }),
    yaml: `
search: { exa: { api_key: engine-secret, base_url: "${engine.baseUrl.replace('/v1', '')}" } }
${withoutOcr ? '' : `file_parser: { mistral_ocr: { api_key: engine-secret, base_url: "${engine.baseUrl}" } }`}
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: "${chat.baseUrl}", api_key: k }
  beta: { adapter: messages-compatible, name: Beta, base_url: "${messages.baseUrl}", api_key: k }
  vendor: { adapter: anthropic, name: Vendor, base_url: "${messages.baseUrl}", api_key: k }
models:
  acme/chat: { endpoints: [{ provider: alpha, model: one, ${PRICE} }] }
  acme/blind: { input_modalities: [text], endpoints: [{ provider: alpha, model: one, ${PRICE} }] }
  acme/seeing: { input_modalities: [text, image], endpoints: [{ provider: alpha, model: one, ${PRICE} }] }
  acme/messages: { endpoints: [{ provider: beta, model: one, ${PRICE} }] }
  acme/deaf: { input_modalities: [text], endpoints: [{ provider: beta, model: one, ${PRICE} }] }
  acme/vendor: { endpoints: [{ provider: vendor, model: one, ${PRICE} }] }
  acme/able: { endpoints: [{ provider: alpha, model: one, ${PRICE}, supported_parameters: [web_search_options] }] }
${yaml}`,
  });
  t.after(async () => {
    await gateway.close();
    await Promise.all([engine.close(), chat.close(), messages.close()]);
  });
  return { gateway, engine, chat, messages };
}

/** A whole chat answer, with its metadata. */
export async function askForChat(
  { gateway }: Pick<WebSetup, 'gateway'>,
  request: object,
): Promise<{ readonly status: number; readonly body: ChatBody }> {
  const answer = await gateway.post('/chat/completions', request, { 'x-service-metadata': 'enabled' });
  return { status: answer.status, body: (await answer.json()) as ChatBody };
}

export function stagesOf({ service_metadata: { pipeline = [] } }: ChatBody, name: string): readonly Stage[] {
  return pipeline.filter((stage) => stage.name === name);
}

export async function grant({ gateway }: WebSetup, usd: number): Promise<void> {
  await manage(gateway, 'POST', '/credits/grants', { amount: usd, note: 'for the test' });
}

/** What the account has spent, USD. */
export async function spent({ gateway }: WebSetup): Promise<number> {
  const answer = (await manage(gateway, 'GET', '/credits')) as { readonly data: { readonly total_usage: number } };
  return answer.data.total_usage;
}

async function manage(gateway: RunningGateway, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(gateway.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(answer.ok, `${path}: ${await answer.clone().text()}`);
  return answer.json();
}
