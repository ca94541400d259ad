import { hash } from 'node:crypto';
import type { Block, ReasoningBlock } from '../../canonical/blocks.ts';
import type { EventBatch } from '../../canonical/events.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { ExpiringCache } from '../../lib/cache/expiring-cache.ts';
import type { PassedValues } from './shared-values.ts';

const TEXT_SIGNATURES_MAX = 10_000;
export const TEXT_SIGNATURE_BYTES_MAX = 16 * 1_024 * 1_024;
const TEXT_SIGNATURE_LIFETIME_MS = 6 * 3_600_000;
/** For other processes, as with the signatures of calls. */
const SHARED_LIFETIME_MS = 3_600_000;
/** Signatures of a longer text are not kept. UTF-16 units. */
const SIGNED_TEXT_CHARS_MAX = 1_048_576;
/** The latest texts of a conversation, which are looked up at other processes. */
const SHARED_LOOKUPS_MAX = 8;

/**
 * Signatures that a model gave its text when the text had been streamed already. Callers of the messages format do not get
 * them, because their text must stay the last block, and many callers of the chat format do not send them back. They are
 * found again by account, first message of the conversation and the text itself.
 */
export interface TextSignatureMemory {
  /** Learns from other processes what is not known here; `undefined`: nothing has to be looked up. */
  lookUp(request: GenerationRequest, accountId: string): Promise<void> | undefined;
  /** The request with the signatures that its caller does not have; the same where none is known. */
  restore(request: GenerationRequest, accountId: string): GenerationRequest;
  /** Keeps what the events of the answer to this request show. */
  listen(request: GenerationRequest, accountId: string): (batch: EventBatch) => void;
}

export interface TextSignatureMemoryDeps {
  readonly clock: Clock;
  /** Absent: there are no other processes. */
  readonly values?: PassedValues | undefined;
  /** Of the bytes that it may take at most, from 0 to 1. Absent: all of them. */
  readonly part?: number | undefined;
}

type Signature = Pick<ReasoningBlock, 'text' | 'family' | 'carrier'>;

export function createTextSignatureMemory({ clock, values, part = 1 }: TextSignatureMemoryDeps): TextSignatureMemory {
  const signatures = new ExpiringCache<Signature>(
    {
      entriesMax: TEXT_SIGNATURES_MAX,
      bytesMax: Math.floor(TEXT_SIGNATURE_BYTES_MAX * part),
      lifetimeMs: TEXT_SIGNATURE_LIFETIME_MS,
    },
    () => clock.monotonicMs(),
  );
  const keep = (key: string, signature: Signature): void => signatures.set(key, signature, signature.text.length);
  return {
    lookUp(request, accountId) {
      if (values === undefined) return undefined;
      const keys = unsignedTexts(request, accountId).map(({ key }) => key);
      const unknown = keys.slice(-SHARED_LOOKUPS_MAX).filter((key) => signatures.get(key) === undefined);
      return unknown.length === 0 ? undefined : lookUpAll(values, unknown, keep);
    },
    restore(request, accountId) {
      if (signatures.size === 0) return request;
      const found = new Map<Block, Signature>();
      for (const { key, block } of unsignedTexts(request, accountId)) {
        const signature = signatures.get(key);
        if (signature !== undefined) found.set(block, signature);
      }
      return found.size === 0 ? request : signTexts(request, found);
    },
    listen(request, accountId) {
      const follower = new ResponseFollower((text, signature) => {
        const key = keyOf(request, accountId, text, countOccurrences(request, text));
        keep(key, signature);
        values?.set(key, JSON.stringify(signature), SHARED_LIFETIME_MS);
      });
      return (batch) => follower.push(batch);
    },
  };
}

/** Finds encrypted reasoning of no call right behind a text. A class because it follows its answer. */
class ResponseFollower {
  readonly #onSigned: (text: string, signature: Signature) => void;
  #textIndex = -1;
  #text = '';
  #signature: { readonly index: number; data: string; readonly block: ReasoningBlock } | undefined;

