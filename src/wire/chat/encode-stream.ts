import { assert, unreachable } from '../../lib/assert.ts';
import type { Block, ReasoningBlock } from '../../canonical/blocks.ts';
import type { BlockDeltaEvent, CitationEvent, EndEvent, EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { Extra, FormatId } from '../../canonical/extra.ts';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity, Closing, ErrorContext, StreamEncoder } from '../format.ts';
import { encodeAnnotation, isPlaceless } from './annotations.ts';
import { encodeError, UNTOLD_ERROR } from './encode-error.ts';
import { FrameHead, identityMembers } from './frame-head.ts';
import { moreMembers } from './json-text.ts';
import { redactBody } from './redact-body.ts';
import { gatewayTier } from '../gateway/service-tier.ts';
import { openSlot, type Slot } from './stream-slots.ts';
import { gapBeforeReasoning, gapBeforeText } from '../../canonical/text-gap.ts';
import { encodeUsage } from './usage.ts';

const DONE = 'data: [DONE]\n\n';
const CHUNK = 'chat.completion.chunk';
/** Sources that wait for the end of a text; further ones are told at once, with what has come of it. */
const WAITING_SOURCES_MAX = 1_000;

/** Members for a chunk, for its choice and for its delta. */
interface Waiting {
  readonly chunk?: JsonObject;
  readonly choice?: JsonObject;
  readonly delta?: JsonObject;
}

