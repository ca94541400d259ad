import type { BetaRules } from '../wire/beta-flags.ts';

/** What the operator changes in the table below for one provider. */
export interface BetaChanges {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
}

/** The rules in effect, which may change while the gateway runs. */
export interface BetaTable {
  rulesFor(provider: { readonly slug: string; readonly adapter: string }): BetaRules;
  /** @param changes by the provider's slug; they replace all earlier ones */
  replace(changes: Readonly<Record<string, BetaChanges>>): void;
}

interface Row {
  readonly allow: readonly string[];
  readonly rename?: Readonly<Record<string, string>>;
}

/**
 * Features by name and not by date at the vendor itself: a new date of a known feature comes with a patch release of a
 * client (@spec request-29). Features of the vendor's accounts are not among them, and what signs in a person is not ours.
 * @source vendor SDK 1.11 (2026-11) `AnthropicBeta`, older names from its change log; BerriAI/litellm
 *   `anthropic_beta_headers_config.json` at 030dd40a (2026-11)
 */
const VENDOR: Row = {
  allow: [
    'advanced-tool-use',
    'advisor-tool',
    'agent-memory',
    'claude-code',
    'code-execution',
    'compact',
    'computer-use',
    'context-1m',
    'context-management',
    'dangerous-tool-use',
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
    'per-turn-control',
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
  ],
};

/** Resellers refuse a request with a flag that they do not know ("invalid beta flag"), so here the date counts. */
const SEARCH_OF_RESELLERS = { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' };

/** By the adapter's id; an absent adapter accepts none. Source of the resellers' rows: the same file of BerriAI/litellm. */
const TABLE: Readonly<Record<string, Row>> = {
  anthropic: VENDOR,
  azure: {
    allow: [
      'advanced-tool-use-2025-11-20',
      'code-execution-2025-08-25',
      'computer-use-2025-01-24',
      'computer-use-2025-11-24',
      'context-1m-2025-08-07',
      'context-management-2025-06-27',
      'dangerous-tool-use-2026-09-03',
      'effort-2025-11-24',
      'files-api-2025-04-14',
      'interleaved-thinking-2025-05-14',
      'mcp-client-2025-04-04',
      'mcp-client-2025-11-20',
      'per-turn-control-2026-07-01',
      'prompt-caching-scope-2026-01-05',
      'skills-2025-10-02',
      'structured-outputs-2025-11-13',
      'thinking-display-updates-2026-08-18',
      'web-fetch-2025-09-10',
      'web-search-2025-03-05',
    ],
  },
  'google-vertex': {
    allow: [
      'compact-2026-01-12',
      'compact-2026-09-04',
      'computer-use-2025-01-24',
      'computer-use-2025-11-24',
      'context-1m-2025-08-07',
      'context-management-2025-06-27',
      'dangerous-tool-use-2026-09-03',
      'interleaved-thinking-2025-05-14',
      'per-turn-control-2026-07-01',
      'thinking-binding-controls-2026-08-01',
      'thinking-display-updates-2026-08-18',
      'tool-search-tool-2025-10-19',
      'web-search-2025-03-05',
    ],
    rename: SEARCH_OF_RESELLERS,
  },
  // Here the model decides as well, so its dialect names features, and the table only holds what the operator adds.
  bedrock: { allow: [] },
};

const NONE: Row = { allow: [] };
const UNCHANGED: BetaChanges = { allow: [], deny: [], rename: {} };

export function createBetaTable(initial: Readonly<Record<string, BetaChanges>> = {}): BetaTable {
  let changes = initial;
  const rules = new Map<string, BetaRules>();
  return {
    rulesFor({ slug, adapter }) {
      const known = rules.get(slug);
      if (known !== undefined) return known;
      const row = Object.hasOwn(TABLE, adapter) ? (TABLE[adapter] ?? NONE) : NONE;
      const own = Object.hasOwn(changes, slug) ? (changes[slug] ?? UNCHANGED) : UNCHANGED;
      const made: BetaRules = {
        allow: new Set([...row.allow, ...own.allow]),
        deny: new Set(own.deny),
        rename: new Map([...Object.entries(row.rename ?? {}), ...Object.entries(own.rename)]),
      };
      rules.set(slug, made);
      return made;
    },
    replace(next) {
      changes = next;
      rules.clear();
    },
  };
}
