import type { CallContext, OutgoingCall, ProviderSettings } from '../../../src/providers/contract.ts';

export const TEST_SETTINGS: ProviderSettings = {
  slug: 'alpha',
  name: 'Alpha',
  baseUrl: 'http://127.0.0.1:1/v1',
  headers: {},
  timeouts: { connectMs: 1, headersMs: 2, firstTokenMs: 3, idleMs: 4, wholeMs: 5 },
};

/** A call that is about to leave, as adapters see it. */
export function testCall(context: Partial<CallContext> = {}, call: Partial<OutgoingCall> = {}): OutgoingCall {
  return {
    format: 'chat',
    settings: TEST_SETTINGS,
    model: 'some-model',
    stream: false,
    ...context,
    method: 'POST',
    url: 'http://127.0.0.1:1/v1/chat/completions',
    headers: {},
    body: '{}',
    ...call,
  };
}
