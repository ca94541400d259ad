import type { GenerationRow } from '../../../src/store/generations/columns.ts';
import type { Charges } from '../../../src/store/journal/charges.ts';

/** The columns of later migrations. */
const LATER = {
  taskType: 'math',
  router: 'auto-router',
  comparedModel: 'acme/best',
  savedNanoUsd: -1_007,
  webCostNanoUsd: 1_008,
  fileCostNanoUsd: 1_009,
  toolCalls: 14,
  toolFailures: 13,
  country: 'NZ',
  characters: 15,
  audioMs: 1_016,
  outputAudioMs: 1_017,
  outputPixels: 1_018,
  searchUnits: 19,
  videoMs: 1_020,
  inputCount: 21,
  dimensions: 1_022,
  background: true,
  previousResponseId: 'resp_sample',
  origin: 'decisions',
} as const;

/** Makes a generation for tests: every member differs from its neighbours, so that a mix-up of columns shows. */
export function sampleGeneration(changes: Partial<GenerationRow> = {}): GenerationRow {
  return {
    id: 'gen-sample',
    requestId: 'req-sample',
    createdAtMs: 1_790_000_000_000,
    keyHash: 'a'.repeat(64),
    apiType: 'chat',
    modelRequested: 'acme/one:floor',
    model: 'acme/one',
    provider: 'alpha',
    providerName: 'Alpha',
    upstreamId: 'chatcmpl-1',
    upstreamModel: 'one-2026',
    streamed: true,
    cancelled: false,
    finishReason: 'stop',
    nativeFinishReason: 'end',
    status: 200,
    errorType: null,
    errorMessage: null,
    attempts: [
      { provider: 'beta', model: 'one-beta', status: null, latencyMs: 31 },
      { provider: 'alpha', providerName: 'Alpha', model: 'one-2026', status: 200, latencyMs: 32 },
    ],
    strategy: 'direct',
    sessionId: 'session-1',
    endUserHash: 'b'.repeat(64),
    tokensPrompt: 101,
    tokensCompletion: 102,
    tokensReasoning: 103,
    tokensCacheRead: 104,
    tokensCacheWrite: 105,
    usageSource: 'upstream',
    costNanoUsd: 1_003,
    costPromptNanoUsd: 1_001,
    costCompletionNanoUsd: 1_002,
    isByok: false,
    serviceTier: 'standard',
    latencyMs: 201,
    timeToFirstTokenMs: 202,
    generationTimeMs: 203,
    warnings: [{ code: 'field-dropped', path: 'top_k', message: 'not supported' }],
    skippedEvents: 7,
    appUrl: 'https://app.example',
    appTitle: 'App',
    userAgent: 'agent/1',
    region: 'local',
    workspaceId: 'workspace-1',
    memberId: 'member-1',
    presetSlug: 'preset-1',
    tokensCacheWrite1h: 106,
    listCostNanoUsd: 1_004,
    upstreamCostNanoUsd: 1_005,
    tokensAudioPrompt: 106,
    tokensAudioCompletion: 107,
    tokensImageCompletion: 108,
    webSearches: 8,
    webFetches: 9,
    mediaPrompt: 10,
    audioPrompt: 11,
    mediaCompletion: 12,
    cacheDiscountNanoUsd: -1_004,
    responseCacheSourceId: null,
    ...LATER,
    ...changes,
  };
}

const DAY_MS = 86_400_000;

/** Makes the row's entries and spending for the account `default`, as a gateway does. */
export function sampleCharges(row: GenerationRow): Charges {
  const nanoUsd = row.costNanoUsd ?? 0;
  const day_start_ms = row.createdAtMs - (row.createdAtMs % DAY_MS);
  const subjects = [`key:${row.keyHash}`, `workspace:${row.workspaceId}`, 'account:default'];
  if (row.memberId !== null) subjects.push(`member:${row.memberId}`);
  const own = subjects.map((subject) => ({ subject, day_start_ms, is_byok: 0, nano_usd: nanoUsd }) as const);
  const listNanoUsd = row.listCostNanoUsd;
  const byok = subjects.map((subject) => ({ subject, day_start_ms, is_byok: 1, nano_usd: listNanoUsd ?? 0 }) as const);
  return {
    spend: [...(nanoUsd > 0 ? own : []), ...(listNanoUsd === null ? [] : byok)],
    entries: nanoUsd > 0 ? [sampleCharge(row.id, nanoUsd)] : [],
  };
}

export function sampleCharge(generationId: string, nanoUsd: number): Charges['entries'][number] {
  return {
    id: `${generationId}:usage`,
    at_ms: 7,
    account_id: 'default',
    kind: 'usage',
    amount_nano_usd: -nanoUsd,
    generation_id: generationId,
    key_hash: null,
    workspace_id: null,
    note: null,
    author: null,
  };
}
