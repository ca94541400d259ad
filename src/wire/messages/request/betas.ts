import type { GenerationRequest } from '../../../canonical/request.ts';
import { isJsonObject } from '../../../lib/json.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { allowedFlag, featureOf, filterFlags, NO_BETA_RULES, type BetaRules } from '../../beta-flags.ts';
import type { Warnings } from '../../gateway/warnings.ts';

export interface BetasContext {
  /** The endpoint has what the flags switch on: those that the body needs are added. */
  readonly vendor: boolean;
  /** Absent: nothing is known, so that only what the body needs is sent. */
  readonly rules: BetaRules | undefined;
}

/** `anthropic-beta`: the caller's flags that the upstream takes, and those that the body needs. @spec request-29 */
export function encodeBetas(
  request: GenerationRequest,
  body: JsonObject,
  { vendor, rules }: BetasContext,
  warnings: Warnings,
): string | undefined {
  const flags = new Set(filterFlags(request.directives.betas, rules ?? NO_BETA_RULES, warnings));
  for (const flag of vendor ? neededFlags(body) : []) {
    const named = rules === undefined ? flag : allowedFlag(flag, rules);
    const feature = featureOf(flag);
    // The caller may ask for another date of the same feature.
    if (named !== undefined && ![...flags].some((given) => featureOf(given) === feature)) flags.add(named);
  }
  return flags.size === 0 ? undefined : [...flags].join(',');
}

/** @spec request-29; the rest: vendor docs, "Beta headers", read 2026-11 */
function neededFlags(body: JsonObject): readonly string[] {
  const { speed, context_management: management, output_config: output, mcp_servers: servers } = body;
  const edits = isJsonObject(management) && Array.isArray(management['edits']) ? management['edits'] : [];
  const { storedFiles, toolChanges } = lookInto(body['messages']);
  return [
    ...(speed === 'fast' ? ['fast-mode-2026-02-01'] : []),
    ...(isJsonObject(output) && output['format'] !== undefined ? ['structured-outputs-2025-11-13'] : []),
    ...(isJsonObject(output) && output['task_budget'] !== undefined ? ['task-budgets-2026-03-13'] : []),
    ...(isJsonObject(management) ? ['context-management-2025-06-27'] : []),
    ...(edits.some((edit) => isJsonObject(edit) && edit['type'] === 'compact_20260112') ? ['compact-2026-01-12'] : []),
    ...(Array.isArray(servers) && servers.length > 0 ? ['mcp-client-2025-11-20'] : []),
    ...(storedFiles ? ['files-api-2025-04-14'] : []),
    ...(toolChanges ? ['mid-conversation-tool-changes-2026-07-01'] : []),
  ];
}

/** What only shows inside the messages. One pass: conversations are long. */
function lookInto(messages: Json | undefined): { readonly storedFiles: boolean; readonly toolChanges: boolean } {
  let storedFiles = false;
  let toolChanges = false;
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message) || !Array.isArray(message['content'])) continue;
    for (const block of message['content']) {
      if (!isJsonObject(block)) continue;
      storedFiles ||= isStoredFile(block) || holdsStoredFile(block['content']);
      toolChanges ||= message['role'] === 'system' && isToolChange(block['type']);
    }
  }
  return { storedFiles, toolChanges };
}

function holdsStoredFile(content: Json | undefined): boolean {
  return Array.isArray(content) && content.some((block) => isJsonObject(block) && isStoredFile(block));
}

function isStoredFile({ source }: JsonObject): boolean {
  return isJsonObject(source) && source['type'] === 'file';
}

function isToolChange(type: Json | undefined): boolean {
  return type === 'tool_addition' || type === 'tool_removal';
}
