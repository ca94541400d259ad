import { assert, unreachable } from '../../../lib/assert.ts';
import type { Block, ReasoningBlock } from '../../../canonical/blocks.ts';
import type {
  BlockDeltaEvent,
  CitationEvent,
  EndEvent,
  EventBatch,
  GenerationEvent,
} from '../../../canonical/events.ts';
import type { Extra, FormatId } from '../../../canonical/extra.ts';
import type { GatewayError } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity, FinalUsage, ErrorContext, StreamEncoder } from '../../format.ts';
import { encodeAnnotation, isPlaceless } from '../citations.ts';
import { encodeError, UNREPORTED_ERROR } from './error.ts';
import { isCustomCall } from './custom-calls.ts';
import { encodeFinishReason } from './finish-reason.ts';
import { FrameHead, identityMembers } from './frame-head.ts';
import { redactBody } from '../../gateway/redact-body.ts';
import { gatewayTier } from '../../gateway/service-tier.ts';
import { openBlockWriter, type BlockWriter } from './blocks-out.ts';
import { gapBeforeReasoning, gapBeforeText } from '../../../canonical/text-gap.ts';
import { encodeUsage } from './usage.ts';

const DONE = 'data: [DONE]\n\n';
const CHUNK = 'chat.completion.chunk';
/** Sources that wait for the end of a text; further ones are written at once, with the text so far. */
const WAITING_SOURCES_MAX = 1_000;

/** Members for a chunk, for its choice and for its delta. */
interface Waiting {
  readonly chunk?: JsonObject;
  readonly choice?: JsonObject;
  readonly delta?: JsonObject;
}

