import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { countAnswer, createIdentity, type Identity } from './answer-parts.ts';
import { deliverStream, deliverWhole, type Delivery } from './deliver.ts';
import { encodeChatStream, encodeChatWhole } from './chat/encode-chat.ts';
import { encodeMessagesStream, encodeMessagesWhole } from './messages/encode-messages.ts';
import { decide } from './decide.ts';
import { embed } from './embeddings.ts';
import { paint, paintFromForm } from './images.ts';
import { beginVideo, cancelVideo, sendClip, showVideo } from './videos.ts';
import type { PromptCache } from './prompt-cache.ts';
import type { Prompt } from './prompt.ts';
import { readChat } from './chat/read-chat.ts';
import { readMessages } from './messages/read-messages.ts';
import { Refusal } from './refusal.ts';
import { rerank } from './rerank.ts';
import { writeScript } from './script.ts';
import { encodeRefusal, encodeStatusError, RETRYABLE_STATUSES, type Wire } from './vendor-error.ts';
import { sandboxModels } from './models.ts';
import { speak } from './speech.ts';
import { transcribe } from './transcribe.ts';

/** One request under way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytes: Uint8Array;
  /** `undefined` for a body that is no JSON. */
  readonly body: Json | undefined;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly breakOff: () => void;
}

export interface SandboxDeps {
  readonly cache: PromptCache;
  readonly clock: Clock;
}

const ROUTES: Readonly<Record<string, (exchange: Exchange, deps: SandboxDeps) => void | Promise<void>>> = {
  'POST /v1/chat/completions': (exchange, deps) => {
    const prompt = readChat(bodyOf(exchange, 'chat'), isStrict(exchange));
    return answer(exchange, deps, prompt, 'chat');
  },
  'POST /v1/messages': (exchange, deps) => {
    requireVersion(exchange);
    const strictness = { isStrict: isStrict(exchange), isCount: false };
    return answer(exchange, deps, readMessages(bodyOf(exchange, 'messages'), strictness), 'messages');
  },
  'POST /v1/messages/count_tokens': (exchange) => {
    requireVersion(exchange);
    const prompt = readMessages(bodyOf(exchange, 'messages'), { isStrict: isStrict(exchange), isCount: true });
    const inputTokens = prompt.segments.reduce((sum, { tokens }) => sum + tokens, 0);
    sendJson(exchange.response, 200, JSON.stringify({ input_tokens: inputTokens }));
  },
  'POST /v1/embeddings': ({ response, body }) => sendJson(response, 200, embed(body)),
  'POST /v1/videos/generations': ({ response, body }, { clock }) => sendJson(response, 200, beginVideo(body, clock)),
  'POST /v1/audio/transcriptions': (exchange) => transcribe(exchange, 'transcribe'),
  'POST /v1/audio/translations': (exchange) => transcribe(exchange, 'translate'),
  'POST /v1/audio/speech': ({ body, response, signal }) => speak(body, response, signal),
  'POST /v1/images/generations': ({ body, response, signal }) => paint(body, response, signal),
  'POST /v1/images/edits': paintFromForm,
  'POST /v1/systemone': async ({ response, body, signal }) => sendJson(response, 200, await decide(body, signal)),
  'POST /v1/rerank': ({ response, body }) => sendJson(response, 200, rerank(body)),
  'GET /v1/models': ({ request, response }) => {
    const isMessages = request.headers['anthropic-version'] !== undefined;
    sendJson(response, 200, isMessages ? encodeMessagesModels() : encodeChatModels());
  },
};

/** Answers one request. @throws Refusal, AbortError: both are for `refuse` */
export async function respond(exchange: Exchange, deps: SandboxDeps): Promise<void> {
  const { request } = exchange;
  const name = `${request.method ?? ''} ${pathOf(request)}`;
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : videoRoute(name);
  if (route === undefined) throw new Refusal(404, `Invalid URL (${name.slice(0, 200)})`);
  await route(exchange, deps);
}

const VIDEO_PATH = /^(GET|DELETE) \/v1\/videos\/([\w-]{1,4096})(\/content)?$/;

/** Paths that name a job. */
function videoRoute(name: string): (typeof ROUTES)[string] | undefined {
  const [, method, id, content] = VIDEO_PATH.exec(name) ?? [];
  if (id === undefined) return undefined;
  if (method === 'DELETE')
    return content === undefined ? ({ response }) => sendJson(response, 200, cancelVideo(id)) : undefined;
  if (content !== undefined) return ({ request, response }) => sendClip(id, request.headers.range, response);
  return ({ request, response }, { clock }) => {
    const { status, json } = showVideo(id, clock, `http://${request.headers.host ?? ''}/v1`);
    sendJson(response, status, json);
  };
}

