import { hash } from 'node:crypto';
import type { Block } from '../../canonical/blocks.ts';
import type { EventBatch } from '../../canonical/events.ts';
import type { Warning } from '../../canonical/extra.ts';
import { invalid, type GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import type { Clock } from '../../lib/clock.ts';
import { ExpiringCache } from '../../lib/cache/expiring-cache.ts';
import type { JsonObject } from '../../lib/json.ts';
import { fieldsOf } from '../../wire/extra.ts';
import { compactionTextOf, providerItemMark } from '../../wire/responses/provider-items.ts';
import { pathsOfBlocks, pathsOfTurns } from '../../wire/gateway/source/source-paths.ts';

const ORIGINS_MAX = 50_000;
export const BYTES_MAX = 32 * 1_024 * 1_024;
const LIFETIME_MS = 24 * 3_600_000;
/** Encrypted texts end in their seal, so that no two of them end alike; a long history need not be hashed whole. */
const TAIL_CHARS = 256;

/**
 * Which provider made a piece of encrypted reasoning, or ran a tool that an item stands for. Only the organization whose key it was made under can read it, and
 * one format's reasoning looks like another's: what goes to a second account of the same vendor is refused, with the whole
 * request. Nothing of the data is kept but a hash. @spec route-29
 */
export interface OriginMemory {
  /** The provider whose reasoning the request holds, of several the latest; `undefined`: none that is known. */
  pinnedProviderOf(request: GenerationRequest, scope: string): string | undefined;
  /** The request without what is known to be another provider's. */
  keepOwn(request: GenerationRequest, requested: OriginInput): KeptOwn;
  /** The provider that made a text, as far as it is remembered. */
  originOf(scope: string, encrypted: string): string | undefined;
  learn(scope: string, encrypted: string, provider: string): void;
  /** Keeps what the events of one answer show. */
  listen(requested: OriginInput): (batch: EventBatch) => void;
}

export interface KeptOwn {
  readonly request: GenerationRequest;
  readonly warnings: readonly Warning[];
  /** Why the provider cannot be sent the request at all: a history that another one shortened cannot be left out. */
  readonly refusal?: GatewayError;
}

interface OriginInput {
  /** The endpoint that is called, or responds. */
  readonly provider: string;
  /** Of the caller's account and workspace. */
  readonly scope: string;
}

export interface OriginMemoryDeps {
  readonly clock: Clock;
  /** Of the bytes that it may take at most, from 0 to 1. Absent: all of them. */
  readonly part?: number | undefined;
}

export function createOriginMemory({ clock, part = 1 }: OriginMemoryDeps): OriginMemory {
  const limits = { entriesMax: ORIGINS_MAX, bytesMax: Math.floor(BYTES_MAX * part), lifetimeMs: LIFETIME_MS };
  const origins = new ExpiringCache<string>(limits, () => clock.monotonicMs());
  const originOf = (block: Block, scope: string): string | undefined => {
    const text = isBound(block) ? block.text : (compactionOf(block) ?? markOf(block));
    return text === undefined ? undefined : origins.get(keyOf(scope, text));
  };
  const remember = (scope: string, text: string, provider: string): void =>
    origins.set(keyOf(scope, text), provider, provider.length);
  return {
    originOf: (scope, encrypted) => origins.get(keyOf(scope, encrypted)),
    learn: remember,
    pinnedProviderOf({ turns }, scope) {
      if (origins.size === 0) return undefined;
      for (const { blocks } of turns.toReversed()) {
        const pinned = blocks.findLast((block) => originOf(block, scope) !== undefined);
        if (pinned !== undefined) return originOf(pinned, scope);
      }
      return undefined;
    },
    keepOwn(request, { provider, scope }) {
      const isForeign = (block: Block): boolean => (originOf(block, scope) ?? provider) !== provider;
      const readable = withoutBlocks(
        request,
        (block) => isBound(block) && isForeign(block),
        'encrypted reasoning can only be read where it was made, at another provider',
      );
      const kept = withoutBlocks(
        readable.request,
        belongsTo(request, (block) => markOf(block) !== undefined && isForeign(block)),
        'an item of a tool of another provider, which alone knows it',
      );
      const warnings = [...readable.warnings, ...kept.warnings];
      const refusal = refusalOf(request, (block) => compactionOf(block) !== undefined && isForeign(block));
      return { request: kept.request, warnings, ...(refusal !== undefined && { refusal }) };
    },
    listen({ provider, scope }) {
      const open = new Map<number, string>();
      return (batch) => {
        for (const event of batch) {
          if (event.type === 'block-start') {
            const mark = compactionOf(event.block) ?? markOf(event.block);
            if (mark !== undefined) remember(scope, mark, provider);
            else if (isBound(event.block)) open.set(event.index, event.block.text);
          }
          if (open.size === 0) continue;
          if (event.type === 'block-delta') {
            const before = open.get(event.index);
            if (before !== undefined) open.set(event.index, before + (event.text ?? ''));
          } else if (event.type === 'block-end') {
            const data = open.get(event.index);
            open.delete(event.index);
            if (data !== undefined && data !== '') remember(scope, data, provider);
          }
        }
      };
    },
  };
}

/** Encrypted by a vendor for the organization of the caller: all families of the responses format. */
export function isBound(block: Block): block is Extract<Block, { type: 'reasoning' }> {
  if (block.type !== 'reasoning' || block.form !== 'encrypted') return false;
  // Clients of the responses format do not keep the family.
  return block.family === 'unknown' || block.family?.endsWith('-responses-v1') === true;
}

/** The encrypted history that a block stands for. */
function compactionOf(block: Block): string | undefined {
  return block.type === 'opaque' && block.format === 'responses' ? compactionTextOf(block.value) : undefined;
}

/** What tells the item of a tool that a provider ran from all others. */
function markOf(block: Block): string | undefined {
  const item = itemOf(block);
  return item && providerItemMark(item);
}

function itemOf(block: Block): JsonObject | undefined {
  if (block.type === 'opaque') return block.format === 'responses' ? block.value : undefined;
  return block.type === 'tool-call' && block.runBy === 'upstream' ? fieldsOf(block, 'responses') : undefined;
}

/** These blocks, and what answers them: neither stands without the other. */
function belongsTo(
  { turns }: Pick<GenerationRequest, 'turns'>,
  isForeign: (block: Block) => boolean,
): (block: Block) => boolean {
  const foreign = turns.flatMap(({ blocks }) => blocks.filter(isForeign));
  if (foreign.length === 0) return () => false;
  const ids = new Set(foreign.flatMap((block) => partnersOf(itemOf(block) ?? {})));
  return (block) => {
    const item = itemOf(block);
    return item !== undefined && (isForeign(block) || partnersOf(item).some((id) => ids.has(id)));
  };
}

/** A call and its output share `call_id`; an approval names its request by the id. */
function partnersOf({ type, id, call_id: callId, approval_request_id: approval }: JsonObject): readonly string[] {
  const asked = type === 'mcp_approval_request' ? id : approval;
  return [
    ...(typeof callId === 'string' ? [`call ${callId}`] : []),
    ...(typeof asked === 'string' ? [`approval ${asked}`] : []),
  ];
}

/** The fault of the first block that the request cannot do without. */
function refusalOf(request: GenerationRequest, isForeign: (block: Block) => boolean): GatewayError | undefined {
  for (const [at, turn] of request.turns.entries()) {
    const index = turn.blocks.findIndex(isForeign);
    if (index < 0) continue;
    const path = pathsOfBlocks(request.format, turn, pathsOfTurns(request)[at] ?? '')[index] ?? '';
    const message = 'holds a history that another provider shortened, which alone can open it';
    return invalid(`${path}.encrypted_content`, message, 'invalid_prompt');
  }
  return undefined;
}

function keyOf(scope: string, data: string): string {
  return hash('sha256', `${scope} ${data.length} ${data.slice(-TAIL_CHARS)}`, 'base64');
}

/** The request without some of its blocks, each with a warning. */
export function withoutBlocks(request: GenerationRequest, isLost: (block: Block) => boolean, message: string): KeptOwn {
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
