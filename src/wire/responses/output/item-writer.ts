import type {
  Block,
  Citation,
  MediaBlock,
  OpaqueBlock,
  ReasoningBlock,
  RefusalBlock,
  TextBlock,
  ToolCallBlock,
} from '../../../canonical/blocks.ts';
import type { GenerationEvent } from '../../../canonical/events.ts';
import type { Extra, FormatId } from '../../../canonical/extra.ts';
import { unreachable } from '../../../lib/assert.ts';
import { fieldsOf } from '../../extra.ts';
import { textOf } from '../../json-fields.ts';
import { PICTURE_TYPE } from '../server-tools.ts';
import { BlockQueue, type BlockEvent } from './block-queue.ts';
import { SILENT_TARGET, type BlockTarget } from './block-target.ts';
import { createCallItem, type CallItem, type NamedTool } from './call-items.ts';
import { encodeOpaqueItem, HostedCall, isHostedCall, PictureTarget } from './hosted-items.ts';
import { logprobsOf } from './logprobs-out.ts';
import { MessageItem, MessagePart } from './message-item.ts';
import type { Output } from './output.ts';
import { ReasoningItem, type ReasoningOptions } from './reasoning-item.ts';
import { LateReasoning } from './late-reasoning.ts';
import { ServerCalls, type ServerToolNames } from './server-calls.ts';
import { TextPosition } from './text-position.ts';

export interface ItemWriterOptions {
  readonly output: Output;
  /** The tools of the request, by the name under which the model calls them. */
  readonly toolOf: (name: string) => NamedTool | undefined;
  readonly serverTools: ServerToolNames;
  readonly showsLogprobs: boolean;
  readonly wantsSummary: boolean;
  readonly seal: ReasoningOptions['seal'];
}

/** Sources that wait for a text; further ones are left out. */
const WAITING_SOURCES_MAX = 1_000;

/**
 * Writes the blocks of one response as items. Messages and reasoning come one at a time; calls may be open side by side,
 * but beside nothing else.
 */
export class ItemWriter {
  readonly #options: ItemWriterOptions;
  readonly #queue: BlockQueue;
  readonly #serverCalls: ServerCalls;
  readonly #position = new TextPosition();
  /** By the index of the block. */
  readonly #targets: (BlockTarget | undefined)[] = [];
  #format: FormatId | undefined;
  #message: MessageItem | undefined;
  /** The latest text of the message, whether it has begun or not. */
  #part: MessagePart | undefined;
  #reasoning: ReasoningItem | undefined;
  /** Encrypted reasoning behind the text: sources of the text may still come. */
  #late: LateReasoning[] = [];
  /** Calls that have not ended on the wire. */
  #calls: CallItem[] = [];
  /** Sources of the whole response that came before any text. */
  #sources: Citation[] = [];
  /** The item of a tool that made a picture shows it already; the picture is the next block. */
  #skipsPicture = false;