  constructor(onSigned: (text: string, signature: Signature) => void) {
    this.#onSigned = onSigned;
  }

  push(batch: EventBatch): void {
    for (const event of batch) {
      if (event.type === 'block-delta') {
        if (event.index === this.#textIndex) this.#add(event.text ?? '');
        else if (event.index === this.#signature?.index) this.#signature.data += event.text ?? '';
      } else if (event.type === 'block-start') this.#start(event.index, event.block);
      else if (event.type === 'block-end' && event.index === this.#signature?.index) this.#end();
    }
  }

  #add(piece: string): void {
    if (this.#text.length <= SIGNED_TEXT_CHARS_MAX) this.#text += piece;
  }

  #start(index: number, block: Block): void {
    if (block.type === 'text') {
      this.#textIndex = index;
      this.#text = block.text;
    } else if (isTextSignature(block)) {
      if (this.#text !== '') this.#signature = { index, data: block.text, block };
    } else this.#text = '';
  }

  #end(): void {
    const signature = this.#signature;
    this.#signature = undefined;
    if (signature === undefined || signature.data === '' || this.#text.length > SIGNED_TEXT_CHARS_MAX) return;
    const { family, carrier } = signature.block;
    this.#onSigned(this.#text, {
      text: signature.data,
      ...(family !== undefined && { family }),
      ...(carrier !== undefined && { carrier }),
    });
  }
}

/** One with the id of a call belongs to that call. */
function isTextSignature(block: Block): block is ReasoningBlock {
  return block.type === 'reasoning' && block.form === 'encrypted' && block.id === undefined;
}

interface UnsignedText {
  readonly block: Block;
  readonly key: string;
}

/** The last text of each assistant turn that holds no such signature. */
function unsignedTexts(request: GenerationRequest, accountId: string): readonly UnsignedText[] {
  const times = new Map<string, number>();
  return request.turns.flatMap(({ role, blocks }) => {
    if (role !== 'assistant') return [];
    const block = blocks.findLast(({ type }) => type === 'text');
    if (block?.type !== 'text') return [];
    const text = block.text.trim();
    const occurrence = times.get(text) ?? 0;
    times.set(text, occurrence + 1);
    if (text === '' || blocks.some(isTextSignature)) return [];
    return [{ block, key: keyOf(request, accountId, text, occurrence) }];
  });
}

function countOccurrences({ turns }: GenerationRequest, text: string): number {
  const wanted = text.trim();
  return turns.filter(({ role, blocks }) => {
    const last = role === 'assistant' ? blocks.findLast(({ type }) => type === 'text') : undefined;
    return last?.type === 'text' && last.text.trim() === wanted;
  }).length;
}

/** Short texts are alike in many conversations, so the first message of the conversation is part of the key. */
function keyOf({ turns }: GenerationRequest, accountId: string, text: string, occurrence: number): string {
  const first = turns.find(({ role }) => role === 'user')?.blocks ?? [];
  const opening = first.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return `text-signature:${hash('sha256', JSON.stringify([accountId, opening, text.trim(), occurrence]), 'base64')}`;
}

/** Right before its text, where encoders expect a signature. */
function signTexts(request: GenerationRequest, found: ReadonlyMap<Block, Signature>): GenerationRequest {
  const turns = request.turns.map((turn): Turn => {
    if (!turn.blocks.some((block) => found.has(block))) return turn;
    const blocks = turn.blocks.flatMap((block): Block[] => {
      const signature = found.get(block);
      return signature === undefined ? [block] : [{ type: 'reasoning', form: 'encrypted', ...signature }, block];
    });
    return { ...turn, blocks };
  });
  return { ...request, turns };
}

async function lookUpAll(
  values: PassedValues,
  keys: readonly string[],
  keep: (key: string, signature: Signature) => void,
): Promise<void> {
  await Promise.all(
    keys.map(async (key) => {
      const stored = await values.get(key);
      if (stored !== undefined) keep(key, JSON.parse(stored) satisfies Signature);
    }),
  );
}
