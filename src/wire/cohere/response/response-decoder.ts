import { classifyErrorEvent, transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { EventBatch, WarningEvent } from '../../../canonical/events.ts';
import type { Extra } from '../../../canonical/extra.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { ResponseBlocks, textPiece } from '../../response-blocks.ts';
import { gapBeforeText } from '../../../canonical/text-gap.ts';
import { textOf } from '../../json-fields.ts';
import { ToolCalls } from './tool-calls.ts';
import { citesText, decodeCitation, type CitedText } from './citations.ts';
import { decodeFinishReason, statusOfFinish } from './finish-reason.ts';
import { failureOfFinish } from './error.ts';
import { decodeUsage } from './usage.ts';

const WARNINGS_MAX = 20;
/** Content parts of one response whose texts are kept for citations. */
const TEXTS_MAX = 1_000;

/** A content part with text: where its block is, and what citations need. */
interface TextPart extends CitedText {
  readonly block: number;
  text: string;
}

/** Turns the parts of one response into events, whether they come in pieces or whole. */
export class ResponseDecoder {
  readonly #blocks = new ResponseBlocks();
  readonly #calls = new ToolCalls(this.#blocks);
  /** By the index of their content part. */
  readonly #texts = new Map<number, TextPart>();
  #textChars = 0;
  #started = false;
  #over = false;
  /** Warnings from before the start, which comes first. */
  #early: WarningEvent[] = [];
  #warnings = 0;

  /** Nothing more is read after an end or a failure. */
  get over(): boolean {
    return this.#over;
  }

  take(): EventBatch {
    return this.#blocks.take();
  }

  /** Only the first start counts. */
  start(id: Json | undefined): void {
    if (this.#started) return;
    this.#started = true;
    this.#blocks.emit({ type: 'start', format: 'cohere', ...(typeof id === 'string' && id !== '' && { id }) });
    for (const warning of this.#early) this.#blocks.emit(warning);
    this.#early = [];
  }

  /** What the model means to do before it calls tools: "a chain-of-thought style reflection", so it is reasoning. */
  addPlan(text: Json | undefined): void {
    if (typeof text === 'string' && text !== '') this.#addReasoning('tool_plan', 0, text);
  }

  /** @param part a content part, or a piece of one */
  addContent(index: number, part: JsonObject, logprobs?: Extra): void {
    const { text, thinking } = part;
    if (typeof thinking === 'string' && thinking !== '') this.#addReasoning('thinking', index, thinking);
    if (typeof text === 'string' && text !== '') this.#addText(index, text, logprobs);
    const { type } = part;
    if (text === undefined && thinking === undefined && type !== 'text' && type !== 'thinking')
      this.skip(`a content part of type ${(textOf(type) ?? typeof type).slice(0, 80)}`);
  }

  startCall(index: number, call: Json | undefined): void {
    this.start(undefined);
    if (!this.#calls.start(index, call)) this.skip('a tool call without a name');
  }

  addToCall(index: number, call: Json | undefined): void {
    if (!this.#calls.add(index, call)) this.skip('a piece of a tool call that is not open');
  }

  endCall(index: number): void {
    this.#calls.end(index);
  }

  cite(citation: JsonObject): void {
    this.start(undefined);
    const index = citation['content_index'];
    const cited = typeof index === 'number' ? this.#texts.get(index) : [...this.#texts.values()].at(-1);
    if (!citesText(citation) || cited === undefined) {
      this.skip('a citation of what is no text');
      return;
    }
    // A citation of a text that has ended cannot go back to it, so it belongs to the whole response.
    const block = this.#blocks.openText === cited.block ? cited.block : -1;
    for (const source of decodeCitation(citation, cited))
      this.#blocks.emit({ type: 'citation', index: block, citation: source });
  }

  /** The response's own end: its finish reason and its usage. @param error the sentence beside a reason that is a failure */
  finish(word: Json | undefined, usage: Json | undefined, error: Json | undefined): void {
    this.start(undefined);
    const counted = decodeUsage(usage);
    if (counted !== undefined) this.#blocks.emit({ type: 'usage', usage: counted });
    const native = textOf(word) || undefined;
    const status = native === undefined ? undefined : statusOfFinish(native);
    if (native !== undefined && status !== undefined) {
      this.fail(failureOfFinish(native, status, error));
      return;
    }
    if (native === undefined && typeof error === 'string') {
      this.fail(classifyErrorEvent(500, { message: error }));
      return;
    }
    this.#calls.endAll();
    this.#blocks.endOpen();
    this.#over = true;
    this.#blocks.emit({
      type: 'end',
      finish: decodeFinishReason(native, this.#calls.any),
      ...(native !== undefined && { nativeFinish: native }),
    });
  }

  /** The upstream closed. An end that it did not give is never invented (@spec stream-11). */
  close(): void {
    this.fail(transportFailure('early-end'));
  }

  fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    if (this.#early.length > 0) this.start(undefined);
    this.#over = true;
    this.#blocks.emit({ type: 'failed', failure });
  }

  /** Notes what could not be read and was left out. */
  skip(what: string): void {
    this.#warnings += 1;
    if (this.#warnings > WARNINGS_MAX) return;
    const message = `left out: ${what}`;
    const event: WarningEvent = { type: 'warning', warning: { code: 'event-skipped', path: 'stream', message } };
    if (this.#started) this.#blocks.emit(event);
    else this.#early.push(event);
  }

  /** Nothing is signed here, so that any model may read it. @spec reasoning-16 */
  #addReasoning(carrier: string, index: number, text: string): void {
    this.#enter();
    const block = { type: 'reasoning', form: 'text', text: '', family: 'unknown', carrier } as const;
    this.#blocks.put({ key: `${carrier} ${index}`, block, text });
  }

  /** Text parts in a row are one text in pieces, as readers of the response will see it. */
  #addText(index: number, text: string, extra: Extra | undefined): void {
    this.#enter();
    const before = this.#blocks.openText;
    this.#blocks.put({ ...textPiece(text), extra });
    const block = this.#blocks.openText ?? -1;
    if (block !== before) this.#textChars += gapBeforeText('cohere', undefined, this.#textChars).length;
    const part = this.#texts.get(index);
    if (part !== undefined && part.block === block) part.text += text;
    else if (this.#texts.size < TEXTS_MAX) this.#texts.set(index, { block, text, start: this.#textChars });
    this.#textChars += text.length;
  }

  /** Content beside calls that have not ended ends them: nothing else may stand open with a call. */
  #enter(): void {
    this.start(undefined);
    this.#calls.endAll();
  }
}
