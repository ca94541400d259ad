import { hash } from 'node:crypto';
import type { Block } from '../canonical/blocks.ts';
import type { EventBatch } from '../canonical/events.ts';
import type { Warning } from '../canonical/extra.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';
import type { Clock } from '../lib/clock.ts';
import { ExpiringMap } from '../lib/expiring-map.ts';
import { pathsOfBlocks, pathsOfTurns } from '../wire/caller-paths.ts';

const ORIGINS_MAX = 50_000;
const BYTES_MAX = 32 * 1_024 * 1_024;
const LIFETIME_MS = 24 * 3_600_000;
/** Encrypted texts end in their seal, so that no two of them end alike; a long history need not be hashed whole. */
const TAIL_CHARS = 256;

/**
 * Which provider made a piece of encrypted reasoning. Only the organization whose key it was made under can read it, and
 * one format's reasoning looks like another's: what goes to a second account of the same vendor is refused, with the whole
 * request. Nothing of the data is kept but a hash. @source pains.md 26
 */
export interface OriginMemory {
  /** The provider whose reasoning the request holds, of several the latest; `undefined`: none that is known. */
  homeOf(request: GenerationRequest): string | undefined;
  /** The request without what is known to be another provider's. */
  keepOwn(
    request: GenerationRequest,
    provider: string,
  ): { readonly request: GenerationRequest; readonly warnings: readonly Warning[] };
  /** Keeps what the events of one answer show. @param provider that answers */
  listen(provider: string): (batch: EventBatch) => void;
}

export function createOriginMemory({ clock }: { readonly clock: Clock }): OriginMemory {
  const limits = { entriesMax: ORIGINS_MAX, bytesMax: BYTES_MAX, lifetimeMs: LIFETIME_MS };
  const origins = new ExpiringMap<string>(limits, () => clock.monotonicMs());
  const originOf = (block: Block): string | undefined => (isBound(block) ? origins.get(keyOf(block.text)) : undefined);
  return {
    homeOf({ turns }) {
      if (origins.size === 0) return undefined;
      for (const { blocks } of turns.toReversed()) {
        const home = blocks.findLast((block) => originOf(block) !== undefined);
        if (home !== undefined) return originOf(home);
      }
      return undefined;
    },
    keepOwn(request, provider) {
      return withoutBlocks(
        request,
        (block) => (originOf(block) ?? provider) !== provider,
        'encrypted reasoning can only be read where it was made, at another provider',
      );
    },
    listen(provider) {
      const open = new Map<number, string>();
      return (batch) => {
        for (const event of batch) {
          if (event.type === 'block-start' && isBound(event.block)) open.set(event.index, event.block.text);
          if (open.size === 0) continue;
          if (event.type === 'block-delta') {
            const before = open.get(event.index);
            if (before !== undefined) open.set(event.index, before + (event.text ?? ''));
          } else if (event.type === 'block-end') {
            const data = open.get(event.index);
            open.delete(event.index);
            if (data !== undefined && data !== '') origins.set(keyOf(data), provider, provider.length);
          }
        }
      };
    },
  };
}

// OpenAI and Azure have a code for it (openai/codex#8145, 2025-12), xAI only words: "Could not decrypt the provided
// encrypted_content" (Wei-Shaw/sub2api#4535, 2026-07).
const UNREADABLE_CODE = 'invalid_encrypted_content';
const UNREADABLE_WORDS =
  /could not decrypt .*encrypted_content|encrypted content .*could not be (?:verified|decrypted)/i;

/** Whether an upstream refused a request because it cannot read its encrypted reasoning. */
export function isUnreadableReasoning({
  upstreamStatus,
  providerCode,
  upstreamMessage = '',
}: UpstreamFailure): boolean {
  return upstreamStatus === 400 && (providerCode === UNREADABLE_CODE || UNREADABLE_WORDS.test(upstreamMessage));
}

/** The request without its encrypted reasoning, for an upstream that says it cannot read it. */
export function withoutEncryptedReasoning(request: GenerationRequest): ReturnType<OriginMemory['keepOwn']> {
  return withoutBlocks(request, isBound, 'the provider could not read this encrypted reasoning');
}

/** Encrypted by a vendor for the organization that asked: all families of the responses format. */
function isBound(block: Block): block is Extract<Block, { type: 'reasoning' }> {
  return block.type === 'reasoning' && block.form === 'encrypted' && block.family?.endsWith('-responses-v1') === true;
}

function keyOf(data: string): string {
  return hash('sha256', `${data.length} ${data.slice(-TAIL_CHARS)}`, 'base64');
}

function withoutBlocks(
  request: GenerationRequest,
  isLost: (block: Block) => boolean,
  message: string,
): ReturnType<OriginMemory['keepOwn']> {
  const lost = new Set(request.turns.flatMap(({ blocks }) => blocks.filter(isLost)));
  if (lost.size === 0) return { request, warnings: [] };
  const warnings: Warning[] = [];
  const paths = pathsOfTurns(request);
  const turns = request.turns.map((turn, at): Turn => {
    const kept = turn.blocks.filter((block) => !lost.has(block));
    if (kept.length === turn.blocks.length) return turn;
    const blockPaths = pathsOfBlocks(request.format, turn, paths[at] ?? '');
    for (const [index, block] of turn.blocks.entries())
      if (lost.has(block)) warnings.push({ code: 'content-dropped', path: blockPaths[index] ?? '', message });
    return { ...turn, blocks: kept };
  });
  return { request: { ...request, turns }, warnings };
}
