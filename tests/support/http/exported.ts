import type { ExportedGeneration } from '../../../src/telemetry/destinations/contract.ts';

/** The worked example: a stream with cached and reasoning tokens, a session, and a caller's trace. */
export function sampleExported(changes: Partial<ExportedGeneration> = {}): ExportedGeneration {
  return {
    id: 'gen-1',
    requestId: 'gen-1',
    startMs: 1_795_247_856_201,
    firstTokenMs: 1_795_247_856_801,
    endMs: 1_795_247_858_601,
    modelRequested: 'openai/gpt-5.1',
    model: 'openai/gpt-5.1',
    provider: 'alpha',
    apiType: 'chat',
    streamed: true,
    cancelled: false,
    status: 200,
    finishReason: 'stop',
    tokens: { prompt: 1_200, completion: 90, cacheRead: 1_000, cacheWrite: 0, reasoning: 40, estimated: false },
    settings: { temperature: 1, maxTokens: 100, stop: ['END'] },
    sessionId: 'cart-17',
    endUserId: '7d49'.repeat(16),
    trace: {
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      parent_span_id: 'b7ad6b7169203331',
      trace_name: 'Shop',
      generation_name: 'Recommend',
      tenant: 'blue',
      $ai_model: 'forged',
    },
    isCached: false,
    cost: { total: 1_925_000, prompt: 1_025_000, completion: 900_000 },
    identity: { keyHash: 'a'.repeat(64), keyName: 'Shop key / 1', workspaceId: 'w' },
    context: {
      region: 'local',
      strategy: 'direct',
      attempts: [
        { provider: 'beta', model: 'one', status: 503, latencyMs: 300 },
        { provider: 'alpha', model: 'one', status: 200, latencyMs: 2_100 },
      ],
    },
    content: {
      input: {
        messages: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Weather? "start_ns":"1"' },
              { type: 'image', left_out: true },
            ],
          },
          {
            role: 'assistant',
            content: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: '{"city":"Bonn"}' }],
          },
          {
            role: 'tool',
            content: [{ type: 'tool_result', tool_call_id: 'c1', content: [{ type: 'text', text: 'rain' }] }],
          },
        ],
      },
      output: { completion: 'Rain.', reasoning: 'It says rain.' },
      error: null,
    },
    ...changes,
  };
}
