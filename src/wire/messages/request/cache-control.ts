import type { CacheBreakpoint } from '../../../canonical/blocks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import { textOf, type WireObject } from '../../json-fields.ts';
import type { WireMessage } from './wire-message.ts';

/** @spec prompt-cache-2: explicit breakpoints that the vendor takes; a top-level one counts. */
const BREAKPOINTS_MAX = 4;

/** `prompt_cache_breakpoint` has no time to live: it becomes the default one. @spec prompt-cache-3 */
export function encodeCacheControl(mark: CacheBreakpoint | undefined): { readonly cache_control?: JsonObject } {
  if (mark === undefined) return {};
  const ttl = mark.kind === 'ephemeral' ? mark.ttl : undefined;
  return { cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } };
}

/** Parts of a body in the order of the prompt, in which the vendor caches. */
export interface PromptParts {
  readonly tools: readonly WireObject[];
  readonly system: string | readonly WireObject[] | undefined;
  readonly messages: readonly WireMessage[];
}

/**
 * Removes all breakpoints but the last `max` of a prompt: those reach furthest.
 * @param sourcePaths where the caller put them
 */
export function limitCacheBreakpoints(
  parts: PromptParts,
  topLevel: boolean,
  sourcePaths: ReadonlyMap<WireObject, string>,
  warnings: Warnings,
): void {
  const marked: WireObject[] = [];
  const collect = (content: Json | undefined): void => {
    if (!Array.isArray(content)) return;
    for (const holder of content) {
      if (!isJsonObject(holder)) continue;
      // Marks inside come before the mark on the whole. Other kinds are the caller's own objects, not to be changed.
      if (holder['type'] === 'tool_result') collect(holder['content']);
      else if (holder['type'] === 'document' && isJsonObject(holder['source'])) collect(holder['source']['content']);
      if (isJsonObject(holder['cache_control'])) marked.push(holder);
    }
  };
  collect(parts.tools);
  collect(parts.system);
  for (const message of parts.messages) collect(message.content);
  const excess = marked.length - (topLevel ? BREAKPOINTS_MAX - 1 : BREAKPOINTS_MAX);
  for (const holder of marked.slice(0, Math.max(0, excess))) {
    delete holder['cache_control'];
    const path = sourcePaths.get(holder);
    warnings.add(
      'field-dropped',
      path === undefined ? 'cache_control' : `${path}.cache_control`,
      `only the last ${BREAKPOINTS_MAX} cache breakpoints are sent`,
    );
  }
}

/**
 * Puts a breakpoint on the last block that may carry one, for wires without a top-level directive. All bare texts become
 * blocks, so that a message is the same bytes when it is the last one and when the conversation has gone on behind it.
 */
export function markLastBlock(messages: readonly WireMessage[], mark: JsonObject): void {
  let marked = false;
  for (const message of messages.toReversed()) {
    const content: WireObject[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : [...message.content];
    message.content = content;
    const last = marked ? undefined : content.findLast((block) => !UNMARKABLE.has(textOf(block['type']) ?? ''));
    if (last === undefined) continue;
    last['cache_control'] ??= mark;
    marked = true;
  }
}

/** Vendor docs, "Prompt caching", "What cannot be cached" (read 2026-11): thinking is cached only with what follows it. */
const UNMARKABLE: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);