/** Sends the vendor's error for an exception, if the caller is still there. */
export function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const wire: Wire = pathOf(request).startsWith('/v1/messages') ? 'messages' : 'chat';
  const refusal = error instanceof Refusal ? error : new Refusal(500, `The sandbox failed: ${String(error)}`);
  const { requestId } = createIdentity(Buffer.from(refusal.message), '', 0);
  sendJson(response, refusal.status, encodeRefusal(wire, refusal, requestId), idHeaders(wire, requestId));
}

async function answer(exchange: Exchange, deps: SandboxDeps, prompt: Prompt, wire: Wire): Promise<void> {
  const { request, response, bytes, signal, breakOff } = exchange;
  const script = writeScript(prompt);
  const identity = createIdentity(bytes, prompt.model, deps.clock.nowMs());
  const headers = idHeaders(wire, identity.requestId);
  if (script.fault?.kind === 'status') {
    if (script.firstTokenMs > 0) await sleep(script.firstTokenMs, undefined, { signal });
    sendStatus(response, wire, script.fault.status, identity);
    return;
  }
  const counts = countAnswer(prompt, script, deps.cache.use(cacheScopeOf(request, prompt.model), prompt.segments));
  const encodeStreamError = (status: number): string => encodeErrorFrame(wire, status, identity);
  const delivery: Delivery = { response, headers, signal, breakOff, encodeStreamError };
  if (!prompt.isStream) {
    const encode = wire === 'chat' ? encodeChatWhole : encodeMessagesWhole;
    return deliverWhole(delivery, encode(script, counts, identity), script);
  }
  const frames =
    wire === 'chat'
      ? encodeChatStream(script, counts, identity, prompt.hasStreamUsage)
      : encodeMessagesStream(script, counts, identity);
  return deliverStream(delivery, frames, script);
}

/** Vendors keep a cache by account and model: a request with another key finds nothing of it. */
function cacheScopeOf({ headers }: IncomingMessage, model: string): string {
  const key = headers['x-api-key'] ?? headers.authorization ?? '';
  return createHash('sha256').update(String(key)).update('\0').update(model).digest('hex');
}

function sendStatus(response: ServerResponse, wire: Wire, status: number, { requestId }: Identity): void {
  const headers = {
    ...idHeaders(wire, requestId),
    ...(RETRYABLE_STATUSES.has(status) && { 'retry-after': '1' }),
  };
  sendJson(response, status, encodeStatusError(wire, status, requestId), headers);
}

function encodeErrorFrame(wire: Wire, status: number, { requestId }: Identity): string {
  const body = encodeStatusError(wire, status, requestId);
  return wire === 'chat' ? `data: ${body}\n\n` : `event: error\ndata: ${body}\n\n`;
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
  response.end(body);
}

function idHeaders(wire: Wire, requestId: string): Readonly<Record<string, string>> {
  return wire === 'chat' ? { 'x-request-id': requestId } : { 'request-id': requestId };
}

function bodyOf({ body }: Exchange, wire: Wire): JsonObject {
  if (isJsonObject(body)) return body;
  const message =
    wire === 'chat'
      ? 'We could not parse the JSON body of your request.'
      : 'The request body is not valid JSON: an object is expected.';
  throw new Refusal(400, message);
}

function requireVersion({ request }: Exchange): void {
  if (request.headers['anthropic-version'] === undefined)
    throw new Refusal(400, 'anthropic-version: header is required');
}

/** `x-sandbox-strict: 1` refuses what vendors refuse now and then: strange members, null, two turns of one role. */
function isStrict({ request }: Exchange): boolean {
  return request.headers['x-sandbox-strict'] === '1';
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? '/').split('?', 1)[0] ?? '/';
}

const MODELS_CREATED_S = 1_767_225_600;

/** `GET /v1/models` of the chat format, as JSON text. */
function encodeChatModels(): string {
  const data = upstreamNames().map((id) => ({ id, object: 'model', created: MODELS_CREATED_S, owned_by: 'sandbox' }));
  return JSON.stringify({ object: 'list', data });
}

/** `GET /v1/models` of the messages format, as JSON text. */
function encodeMessagesModels(): string {
  const names = upstreamNames();
  const createdAt = new Date(MODELS_CREATED_S * 1_000).toISOString();
  const data = names.map((id) => ({ type: 'model', id, display_name: id, created_at: createdAt }));
  return JSON.stringify({ data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null });
}

function upstreamNames(): readonly string[] {
  return sandboxModels().map(({ endpoints: [endpoint] }) => endpoint.upstreamModel);
}
