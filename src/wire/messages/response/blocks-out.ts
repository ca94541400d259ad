import type { Block, Citation } from '../../../canonical/blocks.ts';
import type { BlockDeltaEvent, CitationEvent, DeltaFrame, GenerationEvent } from '../../../canonical/events.ts';
import { unreachable } from '../../../lib/assert.ts';
import { addExtra } from '../extra.ts';
import type { WireObject } from '../../json-fields.ts';
import { encodeCitation } from '../citations.ts';
import { seal } from '../reasoning-seal.ts';
import { encodingOf, type Encoding } from './block-encoding.ts';
import { WHOLE_SOURCES_MAX, takesSources } from './citation-positions.ts';
import { encodeCall, encodeReasoning } from './content-out.ts';
import { extend, openExtent, type JsonExtent } from './json-extent.ts';

const DELTA_HEAD = 'event: content_block_delta\ndata: ';

/** A block that has not ended on the wire. */
interface OpenBlock {
  readonly index: number;
  readonly block: Block;
  readonly encoding: Encoding;
  /** -1: nothing of it has been written. */
  wireIndex: number;
  /** What came of redacted data, which is written whole. */
  data: string;
  /** Of a call's input, where the upstream may not report its end. */
  readonly input: JsonExtent;
  signature: string | undefined;
  /** Sources of the whole response, which stand behind its own. */
  readonly further: Citation[];
  /** What came while an earlier block was still open, and whether its end was among it. */
  readonly waiting: GenerationEvent[];
  ended: boolean;
}

/**
 * Encodes the blocks of one stream. Blocks never overlap, whatever the upstream interleaves: a later one waits until the
 * one before it has ended, or is a tool call whose input is complete. @spec stream-2, stream-23, stream-24
 */
export class BlockWriter {
  readonly #beginMessage: () => string;
  /** The upstream spoke this format: what came as a frame goes out as that frame. */
  native = false;
  calledTools = false;
  refusal = '';
  #nextWireIndex = 0;
  /** In the order of the response; the first is the one on the wire. */
  readonly #open: OpenBlock[] = [];
  /** A text that is over, but has not stopped on the wire: its sources may still come. */
  #lingering: OpenBlock | undefined;
  /** Encrypted reasoning behind a text, complete: it is written when another block follows. `waitsBehindText` says why. */
  #behindText: OpenBlock[] = [];
  /** The last block that the format can express, on the wire or still to come there. */
  #latest: OpenBlock | undefined;
  /** Sources of the whole response that no text can take any more. */
  readonly #late: Citation[] = [];
  #wholeSources = 0;
  #saidText = false;
  /** What the latest frame began with, and what it became. */
  #head = '';
  #headTo = DELTA_HEAD;

  /** @param beginMessage the frames before the first block; empty when they have been written */
  constructor(beginMessage: () => string) {
    this.#beginMessage = beginMessage;
  }

  /** The hot path: more of the block on the wire, as the upstream wrote it. `undefined` for anything else. */
  relay(event: GenerationEvent): string | undefined {
    const head = this.#open[0];
    return event.type === 'block-delta' &&
      event.frame !== undefined &&
      head !== undefined &&
      head.index === event.index &&
      head.wireIndex === event.index &&
      event.signature === undefined &&
      this.native
      ? this.#repeat(event.frame)
      : undefined;
  }

