import type { Block } from '../canonical/blocks.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import type { CapturedAnswer } from './answer-capture.ts';
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
  /** Some texts were longer than what is kept. */
  readonly is_cut?: true;
}

/** UTF-16 units that are kept of one request, all its texts together. */
const REQUEST_CHARS_MAX = 512 * 1_024;

export function drawContent(record: GenerationRecord, answer: CapturedAnswer): GenerationContent {
  const cut = createCutter(REQUEST_CHARS_MAX);
  const messages = record.request.turns.map((turn) => drawTurn(turn, cut.take));
  return {
    input: { messages },
    output: {
      completion: answer.text === '' ? null : answer.text,
      reasoning: answer.reasoning === '' ? null : answer.reasoning,
      ...(answer.toolCalls.length > 0 && {
        tool_calls: answer.toolCalls.map(({ id, name, input }) => drawCall(id, name, input)),
      }),
    },
    error: drawError(record),
    ...((answer.isCut || cut.hasCut()) && { is_cut: true }),
  };
}

type Take = (text: string) => string;

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

function drawTurn({ role, name, blocks, plain }: GenerationRequest['turns'][number], take: Take): JsonObject {
  const [first] = blocks;
  const content: Json =
    plain === true && blocks.length === 1 && first?.type === 'text'
      ? take(first.text)
      : blocks.map((block) => drawBlock(block, take));
  return { role, ...(name !== undefined && { name }), content };
}

function drawBlock(block: Block, take: Take): JsonObject {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { type: block.type, text: take(block.text) };
    case 'reasoning':
      // Sealed reasoning says nothing to whoever reads this.
      return { type: 'reasoning', text: block.form === 'encrypted' ? '' : take(block.text) };
    case 'media':
      return { type: block.media, ...(block.name !== undefined && { name: take(block.name) }), left_out: true };
    case 'tool-call':
      return { type: 'tool_call', ...drawCall(block.id, block.name, take(block.input)) };
    case 'tool-result':
      return {
        type: 'tool_result',
        tool_call_id: block.callId,
        content: block.content.map((part) => drawBlock(part, take)),
      };
    case 'opaque':
      break;
  }
  return { type: 'other', ...(block.words !== undefined && { text: take(block.words) }) };
}

function drawCall(id: string, name: string, input: string): JsonObject {
  return { id, name, arguments: input };
}

/** @source reference shapes, `GenerationContentError` */
function drawError({ error, failure, endpoint, attempts }: GenerationRecord): JsonObject | null {
  if (error === undefined) return null;
  return {
    status: error.status,
    message: error.message,
    provider_name: endpoint?.providerName ?? attempts.at(-1)?.provider ?? null,
    raw: failure?.upstreamMessage ?? null,
    previous_errors: attempts.slice(0, -1).map(({ provider, status }) => ({
      code: status ?? 0,
      message: status === null ? 'The provider did not answer.' : `The provider answered with status ${status}.`,
      provider_name: provider,
      raw: null,
    })),
  };
}
