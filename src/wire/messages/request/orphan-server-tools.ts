import type { Block } from '../../../canonical/blocks.ts';
import type { Turn } from '../../../canonical/request.ts';

/** The vendor refuses any other: "String should match pattern" (Wei-Shaw/sub2api#1308, 2026-03). */
const VENDOR_ID = /^srvtoolu_[a-zA-Z0-9_]+$/;

/**
 * Ids of calls of provider-native tools that this provider would refuse. A call that a model of another format ran is shown
 * to callers without its result, which only that format can express, and keeps that vendor's id. A call that is still
 * running is none of them: it has no result when a response pauses, or waits for the caller's own tools, and the
 * conversation is to go on from there. @spec translate-4, messages-30
 */
export function findOrphanServerCalls(turns: readonly Turn[], vendor: boolean): ReadonlySet<string> {
  const answered = new Set<string>();
  const orphans = new Set<string>();
  let goesOn = true;
  for (const { role, blocks } of turns.toReversed()) {
    for (const block of blocks.toReversed()) {
      const result = callIdOfResult(block);
      if (result !== undefined) answered.add(result);
      if (block.type !== 'tool-call' || block.runBy !== 'upstream') continue;
      const isVendors = VENDOR_ID.test(block.id);
      const isKnown = answered.has(block.id) ? isVendors || !vendor : isVendors && goesOn;
      if (!isKnown) orphans.add(block.id);
    }
    goesOn &&= role !== 'assistant' && blocks.every(({ type }) => type === 'tool-result');
  }
  return orphans;
}

/** The call that a block is the result of, whichever kind of result it is. */
export function callIdOfResult(block: Block): string | undefined {
  if (block.type === 'tool-result') return block.callId;
  const id = block.type === 'opaque' && block.format === 'messages' ? block.value['tool_use_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
