import type { GenerationRequest } from '../../canonical/request.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Warnings } from '../gateway/warnings.ts';

/**
 * Beta features that callers may switch on at the vendor: names without their date, because a new date of a known feature
 * comes with a patch release of a client (pains.md 25). Features of the vendor's accounts are not among them.
 * @source vendor SDK 1.11 (2026-11) `AnthropicBeta`; older names from its change log
 */
const KNOWN_FEATURES: ReadonlySet<string> = new Set([
  'advanced-tool-use',
  'advisor-tool',
  'agent-memory',
  'claude-code',
  'code-execution',
  'compact',
  'computer-use',
  'context-1m',
  'context-management',
  'dev-full-thinking',
  'effort',
  'extended-cache-ttl',
  'fallback-credit',
  'fast-mode',
  'files-api',
  'fine-grained-tool-streaming',
  'inline-tools',
  'interleaved-thinking',
  'mcp-client',
  'mid-conversation-output-config',
  'mid-conversation-system-clear-at',
  'mid-conversation-tool-changes',
  'model-context-window-exceeded',
  'output-128k',
  'output-300k',
  'pdfs',
  'prompt-caching',
  'prompt-caching-scope',
  'redact-thinking',
  'search-results',
  'server-side-fallback',
  'skills',
  'structured-outputs',
  'task-budgets',
  'thinking-binding-controls',
  'thinking-display-updates',
  'thinking-token-count',
  'token-counting',
  'token-efficient-tools',
  'tool-examples',
  'tool-search-tool',
  'web-fetch',
  'web-search',
]);
const DATED = /^([a-z0-9-]+?)-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** `anthropic-beta` for the vendor: the caller's known tokens, and those that the body needs. @source generation.md 7.12 */
export function encodeBetas(request: GenerationRequest, body: JsonObject, warnings: Warnings): string | undefined {
  const tokens = new Set<string>();
  for (const token of request.directives.betas) {
    if (KNOWN_FEATURES.has(featureOf(token))) tokens.add(token);
    else
      warnings.add('field-dropped', 'anthropic-beta', `the token ${JSON.stringify(token.slice(0, 80))} is not known`);
  }
  for (const token of neededTokens(body)) {
    const feature = featureOf(token);
    // The caller may ask for another date of the same feature.
    if (![...tokens].some((given) => featureOf(given) === feature)) tokens.add(token);
  }
  return tokens.size === 0 ? undefined : [...tokens].join(',');
}

function featureOf(token: string): string {
  return DATED.exec(token)?.[1] ?? token;
}

/** @source generation.md 7.1 speed, 7.2 tool_addition, 11.6; the rest: vendor docs, "Beta headers", read 2026-11 */
function neededTokens(body: JsonObject): readonly string[] {
  const { speed, context_management: management, output_config: output, mcp_servers: servers } = body;
  const edits = isJsonObject(management) && Array.isArray(management['edits']) ? management['edits'] : [];
  return [
    ...(speed === 'fast' ? ['fast-mode-2026-02-01'] : []),
    ...(isJsonObject(output) && output['format'] !== undefined ? ['structured-outputs-2025-11-13'] : []),
    ...(isJsonObject(output) && output['task_budget'] !== undefined ? ['task-budgets-2026-03-13'] : []),
    ...(isJsonObject(management) ? ['context-management-2025-06-27'] : []),
    ...(edits.some((edit) => isJsonObject(edit) && edit['type'] === 'compact_20260112') ? ['compact-2026-01-12'] : []),
    ...(Array.isArray(servers) && servers.length > 0 ? ['mcp-client-2025-11-20'] : []),
    ...(changesTools(body) ? ['mid-conversation-tool-changes-2026-07-01'] : []),
  ];
}

function changesTools({ messages }: JsonObject): boolean {
  if (!Array.isArray(messages)) return false;
  return messages.some((message) => {
    const content = isJsonObject(message) && message['role'] === 'system' ? message['content'] : undefined;
    return Array.isArray(content) && content.some((block) => isJsonObject(block) && isToolChange(block['type']));
  });
}

function isToolChange(type: unknown): boolean {
  return type === 'tool_addition' || type === 'tool_removal';
}
