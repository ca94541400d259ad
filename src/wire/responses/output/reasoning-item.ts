import type { ReasoningBlock } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { BlockAddition, BlockTarget } from './block-target.ts';
import type { DeltaFrames } from './event-frames.ts';
import type { ItemStatus, Output, OutputItem } from './output.ts';
import type { SealReasoning, SealedBlock } from './reasoning-seal.ts';

/** Vendors that show summaries of what their models think, not the thought itself. */
const SUMMARIZING: ReadonlySet<string> = new Set(['anthropic-claude-v1', 'google-gemini-v1']);

/** Its encrypted blocks are signatures of calls, which they name, and of texts. */
const SIGNS_CALLS: NonNullable<ReasoningBlock['family']> = 'google-gemini-v1';

export interface ReasoningOptions {
  /** The upstream spoke this format: what it encrypted goes to the caller as it came. */
  readonly isNative: boolean;
  /** The caller requested summaries, so that it reads thoughts as such. */
  readonly wantsSummary: boolean;
  readonly seal: SealReasoning;
}

/** One entry of `summary` or `content`. */
interface ReasoningPart {
  readonly kind: 'summary' | 'content';
  readonly index: number;
  readonly deltas: DeltaFrames;
  text: string;
  isOpen: boolean;
}

/** A run of reasoning blocks. It begins with its first text, or ends as no more than what it holds sealed. */
export class ReasoningItem {
  readonly family: ReasoningBlock['family'];
  readonly id: string | undefined;
  readonly #output: Output;
  readonly #options: ReasoningOptions;
  readonly #blocks: SealedBlock[] = [];
  readonly #parts: ReasoningPart[] = [];
  /** Where its readable text stands: clients would show it twice if it stood in both. */
  #kind: ReasoningPart['kind'] | undefined;
  #ownId: string | undefined;
  #item: OutputItem | undefined;
  #sealed: JsonObject = {};

  constructor(output: Output, options: ReasoningOptions, { family, id }: ReasoningBlock) {
    this.#output = output;
    this.#options = options;
    this.family = family;
    this.id = id;
  }

  /** Whether a block that follows is one more of the same run. Upstreams of this format name their items. */
  takes(block: ReasoningBlock): boolean {
    return block.family === this.family && (!this.#options.isNative || block.id === this.id);
  }

  /** @param isBehindText it came behind a text: a signature that names no call is that text's */
  createTarget(block: ReasoningBlock, isBehindText = false): ReasoningTarget {
    const { form, signature, id, carrier } = block;
    const signs = form === 'encrypted' && block.family === SIGNS_CALLS;
    const sealed: SealedBlock = {
      form,
      text: '',
      index: this.#blocks.length,
      ...(signature !== undefined && { signature }),
      ...(id !== undefined && { id }),
      ...(carrier !== undefined && { carrier }),
      ...(signs && id !== undefined && { callId: id }),
      ...(signs && id === undefined && isBehindText && { of: 'previous' }),
    };
    this.#blocks.push(sealed);
    return new ReasoningTarget(
      sealed,
      (text, part) => this.#write(form, text, part),
      (part) => this.#close(part),
    );
  }

  heartbeat(): string {
    const last = this.#parts.at(-1);
    return last?.isOpen === true ? last.deltas('') : '';
  }

  end(status: 'completed' | 'incomplete'): string {
    let frames = '';
    for (const part of this.#parts) frames += this.#close(part);
    this.#sealed = this.#options.isNative ? this.#nativeData() : this.#container();
    if (this.#sealed['encrypted_content'] !== undefined) frames += this.#ensureBegun();
    return frames + (this.#item?.end(status) ?? '');
  }

  #write(form: ReasoningBlock['form'], text: string, open: ReasoningPart | undefined): [string, ReasoningPart] {
    let frames = '';
    let part = open;
    if (part === undefined) {
      frames += this.#ensureBegun();
      for (const before of this.#parts) frames += this.#close(before);
      part = this.#createPart(form);
      const { kind, index } = part;
      frames +=
        kind === 'summary'
          ? this.#event('reasoning_summary_part.added', {
              summary_index: index,
              part: { type: 'summary_text', text: '' },
            })
          : this.#event('content_part.added', { content_index: index, part: { type: 'reasoning_text', text: '' } });
    }
    part.text += text;
    return [frames + part.deltas(text), part];
  }

  #createPart(form: ReasoningBlock['form']): ReasoningPart {
    const { isNative, wantsSummary } = this.#options;
    const isSummary = form === 'summary' || (!isNative && (wantsSummary || SUMMARIZING.has(this.family ?? '')));
    const own = isSummary ? 'summary' : 'content';
    const kind = isNative ? own : (this.#kind ??= own);
    const index = this.#parts.filter((part) => part.kind === kind).length;
    const at = { item_id: this.#item?.id, output_index: this.#item?.index };
    const { frames } = this.#output;
    const deltas =
      kind === 'summary'
        ? frames.deltas('reasoning_summary_text.delta', { ...at, summary_index: index }, '')
        : frames.deltas('reasoning_text.delta', { ...at, content_index: index }, '');
    const part: ReasoningPart = { kind, index, deltas, text: '', isOpen: true };
    this.#parts.push(part);
    return part;
  }

  #close(part: ReasoningPart): string {
    if (!part.isOpen) return '';
    part.isOpen = false;
    const { kind, index, text } = part;
    return kind === 'summary'
      ? this.#event('reasoning_summary_text.done', { summary_index: index, text }) +
          this.#event('reasoning_summary_part.done', { summary_index: index, part: { type: 'summary_text', text } })
      : this.#event('reasoning_text.done', { content_index: index, text }) +
          this.#event('content_part.done', { content_index: index, part: { type: 'reasoning_text', text } });
  }

  #event(type: string, members: JsonObject): string {
    return this.#item?.event(type, members) ?? '';
  }

  #ensureBegun(): string {
    if (this.#item !== undefined) return '';
    this.#item = this.#output.add(this.#itemId(), (status, id) => this.#format(status, id));
    return this.#item.begin();
  }

  #itemId(): string {
    const { isNative } = this.#options;
    this.#ownId ??= this.#output.idFor('reasoning', isNative ? this.id : undefined, isNative);
    return this.#ownId;
  }