  /** The head repeats, so that most events cost a comparison. */
  #repeat({ head, json, tail }: DeltaFrame): string {
    if (json === '') return `${DELTA_HEAD}${head}\n\n`;
    if (head !== this.#head) {
      this.#head = head;
      this.#headTo = DELTA_HEAD + head;
    }
    return `${this.#headTo}${json}${tail}\n\n`;
  }

  /** Ends every block, with the sources that came last. */
  finish(): string {
    return this.#finishAll() + this.#citeLate() + this.#stopLingering();
  }

  enter(index: number, block: Block): string {
    if (block.type === 'tool-call' && block.runBy === 'caller') this.calledTools = true;
    const open: OpenBlock = {
      index,
      block,
      encoding: encodingOf(block, this.native),
      wireIndex: -1,
      data: '',
      input: openExtent(),
      signature: undefined,
      further: [],
      waiting: [],
      ended: false,
    };
    // Sources pass by what may wait behind their text.
    const waits = !this.native && open.encoding === 'redacted' && this.#latest?.encoding === 'text';
    if (open.encoding !== 'silent' && !waits) this.#latest = open;
    this.#open.push(open);
    return this.#open.length === 1 ? this.#begin(open) : this.#advance();
  }

  /** Gives an event to its block, now or when its turn comes. Blocks that have ended on the wire take nothing more. */
  pass(event: GenerationEvent, index: number): string {
    const head = this.#open[0];
    if (head?.index === index) return event.type === 'block-end' ? this.#finishHead() : this.#apply(head, event);
    const open = this.#open.find((candidate) => candidate.index === index);
    if (open === undefined) return '';
    if (event.type === 'block-end') open.ended = true;
    else open.waiting.push(event);
    return this.#advance();
  }

  #advance(): string {
    return this.#headIsOver() ? this.#finishHead() : '';
  }

  /** A tool call whose input is complete is over as soon as another block has content. */
  #headIsOver(): boolean {
    const head = this.#open[0];
    if (head === undefined || head.ended) return head !== undefined;
    return this.#open.length > 1 && head.input.complete;
  }

  #finishAll(): string {
    let frames = '';
    while (this.#open.length > 0) frames += this.#finishHead();
    return frames;
  }

  /** Ends the block on the wire, and lets those behind it catch up. */
  #finishHead(): string {
    let frames = '';
    do {
      const head = this.#open.shift();
      if (head !== undefined) frames += this.#stop(head);
      const next = this.#open[0];
      if (next === undefined) break;
      frames += this.#begin(next);
      for (const event of next.waiting.splice(0)) frames += this.#apply(next, event);
    } while (this.#headIsOver());
    return frames;
  }

  /** A block of this format opens at once; others with their first content, so that none stays empty. */
  #begin(open: OpenBlock): string {
    const { block, encoding } = open;
    let frames = this.native || encoding === 'call' || encoding === 'opaque' ? this.#ensureOpen(open) : '';
    if (block.type === 'text' || block.type === 'refusal') {
      frames += this.#applyText(open, block.text);
      for (const citation of block.type === 'text' ? (block.citations ?? []) : []) frames += this.#cite(open, citation);
    } else if (block.type === 'reasoning') {
      open.signature = block.signature;
      frames += this.#applyText(open, block.text);
    } else if (block.type === 'tool-call') {
      frames += this.#applyText(open, block.input);
    }
    return frames;
  }

  #apply(open: OpenBlock, event: GenerationEvent): string {
    if (event.type === 'citation') return this.#cite(open, event.citation);
    return event.type === 'block-delta' ? this.#applyDelta(open, event) : '';
  }

  #applyDelta(open: OpenBlock, { text, signature, value }: BlockDeltaEvent): string {
    if (signature !== undefined) open.signature = (open.signature ?? '') + signature;
    if (value !== undefined && (this.native || open.encoding === 'opaque')) {
      const frames = this.#ensureOpen(open);
      return open.wireIndex < 0 ? '' : frames + encodeDelta(open.wireIndex, JSON.stringify(value));
    }
    return text === undefined ? '' : this.#applyText(open, text);
  }

  #applyText(open: OpenBlock, text: string): string {
    if (text === '') return '';
    switch (open.encoding) {
      case 'text':
        if (open.block.type === 'refusal') this.refusal += text;
        return this.#ensureOpen(open) + encodeTextDelta(open.wireIndex, 'text_delta', 'text', text);
      case 'thinking':
        return this.#ensureOpen(open) + encodeTextDelta(open.wireIndex, 'thinking_delta', 'thinking', text);
      case 'call':
        // Upstreams of this format end each call themselves.
        if (!this.native) extend(open.input, text);
        return this.#ensureOpen(open) + encodeTextDelta(open.wireIndex, 'input_json_delta', 'partial_json', text);
      case 'redacted':
        open.data += text;
        return '';
      case 'opaque':
      case 'silent':
        return '';
      default:
        return unreachable(open.encoding);
    }
  }

  #cite(open: OpenBlock, citation: Citation): string {
    const encoded = open.encoding === 'text' ? encodeCitation(citation) : undefined;
    if (encoded === undefined) return '';
    const frames = this.#ensureOpen(open);
    return frames + encodeDelta(open.wireIndex, `{"type":"citations_delta","citation":${JSON.stringify(encoded)}}`);
  }

  /** A source of the whole response, as those of a search are, which mostly come when its text is over. */
  citeWhole({ citation }: CitationEvent): string {
    if (encodeCitation(citation) === undefined || this.#wholeSources >= WHOLE_SOURCES_MAX) return '';
    this.#wholeSources++;
    const latest = this.#latest;
    if (latest === undefined || !takesSources(latest.block)) this.#late.push(citation);
    else if (this.#open.includes(latest)) latest.further.push(citation);
    else return this.#citeLingering(latest, citation);
    return '';
  }

  /** Cites on a text that is over; an empty one opens for its source. */
  #citeLingering(open: OpenBlock, citation: Citation): string {
    const frames = this.#cite(open, citation);
    if (open.wireIndex >= 0) this.#lingering = open;
    return frames;
  }

  /** On the text that is last. Blocks cannot be opened again, so behind anything else it gets an empty text block. */
  #citeLate(): string {
    if (!this.#saidText || this.#late.length === 0) return '';
    const last = this.#lingering;
    if (last !== undefined) return this.#late.map((citation) => this.#cite(last, citation)).join('');
    const index = Number.MAX_SAFE_INTEGER;
    let frames = this.enter(index, { type: 'text', text: '' });
    for (const citation of this.#late) frames += this.pass({ type: 'citation', index, citation }, index);
    return frames + this.#finishAll();
  }

  #stopLingering(): string {
    const open = this.#lingering;
    this.#lingering = undefined;
    return open === undefined ? '' : encodeStop(open.wireIndex);
  }

  #ensureOpen(open: OpenBlock): string {
    if (open.wireIndex >= 0) return '';
    const content = encodeOpening(open);
    if (content === undefined) return '';
    const waiting = this.#writeBehindText();
    open.wireIndex = this.#nextWireIndex++;
    if (open.encoding === 'text') this.#saidText = true;
    return (
      waiting +
      this.#beginMessage() +
      this.#stopLingering() +
      `event: content_block_start\ndata: {"type":"content_block_start","index":${open.wireIndex},"content_block":${JSON.stringify(content)}}\n\n`
    );
  }

  /**
   * Clients take the result of a response from its last block, so what only another vendor's model can read must not be
   * the last one behind a text. Where nothing follows it, it is not written: such a vendor sends the signature of a text
   * when the text has begun already, and the gateway hands it back from memory (`pipeline/replay/text-signatures.ts`).
   */
  #waitsBehindText({ encoding }: OpenBlock): boolean {
    return encoding === 'redacted' && this.#lingering !== undefined;
  }

  /** What waited behind a text, because another block follows now. */
  #writeBehindText(): string {
    const waiting = this.#behindText;
    if (waiting.length === 0) return '';
    this.#behindText = [];
    // The first of them ends the text.
    return waiting.map((open) => this.#ensureOpen(open) + encodeStop(open.wireIndex)).join('');
  }

  #stop(open: OpenBlock): string {
    if (this.#waitsBehindText(open)) {
      if (open.data !== '') this.#behindText.push(open);
      return '';
    }
    // Redacted data comes whole, and a signature alone is a block too: its display was omitted (@spec reasoning-18).
    const late = open.encoding === 'redacted' || (open.encoding === 'thinking' && open.signature !== undefined);
    let frames = late ? this.#ensureOpen(open) : '';
    for (const citation of open.further) frames += this.#cite(open, citation);
    if (open.wireIndex < 0) return frames;
    if (open.encoding === 'thinking') frames += this.#sign(open);
    if (open.encoding === 'text' && !this.native) {
      this.#lingering = open;
      return frames;
    }
    return frames + encodeStop(open.wireIndex);
  }

  /** Exactly one, and last; a model that signs nothing gets the empty signature that the format demands. */
  #sign({ block, signature, wireIndex }: OpenBlock): string {
    const sealed = block.type === 'reasoning' ? seal(block, signature ?? '') : '';
    if (signature === undefined && sealed === '' && this.native) return '';
    return encodeTextDelta(wireIndex, 'signature_delta', 'signature', sealed);
  }
}

