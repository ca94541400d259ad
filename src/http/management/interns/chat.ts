import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Principal } from '../../../accounts/principal.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { parseBlocks, textOf } from '../../../interns/history.ts';
import { keyedCall } from '../../../interns/idempotency.ts';
import { parseAnswer, showInput, type Followed, type Interns } from '../../../interns/interns.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { serializeTime } from '../../../resources/columns.ts';
import type { InternInput, InternRun } from '../../../interns/rows.ts';
import { defineRoute, NO_BODY, NOTHING, type RouteAnswer } from '../route.ts';
import { internPath, internsOf, runPath, serializeRun, serializeStep } from './intern-shape.ts';

const TEXT_CHARS_MAX = 200_000;
const SESSION_ID = /^[\w-]{1,64}$/;
const HEARTBEAT_EVERY_MS = 10_000;
const HEARTBEAT = ': SERVICE PROCESSING\n\n';
const MS_PER_S = 1_000;

const chatBody = z
  .looseObject({
    messages: z.array(z.looseObject({ role: z.string() })).min(1),
    stream: z.boolean().optional().describe('Must be true.'),
    session_id: z.string().optional(),
    approval_mode: z.enum(['manual', 'self-drive']).optional().describe('For the run that begins.'),
  })
  .meta({ id: 'InternChatRequest' });

type ChatBody = z.output<typeof chatBody>;

export const chatWithIntern = defineRoute({
  method: 'POST',
  path: '/interns/{internId}/chat/completions',
  scope: 'normal',
  role: 'member',
  auditsEveryKey: true,
  idempotent: true,
  operationId: 'chatWithIntern',
  tag: 'Interns',
  summary: 'Send a message to an intern, or a decision on its question, and follow the run',
  params: internPath,
  query: NOTHING,
  body: chatBody,
  responses: {
    200: { description: 'Chunks of the chat format.', schema: z.string(), contentType: 'text/event-stream' },
  },
  errors: [400, 403, 404, 409, 413],
  async handle({ params, body, headers, ...context }) {
    const { interns, caller } = internsOf(context);
    if (body.stream !== true) throw badRequest('stream', 'must be true: runs are followed as a stream');
    if (body.session_id !== undefined && !SESSION_ID.test(body.session_id))
      throw badRequest('session_id', 'must have 1 to 64 letters, digits, "_" and "-"');
    const close = interns.openStream();
    try {
      const followed = await begin(interns, caller, params.internId, { body, key: headers['idempotency-key'] });
      return stream(followed.run, (signal) => chunksOf(interns, followed, signal), close);
    } catch (error) {
      close();
      throw error;
    }
  },
});

function begin(
  interns: Interns,
  caller: Principal,
  internId: string,
  { body, key }: { readonly body: ChatBody; readonly key: string | readonly string[] | undefined },
): Promise<Followed> {
  const at = body.messages.length - 1;
  const message = body.messages[at] ?? { role: '' };
  const text = contentOf(message['content'], `messages[${at}].content`);
  const { session_id: sessionId, approval_mode: approvalMode } = body;
  const { role, tool_call_id: inputId } = message;
  const keyed = key === undefined ? undefined : keyedCall(caller, `chat ${internId}`, key, body);
  if (role === 'tool') {
    if (typeof inputId !== 'string') throw badRequest(`messages[${at}].tool_call_id`, 'is required');
    if (sessionId === undefined) throw badRequest('session_id', 'is required with a decision');
    return interns.answer(caller, internId, { inputId, sessionId, keyed, ...parseAnswer(text) });
  }
  if (role !== 'user') throw badRequest(`messages[${at}].role`, 'of the last message must be user or tool');
  return interns.chat(caller, internId, { text, sessionId, approvalMode, keyed });
}

const part = z.object({ type: z.literal('text'), text: z.string() });

function contentOf(content: unknown, path: string): string {
  const parts = z.array(part).safeParse(content);
  const text = parts.success ? parts.data.map((each) => each.text).join('\n') : content;
  if (typeof text !== 'string') throw badRequest(path, 'must be a text, or parts of type text');
  if (text.length === 0 || text.length > TEXT_CHARS_MAX)
    throw badRequest(path, `must have 1 to ${TEXT_CHARS_MAX} characters`);
  return text;
}

