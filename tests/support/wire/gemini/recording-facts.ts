import type { UpstreamErrorBody } from '../../../../src/canonical/failure/failure.ts';
import type { Usage } from '../../../../src/canonical/usage.ts';

/** Test support: a text that is too long to stand here. */
export interface LongText {
  readonly chars: number;
  readonly begins: string;
  /** SHA-256, the first 16 digits. */
  readonly digest: string;
}

/** Test support: what a recorded answer says, as its file shows when it is read. */
export interface Fact {
  readonly id: string;
  readonly model: string;
  readonly text: LongText | string;
  readonly reasoning: LongText | string;
  readonly signatures: readonly (LongText | string)[];
  readonly calls: readonly string[];
  /** From, to, title. Characters. */
  readonly sources: readonly (readonly [number, number, string])[];
  readonly usage: Usage;
  readonly finish: string;
  readonly nativeFinish: string;
}

const COUNTED = { cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0, estimated: false };
const NOTHING = { text: '', reasoning: '', signatures: [], calls: [], sources: [] };

const PAGE = 'Weather information for San Francisco, CA, US';

export const FACTS: Readonly<Record<string, Fact>> = {
  'gemini/function-call-stream': {
    ...NOTHING,
    id: '1lpeaMTxIpW1nvgP-O3vwQY',
    model: 'gemini-2.0-flash',
    calls: ['get_capital({"country": "France"})'],
    usage: { ...COUNTED, promptTokens: 52, completionTokens: 5 },
    finish: 'tool_calls',
    nativeFinish: 'STOP',
  },
  'gemini/grounding-stream': {
    ...NOTHING,
    id: 'ftnJaMmAMcm-qtsPwvCCoAo',
    model: 'gemini-2.5-pro',
    text: { chars: 926, begins: '### Weather in San F', digest: 'adb9ebe491f7bbe4' },
    sources: [
      [235, 371, PAGE],
      [372, 439, 'timeanddate.com'],
      [440, 494, PAGE],
      [496, 612, 'weather.gov'],
      [613, 666, 'wunderground.com'],
      [667, 747, 'weather.gov'],
      [749, 875, 'accuweather.com'],
      [749, 875, 'timeanddate.com'],
      [876, 926, PAGE],
    ],
    // What the search brought in counts as prompt: 17 and 102; thoughts as completion: 241 and 412.
    usage: { ...COUNTED, promptTokens: 119, completionTokens: 653, reasoningTokens: 412, webSearchRequests: 1 },
    finish: 'stop',
    nativeFinish: 'STOP',
  },
  'gemini/partial-args-missing-end': {
    ...NOTHING,
    id: '3noMaojQL_2s6tkPiO26qQ4',
    model: 'gemini-3-flash-preview',
    signatures: [{ chars: 732, begins: 'AY89a19ZkXSMGh/bSOlw', digest: 'cf25901089922d0b' }],
    calls: [
      'writeItems({"operations":[{"action":"add","description":"Fresh red apple","itemid":"apple_001","price":0.5},' +
        '{"action":"add","description":"Ripe yellow banana","itemid":"banana_001","price":0.3}]})',
    ],
    usage: { ...COUNTED, promptTokens: 54, completionTokens: 74 + 121, reasoningTokens: 121 },
    finish: 'tool_calls',
    nativeFinish: 'STOP',
  },
  'gemini/thinking-stream': {
    ...NOTHING,
    id: 'beHBaJfEMIi-qtsP3769-Q8',
    model: 'gemini-2.5-pro',
    text: { chars: 1938, begins: 'This is a great ques', digest: '8c4308d5109d741f' },
    reasoning: { chars: 1575, begins: '**Clarifying User Go', digest: '1bf501f690cde7d3' },
    signatures: [{ chars: 6152, begins: 'CiIB0e2Kb6Syj1a961Ef', digest: 'e99c40ab9d8666d5' }],
    usage: { ...COUNTED, promptTokens: 34, completionTokens: 469 + 787, reasoningTokens: 787 },
    finish: 'stop',
    nativeFinish: 'STOP',
  },
  'gemini/thoughts-token-count-stream': {
    ...NOTHING,
    id: 'Bb-Fapr3DvG_nsEPhfTU6Ag',
    model: 'gemini-2.5-flash',
    text: { chars: 201, begins: "Let's think step-by-", digest: '65088edecae6861a' },
    usage: { ...COUNTED, promptTokens: 13, completionTokens: 71 + 137, reasoningTokens: 137, serviceTier: 'standard' },
    finish: 'stop',
    nativeFinish: 'STOP',
  },
  'gemini/tool-thought-signature-stream': {
    ...NOTHING,
    id: 'QUVVadTSNJ6_qtsPvN7J8Q0',
    model: 'gemini-3-pro-preview',
    signatures: [{ chars: 1408, begins: 'EpwICpkIAXLI2nxlU6gs', digest: '5d9ba8d754fc1f7d' }],
    calls: ['get_country({})'],
    usage: { ...COUNTED, promptTokens: 29, completionTokens: 10 + 202, reasoningTokens: 202 },
    finish: 'tool_calls',
    nativeFinish: 'STOP',
  },
};

export interface ErrorFact {
  readonly status: number;
  readonly begins: string;
  readonly body: UpstreamErrorBody;
  /** Status, type, milliseconds to wait. */
  readonly failure: readonly [number, string, number];
}

export const ERROR_FACTS: Readonly<Record<string, ErrorFact>> = {
  'gemini/quota-429': {
    status: 429,
    begins: 'You exceeded your current quota, please check your plan and billing details.',
    body: { type: 'RESOURCE_EXHAUSTED', retryAfterMs: 48_000 },
    failure: [429, 'rate_limit_exceeded', 48_000],
  },
};
