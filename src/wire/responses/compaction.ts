import { estimateTokens } from '../../canonical/estimate-tokens.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest, Settings, Turn } from '../../canonical/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { ClientFormat } from '../format.ts';
import { COMPACTION_TRIGGER, SUMMARY_TOKENS_MAX } from '../compaction-request.ts';
import { objectsOf, textOf } from '../json-fields.ts';
import { responseIdOf } from './response/response-out.ts';

/** Of the messages that are kept beside it, tokens, by the estimate. */
const KEPT_TOKENS_MAX = 64_000;
const KEPT_IMAGES_MAX = 20;
const ITEM_TYPE = 'compaction';

/** What the model is given in place of a next message. */
const INSTRUCTION = `Summarize this conversation, so that it can go on from your summary alone: everything before it will be gone, except for the latest messages of the user.
Write for the model that takes over, without a greeting, in at most ${SUMMARY_TOKENS_MAX / 2} words. Say, as far as it applies:
- the goal, in the user's own words, and every rule or preference that the user stated;
- what was decided, and why; what was tried and did not work;
- the files, commands, names, numbers, addresses and error texts that will be needed again, exactly as they are;
- what is done, what is under way, and the next step.
Invent nothing. Do not call a tool and do not go on with the task.`;

/**
 * The generation whose text is the summary of a request's history: the same models and rules, no tool is called, as little
 * reasoning as the model allows. Functions stay declared, so that the prompt cache of the conversation is hit.
 * @param compaction what shortens it where an endpoint could by itself
 */
export function asCompaction(request: GenerationRequest, compaction: 'native' | 'own' = 'own'): GenerationRequest {
  const { serviceTier, promptCacheKey, cache } = request.settings;
  const tools = request.tools.filter(({ type }) => type === 'function');
  const settings: Settings = {
    maxTokens: SUMMARY_TOKENS_MAX,
    reasoning: { effort: 'none', exclude: true },
    ...(tools.length > 0 && { toolChoice: { type: 'none' } }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(promptCacheKey !== undefined && { promptCacheKey }),
    ...(cache !== undefined && { cache }),
  };
  const instruction: Turn = {
    role: 'user',
    blocks: [{ type: 'text', text: INSTRUCTION }],
    plain: true,
    source: { path: 'input', blocks: ['input'] },
  };
  const { extra: _ofTheTask, response, ...rest } = request;
  return {
    ...rest,
    turns: [...request.turns, instruction],
    tools,
    settings,
    ...(response && { response: { ...response, ...(compaction === 'native' && { compactsNatively: true }) } }),
  };
}

/** The body of `POST /responses/compact`: the same as one whose last item asks for a compaction. */
export function withTrigger(body: Json): Json {
  if (!isJsonObject(body)) return body;
  const { input, stream: _whole, store: _notKept, background: _now, ...others } = body;
  const items = typeof input === 'string' && input !== '' ? [{ role: 'user', content: input }] : (input ?? []);
  const continues = typeof body['previous_response_id'] === 'string';
  if (!Array.isArray(items) || (items.length === 0 && !continues)) return { ...others, input: items };
  return { ...others, input: [...items, { type: COMPACTION_TRIGGER }] };
}

/** The same format for a route whose response is the shorter history. */
export function compactionFormat(format: ClientFormat): ClientFormat {
  return {
    ...format,
    encodeWhole(response, identity, finalUsage) {
      const { id, created_at: createdAt, output, usage } = format.snapshotWhole?.(response, identity, finalUsage) ?? {};
      const made = objectsOf(output).filter(({ type }) => type === ITEM_TYPE);
      if (response.failure !== undefined)
        throw new GatewayError('provider_unavailable', 'The provider broke off the summary of the conversation.');
      const history = identity.request?.response?.compacts ?? [];
      // Without a whole summary nothing may be left out: the history stands as it is, and `usage` says what was charged.
      const shorter = made.length === 0 ? history : [...keptMessages(history), ...made];
      return encodeCompaction({ id, createdAt, output: shorter, usage });
    },
  };
}

/** The history as it is, where it is too short to be worth a summary. */
export function encodeUncompacted(request: GenerationRequest, id: string, createdAtS: number): string {
  const usage: JsonObject = {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  };
  return encodeCompaction({
    id: responseIdOf(id),
    createdAt: createdAtS,
    output: request.response?.compacts ?? [],
    usage,
  });
}

function encodeCompaction(parts: Readonly<Record<'id' | 'createdAt' | 'output' | 'usage', Json | undefined>>): string {
  const { id, createdAt, output, usage } = parts;
  return JSON.stringify({ id, object: 'response.compaction', created_at: createdAt, output, usage });
}

/**
 * The messages of the user that stay beside a summary, in their order: the latest ones, as far as they fit. Pictures
 * beyond the bound are left out, the oldest first.
 */
export function keptMessages(items: readonly JsonObject[]): readonly JsonObject[] {
  const kept: JsonObject[] = [];
  let tokens = 0;
  let images = 0;
  for (const item of items.toReversed()) {
    if (item['role'] !== 'user') continue;
    const { content } = item;
    const parts = objectsOf(content).toReversed();
    const taken = parts.filter((part) => part['type'] !== 'input_image' || ++images <= KEPT_IMAGES_MAX).toReversed();
    const message = typeof content === 'string' ? item : { ...item, content: taken };
    tokens += estimateTokens(textsOf(message));
    if (tokens > KEPT_TOKENS_MAX) break;
    if (typeof content === 'string' || taken.length > 0) kept.push(message);
  }
  return kept.toReversed();
}

function textsOf({ content }: JsonObject): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map(({ text }) => textOf(text) ?? '')
    .join('');
}