  constructor(options: ItemWriterOptions) {
    this.#options = options;
    this.#serverCalls = new ServerCalls(options.output, options.serverTools);
    this.#queue = new BlockQueue(
      (event) => this.#apply(event),
      (block, behindOthers) => this.#mustWait(block, behindOthers),
    );
  }

  /** That the upstream speaks. */
  get format(): FormatId | undefined {
    return this.#format;
  }

  take(event: GenerationEvent): string {
    // Nearly all events: more of a block that is open.
    if (event.type === 'block-delta' && this.#queue.isEmpty) return this.#targets[event.index]?.add(event) ?? '';
    switch (event.type) {
      case 'block-delta':
      case 'block-start':
      case 'block-end':
        return this.#queue.take(event);
      case 'citation':
        return event.index < 0 ? this.#citeWhole(event.citation) : this.#queue.take(event);
      case 'start':
        this.#format = event.format;
        return '';
      case 'extra':
        return this.#takeExtra(event.extra);
      case 'tool-progress':
        return this.#serverCalls.report(event);
      case 'usage':
      case 'warning':
      case 'end':
      case 'failed':
        return '';
      default:
        return unreachable(event);
    }
  }

  /** The response has ended, not failed. @param isCut it would have gone on: what is last is incomplete, and must not be run */
  finish(isCut: boolean): string {
    let frames = this.#queue.flush();
    const last = this.#calls.at(-1);
    const status = isCut && last === undefined ? 'incomplete' : 'completed';
    for (const call of this.#calls) if (!isCut || (call !== last && call.isWhole)) frames += call.settle();
    return frames + this.#endReasoning(status) + this.#endMessage(status);
  }

  /** An event of whatever is open that says nothing; `''` where nothing is. */
  heartbeat(): string {
    const call = this.#calls.at(-1);
    return this.#message?.openPart?.heartbeat() ?? this.#reasoning?.heartbeat() ?? call?.heartbeat() ?? '';
  }

  #mustWait(block: Block, behindOthers: boolean): boolean {
    if (this.#calls.some(({ isExclusive }) => isExclusive)) return true;
    const { isRunning } = this.#serverCalls;
    if (isRunning && (block.type === 'opaque' || isServerCall(block))) return false;
    if (isRunning || behindOthers) return true;
    return block.type !== 'tool-call' && this.#calls.some(({ isComplete }) => !isComplete);
  }

  #apply(event: BlockEvent): string {
    if (event.type === 'block-start') {
      const { index, block } = event;
      if (block.type !== 'text') this.#position.pass(block);
      if (block.type !== 'media') this.#skipsPicture = false;
      return this.#begin(block, (target) => {
        this.#targets[index] = target;
      });
    }
    const target = this.#targets[event.index];
    if (target === undefined) return '';
    if (event.type === 'block-delta') return target.add(event);
    if (event.type === 'citation') return target instanceof MessagePart ? target.cite(event.citation) : '';
    if (target instanceof MessagePart && target.kind === 'text') this.#position.end(target.chars);
    return target.end();
  }

  /** @param take what takes the other events of the block */
  #begin(block: Block, take: (target: BlockTarget) => void): string {
    switch (block.type) {
      case 'text':
      case 'refusal':
        return this.#beginText(block, take);
      case 'reasoning':
        return this.#beginReasoning(block, take);
      case 'tool-call':
        return this.#beginCall(block, take);
      case 'opaque':
        return block.format === 'responses' ? this.#writeItem(block) : '';
      case 'media':
        return block.media === 'image' ? this.#beginPicture(block, take) : '';
      case 'tool-result':
        return '';
      default:
        return unreachable(block);
    }
  }

  #beginText(block: TextBlock | RefusalBlock, take: (target: BlockTarget) => void): string {
    const phase = textOf(fieldsOf(block, 'responses')?.['phase']);
    let frames = this.#settleCalls() + this.#endReasoning();
    const isApart = block.type === 'text' && block.apart === true;
    if (isApart || this.#message?.phase !== phase || this.#late.length > 0) frames += this.#endMessage();
    this.#message ??= new MessageItem(this.#options.output, phase);
    this.#leavePart();
    const part = this.#message.createPart({
      kind: block.type,
      textStart: block.type === 'text' ? this.#position.start(block, this.#format) : 0,
      showsLogprobs: this.#options.showsLogprobs,
    });
    if (block.type === 'text') for (const source of this.#sources.splice(0)) part.citeWhole(source);
    this.#part = part;
    take(part);
    frames += part.write(block.text, this.#options.showsLogprobs ? logprobsOf(block.extra) : []);
    for (const citation of block.type === 'text' ? (block.citations ?? []) : []) frames += part.cite(citation);
    return frames;
  }

  #beginReasoning(block: ReasoningBlock, take: (target: BlockTarget) => void): string {
    const isNative = this.#format === 'responses';
    if (!isNative && block.form === 'encrypted' && this.#message?.isBegun === true) {
      const late = new LateReasoning(block);
      this.#late.push(late);
      take(late);
      return '';
    }
    let frames = this.#settleCalls() + this.#endMessage();
    if (this.#reasoning?.takes(block) === false) frames += this.#endReasoning();
    this.#reasoning ??= this.#createReasoning(block);
    const target = this.#reasoning.createTarget(block);
    take(target);
    return frames + target.write(block.text);
  }

  #createReasoning(block: ReasoningBlock): ReasoningItem {
    const { output, wantsSummary, seal } = this.#options;
    return new ReasoningItem(output, { isNative: this.#format === 'responses', wantsSummary, seal }, block);
  }

  #beginCall(block: ToolCallBlock, take: (target: BlockTarget) => void): string {
    if (block.runBy === 'upstream' && !isHostedCall(block)) return '';
    const frames = this.#endOthers();
    if (block.runBy === 'gateway') {
      take(this.#serverCalls.start(block));
      return frames;
    }
    if (block.runBy === 'upstream') {
      const hosted = new HostedCall(this.#options.output, block);
      take(hosted);
      return frames + hosted.begin();
    }
    const call = createCallItem(this.#options.output, block, this.#options.toolOf(block.name));
    this.#calls.push(call);
    take(call);
    const begun = call.begin();
    return frames + begun + call.add({ text: block.input });
  }

  #writeItem(block: OpaqueBlock): string {
    const result = this.#serverCalls.finish(block);
    if (result === undefined) return this.#endOthers() + encodeOpaqueItem(this.#options.output, block);
    this.#skipsPicture = block.value['type'] === PICTURE_TYPE;
    return result;
  }

  #beginPicture(block: MediaBlock, take: (target: BlockTarget) => void): string {
    if (this.#skipsPicture) {
      this.#skipsPicture = false;
      take(SILENT_TARGET);
      return '';
    }
    take(new PictureTarget(this.#options.output, block));
    return this.#endOthers();
  }

  #citeWhole(citation: Citation): string {
    if (this.#part?.kind === 'text') this.#part.citeWhole(citation);
    else if (this.#sources.length < WAITING_SOURCES_MAX) this.#sources.push(citation);
    return '';
  }

  /** Log probabilities of the text that is open. */
  #takeExtra(extra: Extra): string {
    if (!this.#options.showsLogprobs || this.#part === undefined) return '';
    return this.#part.write('', logprobsOf(extra));
  }

  #endOthers(): string {
    return this.#settleCalls() + this.#endReasoning() + this.#endMessage();
  }

  /** Calls whose arguments are complete: the response has gone on, so nothing was cut. */
  #settleCalls(): string {
    if (this.#calls.length === 0) return '';
    const complete = this.#calls.filter(({ isComplete }) => isComplete);
    this.#calls = this.#calls.filter(({ isComplete }) => !isComplete);
    return complete.map((call) => call.settle()).join('');
  }

  #endReasoning(status: 'completed' | 'incomplete' = 'completed'): string {
    const frames = this.#reasoning?.end(status) ?? '';
    this.#reasoning = undefined;
    return frames;
  }

  #endMessage(status: 'completed' | 'incomplete' = 'completed'): string {
    const frames = this.#message?.end(status) ?? '';
    this.#leavePart();
    this.#message = undefined;
    return this.#late.length === 0 ? frames : frames + this.#writeLate();
  }

  #writeLate(): string {
    let frames = '';
    for (const late of this.#late.splice(0)) {
      if (this.#reasoning?.takes(late.block) === false) frames += this.#endReasoning();
      this.#reasoning ??= this.#createReasoning(late.block);
      frames += this.#reasoning.createTarget(late.block, true).write(late.text);
    }
    return frames + this.#endReasoning();
  }

  /** A text that stayed empty leaves its sources to the next one. */
  #leavePart(): void {
    this.#sources.push(...(this.#part?.takeUnused() ?? []));
    this.#part = undefined;
  }
}

function isServerCall(block: Block): boolean {
  return block.type === 'tool-call' && block.runBy === 'gateway';
}
