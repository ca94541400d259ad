import type { Block } from '../canonical/blocks.ts';
import { isOperation, textsOf, type ModelRequest } from '../canonical/operation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import type { AttemptRecord } from '../store/generations/generation-json.ts';
import type { CapturedResponse } from './response-capture.ts';
import type { GenerationRecord } from './record.ts';

/** What was said in one generation, as it is kept and sent on: text, never the bytes of media. */
export interface GenerationContent {
  readonly input: { readonly messages: readonly JsonObject[] };
  readonly output: {
    readonly completion: string | null;
    readonly reasoning: string | null;
    readonly tool_calls?: readonly JsonObject[];
  };
  readonly error: JsonObject | null;
  /** What the request demanded of endpoints. Absent: an earlier version kept it. */
  readonly privacy?: { readonly zdr: boolean; readonly data_collection: 'allow' | 'deny' };
  /** Some texts were longer than what is kept. */
  readonly is_cut?: true;
}

/** UTF-16 units that are kept of one request, all its texts together. */
const REQUEST_CHARS_MAX = 512 * 1_024;

export function serializeContent(record: GenerationRecord, answer: CapturedResponse): GenerationContent {
  const cut = createCutter(REQUEST_CHARS_MAX);
  const messages = serializeMessages(record.request, cut.take);
  const { provider } = record.request.directives;
  return {
    input: { messages },
    output: {
      completion: answer.text === '' ? null : answer.text,
      reasoning: answer.reasoning === '' ? null : answer.reasoning,
      ...(answer.toolCalls.length > 0 && {
        tool_calls: answer.toolCalls.map(({ id, name, input }) => serializeCall(id, name, input)),
      }),
    },
    error: serializeError(record),
    privacy: { zdr: provider.zdr, data_collection: provider.dataCollection },
    ...((answer.isCut || cut.hasCut()) && { is_cut: true }),
  };
}

type Take = (text: string) => string;

function serializeMessages(request: ModelRequest, take: Take): readonly JsonObject[] {
  if (!isOperation(request)) return request.turns.map((turn) => serializeTurn(turn, take));
  return textsOf(request).map((text) => ({ role: 'user', content: take(text) }));
}

/** Lets so many characters through, and nothing after them. */
function createCutter(charsMax: number): { readonly take: Take; readonly hasCut: () => boolean } {
  let left = charsMax;
  let isCut = false;
  return {
    take(text) {
      const taken = text.length > left ? text.slice(0, left) : text;
      if (taken.length < text.length) isCut = true;
      left -= taken.length;
      return taken;
    },
    hasCut: () => isCut,
  };
}

function serializeTurn({ role, name, blocks, plain }: GenerationRequest['turns'][number], take: Take): JsonObject {
  const [first] = blocks;
  const content: Json =
    plain === true && blocks.length === 1 && first?.type === 'text'
      ? take(first.text)
      : blocks.map((block) => serializeBlock(block, take));
  return { role, ...(name !== undefined && { name }), content };
}

function serializeBlock(block: Block, take: Take): JsonObject {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { type: block.type, text: take(block.text) };
    case 'reasoning':
      // Signed or encrypted reasoning is useless to readers.
      return { type: 'reasoning', text: block.form === 'encrypted' ? '' : take(block.text) };
    case 'media':
      return { type: block.media, ...(block.name !== undefined && { name: take(block.name) }), left_out: true };
    case 'tool-call':
      return { type: 'tool_call', ...serializeCall(block.id, block.name, take(block.input)) };
    case 'tool-result':
      return {
        type: 'tool_result',
        tool_call_id: block.callId,
        content: block.content.map((part) => serializeBlock(part, take)),
      };
    case 'opaque':
      break;
  }
  return { type: 'other', ...(block.plainText !== undefined && { text: take(block.plainText) }) };
}

function serializeCall(id: string, name: string, input: string): JsonObject {
  return { id, name, arguments: input };
}

/** @source `@openrouter/sdk` 1.3.19, `GenerationContentError` */
function serializeError({ error, failure, endpoint, attempts }: GenerationRecord): JsonObject | null {
  if (error === undefined) return null;
  const last = attempts.at(-1);
  return {
    status: error.status,
    message: error.message,
    provider_name: endpoint?.providerName ?? (last === undefined ? null : nameOf(last)),
    raw: failure?.upstreamMessage ?? null,
    previous_errors: attempts.slice(0, -1).map((attempt) => ({
      code: attempt.status ?? 0,
      message:
        attempt.status === null
          ? 'The provider did not respond.'
          : `The provider responded with status ${attempt.status}.`,
      provider_name: nameOf(attempt),
      raw: null,
    })),
  };
}

function nameOf({ providerName, provider }: AttemptRecord): string {
  return providerName ?? provider;
}