/** The block as it opens: empty where deltas follow, whole where the format has none. */
function encodeOpening({ block, encoding, data }: OpenBlock): WireObject | undefined {
  switch (block.type) {
    case 'text':
      return addExtra({ type: 'text', text: '', citations: block.citations === undefined ? null : [] }, block.extra);
    case 'refusal':
      return encoding === 'silent' ? undefined : { type: 'text', text: '', citations: null };
    case 'reasoning':
      if (encoding === 'redacted') return data === '' ? undefined : encodeReasoning({ ...block, text: data });
      return addExtra({ type: 'thinking', thinking: '', signature: '' }, block.extra);
    case 'tool-call':
      return encodeCall(block, {});
    case 'opaque':
      return encoding === 'silent' ? undefined : { ...block.value };
    case 'media':
    case 'tool-result':
      return undefined;
    default:
      return unreachable(block);
  }
}

function encodeDelta(wireIndex: number, delta: string): string {
  return `${DELTA_HEAD}{"type":"content_block_delta","index":${wireIndex},"delta":${delta}}\n\n`;
}

function encodeTextDelta(wireIndex: number, type: string, member: string, text: string): string {
  return `${DELTA_HEAD}{"type":"content_block_delta","index":${wireIndex},"delta":{"type":"${type}","${member}":${JSON.stringify(text)}}}\n\n`;
}

function encodeStop(wireIndex: number): string {
  return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${wireIndex}}\n\n`;
}