function badRequest(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`, {
    issues: [{ path, message }],
    metadata: { reason: 'bad_request' },
  });
}

/** The caller may leave: the run goes on. */
function stream(
  run: InternRun,
  lines: (signal: AbortSignal) => AsyncGenerator<string, void>,
  onClose: () => void,
): RouteAnswer {
  const gone = new AbortController();
  const body = Readable.from(lines(gone.signal));
  body.once('close', () => {
    gone.abort();
    onClose();
  });
  return {
    status: 200,
    body,
    contentType: 'text/event-stream',
    headers: { 'x-run-id': run.id, 'x-accel-buffering': 'no' },
    subject: `/interns/${run.internId}/runs/${run.id}`,
  };
}

async function* chunksOf(
  interns: Interns,
  { run: { id, createdAtMs }, run: begun, after }: Followed,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const base = { id, object: 'chat.completion.chunk', created: Math.floor(createdAtMs / MS_PER_S) };
  let model = '';
  let said = false;
  const chunk = (delta: object, finish: string | null = null): string =>
    data({ ...base, model, choices: [{ index: 0, delta, finish_reason: finish }] });
  let sentMs = Date.now();
  for await (const event of interns.follow(begun, after, signal)) {
    if (event.type === 'idle') {
      if (Date.now() - sentMs < HEARTBEAT_EVERY_MS) continue;
      yield HEARTBEAT;
    } else if (event.type === 'step') {
      if (event.step.kind === 'tool') yield `: step ${event.step.n}: ${event.step.name} ${event.step.state}\n\n`;
      else model = event.step.name;
      const text = event.step.kind === 'model' ? textOf(parseBlocks(event.output)) : '';
      if (text !== '') yield chunk({ ...(!said && { role: 'assistant' }), content: said ? `\n\n${text}` : text });
      said ||= text !== '';
    } else if (event.type === 'waiting') {
      yield chunk({ tool_calls: [{ index: 0, ...(await questionOf(interns, event.pending)) }] }, 'tool_calls');
      yield lastOf(base, model, event.run);
    } else {
      const { state, ending, error } = event.run;
      if (state === 'done') yield chunk({}, ending === 'stop' ? 'stop' : 'length');
      else yield data({ ...base, model, ...brokenOff(state, error) });
      yield lastOf(base, model, event.run);
    }
    sentMs = Date.now();
  }
  if (!signal.aborted) yield 'data: [DONE]\n\n';
}

function brokenOff(state: string, error: string | null): object {
  const message = `The run is ${state}${error === null ? '.' : `: ${error}`}`;
  return {
    error: { code: 502, message, metadata: { error_type: 'provider_unavailable', reason: state } },
    choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
  };
}

async function questionOf(interns: Interns, row: InternInput): Promise<object> {
  const { summary, input } = await showInput(interns, row);
  const { kind, tool } = row;
  const question = {
    kind,
    tool,
    summary,
    input,
    ...(kind === 'permission' && { options: ['allow_once', 'allow_session', 'deny'] }),
    expires_at: serializeTime(row.expiresAtMs),
  };
  return {
    id: row.id,
    type: 'function',
    function: { name: 'service.provide_input', arguments: JSON.stringify(question) },
  };
}

function lastOf(base: object, model: string, run: InternRun): string {
  const { promptTokens, completionTokens, spentNanoUsd, ending, sessionId } = run;
  return data({
    ...base,
    model,
    choices: [],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      cost: usdFromNano(spentNanoUsd),
    },
    session_id: sessionId,
    ...(ending === 'budget' && { warnings: [{ code: 'budget_reached' }] }),
  });
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export const followInternRun = defineRoute({
  method: 'GET',
  path: '/interns/{internId}/runs/{runId}/events',
  scope: 'any',
  role: 'member',
  operationId: 'followInternRun',
  tag: 'Interns',
  summary: 'Follow a run: its steps after one of them, and its end or its question',
  params: runPath,
  query: z.strictObject({ after: z.coerce.number().int().min(0).optional().describe('A step. Default: 0.') }),
  body: NO_BODY,
  responses: { 200: { description: 'Events.', schema: z.string(), contentType: 'text/event-stream' } },
  errors: [400, 403, 404],
  async handle({ params, query, ...context }) {
    const { interns, caller } = internsOf(context);
    const run = await interns.openRun(caller, params.internId, params.runId);
    const close = interns.openStream();
    return stream(run, (signal) => eventsOf(interns, { run, after: query.after ?? 0 }, signal), close);
  },
});

async function* eventsOf(
  interns: Interns,
  { run, after }: Followed,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let sentMs = Date.now();
  for await (const event of interns.follow(run, after, signal)) {
    if (event.type === 'idle') {
      if (Date.now() - sentMs < HEARTBEAT_EVERY_MS) continue;
      yield HEARTBEAT;
    } else if (event.type === 'step')
      yield `id: ${event.step.n}\nevent: step\n${data(serializeStep(event.step, event))}`;
    else if (event.type === 'waiting')
      yield `event: input\n${data({ run: serializeRun(event.run), call: await questionOf(interns, event.pending) })}`;
    else yield `event: end\n${data({ run: serializeRun(event.run) })}`;
    sentMs = Date.now();
  }
}