  #format(status: ItemStatus, id: string): JsonObject {
    const content = this.#parts.filter(({ kind }) => kind === 'content');
    const isEmpty = status === 'in_progress';
    return {
      id,
      type: 'reasoning',
      format: this.family ?? 'unknown',
      summary: this.#parts.filter(({ kind }) => kind === 'summary').map(({ text }) => ({ type: 'summary_text', text })),
      ...(content.length > 0 && { content: content.map(({ text }) => ({ type: 'reasoning_text', text })) }),
      ...(!isEmpty && this.#sealed),
      status,
    };
  }

  /** As the vendor encrypted it; of a server that does not, the text itself is sealed, because clients drop it. */
  #nativeData(): JsonObject {
    const encrypted = this.#blocks.find(({ form }) => form === 'encrypted');
    return encrypted === undefined ? this.#container('unknown') : { encrypted_content: encrypted.text };
  }

  #container(family = this.family ?? 'unknown'): JsonObject {
    const blocks = this.#blocks.filter(({ text, signature }) => text !== '' || signature !== undefined);
    if (blocks.length === 0) return {};
    const sealed = this.#options.seal({ item: this.#itemId(), family, blocks });
    const signatures = blocks.flatMap(({ signature }) => signature ?? []);
    const isClaude = this.family === 'anthropic-claude-v1' && signatures.length === 1;
    return {
      ...(sealed !== undefined && { encrypted_content: sealed }),
      ...(isClaude && { signature: signatures[0] }),
    };
  }
}

/** One block of a run. */
export class ReasoningTarget implements BlockTarget {
  readonly #sealed: SealedBlock;
  readonly #write: (text: string, part: ReasoningPart | undefined) => [string, ReasoningPart];
  readonly #close: (part: ReasoningPart) => string;
  #part: ReasoningPart | undefined;

  constructor(
    sealed: SealedBlock,
    write: (text: string, part: ReasoningPart | undefined) => [string, ReasoningPart],
    close: (part: ReasoningPart) => string,
  ) {
    this.#sealed = sealed;
    this.#write = write;
    this.#close = close;
  }

  add({ text, signature }: BlockAddition): string {
    const sealed = this.#sealed;
    if (signature !== undefined) sealed.signature = (sealed.signature ?? '') + signature;
    return text === undefined ? '' : this.write(text);
  }

  write(text: string): string {
    if (text === '') return '';
    const sealed = this.#sealed;
    sealed.text += text;
    if (sealed.form === 'encrypted') return '';
    const [frames, part] = this.#write(text, this.#part);
    this.#part = part;
    return frames;
  }

  /** A late signature adds nothing to the part. */
  end(): string {
    return this.#part === undefined ? '' : this.#close(this.#part);
  }
}