/** @spec stream-13, stream-15, stream-20 */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #identity: ResponseIdentity;
  readonly #frames: FrameHead;
  readonly #writers: (BlockWriter | undefined)[] = [];
  /** Where the text of each block that has ended ends in the text of the response. */
  readonly #textEnds: (number | undefined)[] = [];
  /** All chunks begin so: `data: {"id":...`, up to the member that differs. */
  #head: string;
  #format: FormatId | undefined;
  #opened = false;
  #calls = 0;
  #details = 0;
  #textChars = 0;
  #lastBlock: Block | undefined;
  /** The form of the readable reasoning that came last. */
  #lastThought: ReasoningBlock['form'] | undefined;
  /** Index of the open text. */
  #openText: number | undefined;
  /** What was counted of the text for the gap before the latest one. */
  #gapChars = 0;
  /** Sources that wait for the end of the open text, or of the response. */
  #sources: CitationEvent[] = [];
  /** Passthrough fields of the upstream that wait for the next chunk. */
  #waiting: Waiting | undefined;
  #end: EndEvent | undefined;
  #tier: string | undefined;

  constructor(identity: ResponseIdentity) {
    this.#identity = identity;
    const members = identityMembers(identity, CHUNK);
    this.#frames = new FrameHead(members);
    this.#head = `data: ${JSON.stringify(members).slice(0, -1)}`;
  }

  encode(events: EventBatch): string {
    let output = '';
    for (const event of events)
      output += event.type === 'block-delta' ? this.#encodeDelta(event) : this.#encodeEvent(event);
    return output;
  }

  debug(provider: string, body: JsonObject): string {
    const members = identityMembers({ ...this.#identity, provider }, CHUNK);
    return `data: ${JSON.stringify({ ...members, choices: [], debug: { echo_upstream_body: redactBody(body) } })}\n\n`;
  }

  close(finalUsage: FinalUsage): string {
    assert(this.#end !== undefined, 'a response is closed after its end');
    const { finish, nativeFinish } = this.#end;
    const native = JSON.stringify(nativeFinish ?? null);
    const opening = this.#settle() + this.#open();
    if (finish === 'error')
      this.#waiting = { ...this.#waiting, chunk: { ...this.#waiting?.chunk, error: UNREPORTED_ERROR } };
    const reason = JSON.stringify(encodeFinishReason(finish, this.#identity.legacyCalls));
    const last = this.#chunk('{"content":""}', `,"finish_reason":${reason},"native_finish_reason":${native}`);
    return `${opening}${last}${this.#usageChunk(finalUsage)}${DONE}`;
  }

  fail(error: GatewayError, finalUsage: FinalUsage | undefined, context: ErrorContext): string {
    const { user_id: _none, ...body } = encodeError(error, context);
    const owed = this.#settle();
    const chunk = {
      ...identityMembers(this.#identity, CHUNK),
      ...body,
      choices: [
        {
          index: 0,
          delta: { ...(!this.#opened && { role: 'assistant' }), content: '' },
          finish_reason: 'error',
          native_finish_reason: this.#end?.nativeFinish ?? null,
        },
      ],
      ...(finalUsage !== undefined && { usage: encodeUsage(finalUsage) }),
    };
    return `${owed}data: ${JSON.stringify(chunk)}\n\n${DONE}`;
  }

  #encodeEvent(event: Exclude<GenerationEvent, BlockDeltaEvent>): string {
    switch (event.type) {
      case 'block-start':
        return this.#startBlock(event.index, event.block);
      case 'block-end':
        return this.#endBlock(event.index);
      case 'citation':
        return this.#encodeCitation(event);
      case 'start':
        this.#format = event.format;
        return this.#noteStart(event.extra);
      case 'extra':
        return this.#noteExtra(event.extra);
      case 'end':
        this.#end = event;
        return '';
      case 'usage':
      case 'warning':
      case 'tool-progress':
      case 'failed':
        return '';
      default:
        return unreachable(event);
    }
  }

  #encodeDelta(event: BlockDeltaEvent): string {
    const { text, frame, extra } = event;
    const writer = this.#writers[event.index];
    assert(writer !== undefined, 'a block is started before it goes on');
    if (writer.isText && text !== undefined) this.#textChars += text.length;
    if (writer.thinks !== undefined && text) this.#lastThought = writer.thinks;
    if (frame !== undefined && this.#format === 'chat' && this.#opened && this.#waiting === undefined) {
      const rewritten = this.#frames.rewrite(frame);
      if (rewritten !== undefined) return rewritten;
    }
    const fields = extra?.format === 'chat' ? extra.fields : undefined;
    const before = fields === undefined ? '' : this.#noteChoice(fields['choices']);
    return before + this.#write(writer.more(event, fields));
  }

  #startBlock(index: number, block: Block): string {
    const gap = this.#gapBefore(block);
    this.#lastBlock = block;
    if (block.type === 'text') {
      this.#gapChars = gap.length;
      this.#textChars += gap.length;
    }
    const { legacyCalls, request } = this.#identity;
    const writer = openBlockWriter(block, {
      call: this.#calls,
      detail: this.#details,
      text: this.#textChars,
      gap,
      legacyCalls,
      isCustom: block.type === 'tool-call' && isCustomCall(block, request),
    });
    if (block.type === 'tool-call' && block.runBy === 'caller') this.#calls += 1;
    if (block.type === 'reasoning') this.#details += 1;
    if (writer.thinks !== undefined && block.type === 'reasoning' && block.text !== '')
      this.#lastThought = writer.thinks;
    if (block.type === 'text') {
      this.#textChars += block.text.length;
      this.#openText = index;
    }
    this.#writers[index] = writer;
    const before = block.extra?.format === 'chat' ? this.#noteChoice(block.extra.fields['choices']) : '';
    return before + this.#write(writer.start);
  }

  #gapBefore(block: Block): string {
    if (block.type === 'text') return gapBeforeText(this.#format, this.#lastBlock, this.#textChars, block);
    return block.type === 'reasoning' ? gapBeforeReasoning(this.#format, this.#lastThought, block.form) : '';
  }

  #endBlock(index: number): string {
    const rest = this.#write(this.#writers[index]?.end?.());
    if (this.#openText === index) {
      this.#openText = undefined;
      // An empty text has no gap before it.
      if (this.#textChars === this.#writers[index]?.textStart) this.#textChars -= this.#gapChars;
    }
    this.#textEnds[index] = this.#textChars;
    if (this.#sources.length === 0) return rest;
    const ofText = this.#sources.filter((event) => event.index === index);
    const others = this.#sources.filter((event) => event.index !== index);
    this.#sources = others.filter((event) => this.#waits(event));
    return rest + this.#annotate([...ofText, ...others.filter((event) => !this.#waits(event))]);
  }

  #encodeCitation(event: CitationEvent): string {
    if (!this.#waits(event) || this.#sources.length >= WAITING_SOURCES_MAX) return this.#annotate([event]);
    this.#sources.push(event);
    return '';
  }

  /**
   * A source that names no place stands on the whole of its text, whose end is not known before it has come. Others wait
   * behind it, so that they come in the order of a whole response.
   */
  #waits({ index, citation }: CitationEvent): boolean {
    if (isPlaceless(citation)) return this.#textEnds[index] === undefined;
    return index < 0 ? this.#openText !== undefined : this.#sources.some((waiting) => waiting.index === index);
  }

  #annotate(events: readonly CitationEvent[]): string {
    let output = '';
    for (const { index, citation } of events) {
      const start = index < 0 ? 0 : (this.#writers[index]?.textStart ?? 0);
      const end = this.#textEnds[index] ?? this.#textChars;
      const annotation = encodeAnnotation(citation, { start: Math.min(start, end), end });
      if (annotation !== undefined) output += this.#write(`{"annotations":[${JSON.stringify(annotation)}]}`);
    }
    return output;
  }

  /** What is still owed of the content when the response ends, however it ends. */
  #settle(): string {
    const sources = this.#sources;
    this.#sources = [];
    return this.#annotate(sources);
  }

  /** The head of all chunks, and the passthrough fields of the first one. */
  #noteStart(extra: Extra | undefined): string {
    if (extra?.format !== 'chat') return '';
    const { created: _created, system_fingerprint: fingerprint, service_tier: tier, ...fields } = extra.fields;
    if (typeof fingerprint === 'string') this.#head += moreMembers({ system_fingerprint: fingerprint });
    if (typeof tier === 'string') this.#tier = tier;
    return this.#noteExtra({ format: 'chat', fields });
  }

  #noteExtra(extra: Extra): string {
    if (extra.format !== 'chat') return '';
    const { choices, ...chunk } = extra.fields;
    const before = Object.keys(chunk).length > 0 ? this.#wait({ chunk }) : '';
    return before + this.#noteChoice(choices);
  }

  #noteChoice(fields: JsonObject[string]): string {
    if (!isJsonObject(fields)) return '';
    const { message, ...choice } = fields;
    return this.#wait({ choice, delta: isJsonObject(message) ? message : {} });
  }

  /**
   * Lets members wait for the next chunk. Where one of them waits already with another value, the gateway does not know how
   * to merge the two: the waiting members go out in a chunk of their own.
   */
  #wait(next: Waiting): string {
    const before = this.#waiting;
    const isInTheWay = before !== undefined && contradict(before, next);
    const frames = isInTheWay ? this.#write('{"content":""}') : '';
    const { chunk, choice, delta } = this.#waiting ?? {};
    this.#waiting = {
      chunk: { ...chunk, ...next.chunk },
      choice: { ...choice, ...next.choice },
      delta: { ...delta, ...next.delta },
    };
    return frames;
  }

  /** One chunk with this delta, and before the first one the chunk that names the role. */
  #write(delta: string | undefined): string {
    if (delta === undefined) return '';
    const opening = this.#open();
    return opening + this.#chunk(delta, ',"finish_reason":null');
  }

  #open(): string {
    if (this.#opened) return '';
    this.#opened = true;
    const choice =
      '{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"native_finish_reason":null}';
    return `${this.#head},"choices":[${choice}]}\n\n`;
  }

  #chunk(delta: string, finish: string): string {
    const waiting = this.#waiting;
    if (waiting === undefined) return `${this.#head},"choices":[{"index":0,"delta":${delta}${finish}}]}\n\n`;
    this.#waiting = undefined;
    const choice = `{"index":0,"delta":${delta.slice(0, -1)}${moreMembers(waiting.delta)}}${finish}${moreMembers(waiting.choice)}}`;
    return `${this.#head}${moreMembers(waiting.chunk)},"choices":[${choice}]}\n\n`;
  }

  #usageChunk(finalUsage: FinalUsage): string {
    const tier = finalUsage.usage.serviceTier ?? this.#tier;
    const members = {
      choices: [],
      service_tier: tier === undefined ? null : gatewayTier(tier),
      usage: encodeUsage(finalUsage),
      ...(finalUsage.serviceMetadata !== undefined && { service_metadata: finalUsage.serviceMetadata }),
    };
    return `${this.#head}${moreMembers(members)}}\n\n`;
  }
}

/** Whether both hold a member of one name with different values. */
function contradict(before: Waiting, next: Waiting): boolean {
  return differ(before.chunk, next.chunk) || differ(before.choice, next.choice) || differ(before.delta, next.delta);
}

function differ(before: JsonObject | undefined, next: JsonObject | undefined): boolean {
  if (before === undefined || next === undefined) return false;
  return Object.keys(next).some(
    (member) => Object.hasOwn(before, member) && JSON.stringify(before[member]) !== JSON.stringify(next[member]),
  );
}

/** JSON text of members, each with a comma before it, to go on with an object that is being written. */
function moreMembers(fields: JsonObject | undefined): string {
  if (fields === undefined) return '';
  const text = JSON.stringify(fields);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}