/** @source generation.md 6.3, 6.4, 6.6, 6.7, C.1 */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #identity: AnswerIdentity;
  readonly #frames: FrameHead;
  readonly #slots: (Slot | undefined)[] = [];
  /** Where the text of each block that has ended ends in the text of the answer. */
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
  /** Sources that wait for the end of the open text, or of the answer. */
  #sources: CitationEvent[] = [];
  /** What the upstream brought along and the next chunk will carry. */
  #waiting: Waiting | undefined;
  #end: EndEvent | undefined;
  #tier: string | undefined;

  constructor(identity: AnswerIdentity) {
    this.#identity = identity;
    const members = identityMembers(identity, CHUNK);
    this.#frames = new FrameHead(members);
    this.#head = `data: ${JSON.stringify(members).slice(0, -1)}`;
  }

  encode(events: EventBatch): string {
    let output = '';
    for (const event of events) output += this.#encodeEvent(event);
    return output;
  }

  debug(provider: string, body: JsonObject): string {
    const members = identityMembers({ ...this.#identity, provider }, CHUNK);
    return `data: ${JSON.stringify({ ...members, choices: [], debug: { echo_upstream_body: redactBody(body) } })}\n\n`;
  }

  close(closing: Closing): string {
    assert(this.#end !== undefined, 'an answer is closed after its end');
    const { finish, nativeFinish } = this.#end;
    const native = JSON.stringify(nativeFinish ?? null);
    const opening = this.#settle() + this.#open();
    if (finish === 'error')
      this.#waiting = { ...this.#waiting, chunk: { ...this.#waiting?.chunk, error: UNTOLD_ERROR } };
    const last = this.#chunk('{"content":""}', `,"finish_reason":"${finish}","native_finish_reason":${native}`);
    return `${opening}${last}${this.#usageChunk(closing)}${DONE}`;
  }

  fail(error: GatewayError, closing: Closing | undefined, context: ErrorContext): string {
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
      ...(closing !== undefined && { usage: encodeUsage(closing) }),
    };
    return `${owed}data: ${JSON.stringify(chunk)}\n\n${DONE}`;
  }

  #encodeEvent(event: GenerationEvent): string {
    switch (event.type) {
      case 'block-delta':
        return this.#encodeDelta(event);
      case 'block-start':
        return this.#startBlock(event.index, event.block);
      case 'block-end':
        return this.#endBlock(event.index);
      case 'citation':
        return this.#encodeCitation(event);
      case 'start':
        this.#format = event.format;
        this.#noteStart(event.extra);
        return '';
      case 'extra':
        this.#noteExtra(event.extra);
        return '';
      case 'end':
        this.#end = event;
        return '';
      case 'usage':
      case 'warning':
      case 'failed':
        return '';
      default:
        return unreachable(event);
    }
  }

  #encodeDelta(event: BlockDeltaEvent): string {
    const { text, frame, extra } = event;
    const slot = this.#slots[event.index];
    assert(slot !== undefined, 'a block is started before it goes on');
    if (slot.isText && text !== undefined) this.#textChars += text.length;
    if (slot.thinks !== undefined && text) this.#lastThought = slot.thinks;
    if (frame !== undefined && this.#format === 'chat' && this.#opened && this.#waiting === undefined) {
      const rewritten = this.#frames.rewrite(frame);
      if (rewritten !== undefined) return rewritten;
    }
    const fields = extra?.format === 'chat' ? extra.fields : undefined;
    if (fields !== undefined) this.#noteChoice(fields['choices']);
    return this.#write(slot.more(event, fields));
  }

  #startBlock(index: number, block: Block): string {
    const gap = this.#gapBefore(block);
    this.#lastBlock = block;
    if (block.type === 'text') {
      this.#gapChars = gap.length;
      this.#textChars += gap.length;
    }
    const slot = openSlot(block, { call: this.#calls, detail: this.#details, text: this.#textChars, gap });
    if (block.type === 'tool-call' && block.runBy === 'caller') this.#calls += 1;
    if (block.type === 'reasoning') this.#details += 1;
    if (slot.thinks !== undefined && block.type === 'reasoning' && block.text !== '') this.#lastThought = slot.thinks;
    if (block.type === 'text') {
      this.#textChars += block.text.length;
      this.#openText = index;
    }
    this.#slots[index] = slot;
    if (block.extra?.format === 'chat') this.#noteChoice(block.extra.fields['choices']);
    return this.#write(slot.start);
  }

  #gapBefore(block: Block): string {
    if (block.type === 'text') return gapBeforeText(this.#format, this.#lastBlock, this.#textChars, block);
    return block.type === 'reasoning' ? gapBeforeReasoning(this.#format, this.#lastThought, block.form) : '';
  }

  #endBlock(index: number): string {
    const rest = this.#write(this.#slots[index]?.end?.());
    if (this.#openText === index) {
      this.#openText = undefined;
      // A text that said nothing has no gap before it.
      if (this.#textChars === this.#slots[index]?.textStart) this.#textChars -= this.#gapChars;
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
   * behind it, so that they come in the order of a whole answer.
   */
  #waits({ index, citation }: CitationEvent): boolean {
    if (isPlaceless(citation)) return this.#textEnds[index] === undefined;
    return index < 0 ? this.#openText !== undefined : this.#sources.some((waiting) => waiting.index === index);
  }

  #annotate(events: readonly CitationEvent[]): string {
    let output = '';
    for (const { index, citation } of events) {
      const start = index < 0 ? 0 : (this.#slots[index]?.textStart ?? 0);
      const end = this.#textEnds[index] ?? this.#textChars;
      const annotation = encodeAnnotation(citation, { start: Math.min(start, end), end });
      if (annotation !== undefined) output += this.#write(`{"annotations":[${JSON.stringify(annotation)}]}`);
    }
    return output;
  }

  /** What is still owed of the content when the answer ends, however it ends. */
  #settle(): string {
    const sources = this.#sources;
    this.#sources = [];
    return this.#annotate(sources);
  }

  /** What holds for all chunks, and what the first one brought along. */
  #noteStart(extra: Extra | undefined): void {
    if (extra?.format !== 'chat') return;
    const { created: _created, system_fingerprint: fingerprint, service_tier: tier, ...fields } = extra.fields;
    if (typeof fingerprint === 'string') this.#head += moreMembers({ system_fingerprint: fingerprint });
    if (typeof tier === 'string') this.#tier = tier;
    this.#noteExtra({ format: 'chat', fields });
  }

  #noteExtra(extra: Extra): void {
    if (extra.format !== 'chat') return;
    const { choices, ...chunk } = extra.fields;
    if (Object.keys(chunk).length > 0)
      this.#waiting = { ...this.#waiting, chunk: { ...this.#waiting?.chunk, ...chunk } };
    this.#noteChoice(choices);
  }

  #noteChoice(fields: JsonObject[string]): void {
    if (!isJsonObject(fields)) return;
    const { message, ...choice } = fields;
    const delta = isJsonObject(message) ? message : {};
    const before = this.#waiting;
    this.#waiting = { ...before, choice: { ...before?.choice, ...choice }, delta: { ...before?.delta, ...delta } };
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

  #usageChunk(closing: Closing): string {
    const tier = closing.usage.serviceTier ?? this.#tier;
    const members = {
      choices: [],
      service_tier: tier === undefined ? null : gatewayTier(tier),
      usage: encodeUsage(closing),
      ...(closing.serviceMetadata !== undefined && { service_metadata: closing.serviceMetadata }),
    };
    return `${this.#head}${moreMembers(members)}}\n\n`;
  }
}
