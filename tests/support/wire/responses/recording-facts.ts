import type { ReasoningFamily } from '../../../../src/canonical/blocks.ts';

/** What a recording says, as its file shows when it is read. */
export interface Fact {
  /** Id and model of the answer. */
  readonly from: readonly [id: string, model: string];
  /** The family under which its vendor's adapter has its reasoning decoded. */
  readonly family?: ReasoningFamily;
  /** What each block says, in order; long texts by how they begin and end, and by their length in UTF-16 units. */
  readonly blocks: readonly string[];
  /** The ids of its reasoning. */
  readonly reasoningIds?: readonly string[];
  /** Prompt, read from the cache, completion, reasoning of it, searches. */
  readonly usage?: readonly [number, number, number, number, number | undefined];
  readonly finish?: string;
}

/** A text as facts hold it. */
export function shorten(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 40)} ... ${text.slice(-25)} (${text.length})`;
}

export const FACTS: Readonly<Record<string, Fact>> = {
  'deepseek/responses-tool-stream': {
    from: ['1235b7ba-fdc9-4a1c-bfe4-6137c207baf3', 'deepseek-v4-flash'],
    family: 'unknown',
    blocks: [
      "text: The user asks about temperature in Tokyo. I'll call the tool.",
      'call: call_00_xjY8Z2BvSlzgEmmw0DtH0464 get_temperature({"city": "Tokyo"})',
    ],
    reasoningIds: ['fa6f3a83-5d25-46e8-9d03-1a89ce5cf2ba'],
    usage: [366, 256, 59, 14, undefined],
    finish: 'tool_calls',
  },
  'openai/resp-client-tool-search-stream': {
    from: ['resp_05ed6c8b322854d8006a024b5204d881968b26a4e643969b0f', 'gpt-5.4-2026-03-05'],
    blocks: [
      'call: call_HoZLyVrNA5gX9RcfrRNI733g tool_search({"queries":["exchange rate currency converter USD EUR current",' +
        '"foreign exchange USD to EUR live rate"]})',
    ],
    usage: [234, 0, 36, 0, undefined],
    finish: 'tool_calls',
  },
  'openai/resp-custom-tool-stream': {
    from: ['resp_custom_tool_test_001', 'gpt-5.2-codex'],
    blocks: ['call: call_custom_sql_001 write_sql({"input":"SELECT * FROM users WHERE age > 25"})'],
    usage: [50, 0, 20, 0, undefined],
    finish: 'tool_calls',
  },
  'openai/resp-error-event-stream': {
    from: ['resp_05500b38c2cd9bfc00691c7c9d222481a3b595421266dab424', 'gpt-5-nano-2025-08-07'],
    blocks: [],
  },
  'openai/resp-function-call-stream': {
    from: ['resp_67e554a155508191900ee113293c4c830794405d35281ae2', 'gpt-4o-2024-08-06'],
    blocks: ['call: call_kL0PCQV7M2WMoVX8V8OtYSAL get_capital({"country":"France"})'],
    usage: [255, 0, 16, 0, undefined],
    finish: 'tool_calls',
  },
  'openai/resp-gpt5nano-tool-encrypted-stream': {
    from: ['resp_07ee8752f9940d57016a85bfabf96887d2a15aaee94f121d9c', 'gpt-5-nano-2025-08-07'],
    blocks: [
      'encrypted: gAAAAABqhb-uBTsIAvTgv3_zSC5fBrNQRuwVNYTJ ... jVGcYFetvfkdMeUKLpm5_qg== (3172)',
      'call: call_E9m0fralKLjUmND1MuTXjnqm weather({"latitude":"52.5200","longitude":"13.4050"})',
    ],
    reasoningIds: ['rs_07ee8752f9940d57016a85bfac5d6c87d29028fdb55e4140d8'],
    usage: [87, 0, 339, 256, undefined],
    finish: 'tool_calls',
  },
  'openai/resp-reasoning-summary-stream': {
    from: ['resp_68c42d0fb418819dbfa579f69406b49508fbf9b1584184ff', 'o3-mini-2025-01-31'],
    blocks: [
      'summary: **Providing street crossing instructions ... fely crossing the street. (460)',
      'summary: **Explaining street crossing safety**\n\nI ... for safe street crossing. (517)',
      'summary: **Sharing street crossing safety tips**\n ... nyone needing assistance. (540)',
      'summary: **Providing safe crossing advice**\n\nI’m  ... r and easy to understand! (505)',
      'encrypted: gAAAAABoxC0m_QWpOlSt8wyPk_gtnjiI4mNLOryY ... 016P3dgWwgP5AtWmQ30zeXDs= (440)',
      "text: I'm not a road safety professional, but  ...  to your area. Stay safe! (1251)",
    ],
    reasoningIds: ['rs_68c42d1d0878819d8266007cd3d1402c08fbf9b1584184ff'],
    usage: [13, 0, 1680, 1408, undefined],
    finish: 'stop',
  },
  'openai/resp-web-search-stream': {
    from: ['resp_00a60507bf41223d0068c9d2fbf93481a0ba2a7796ae2cab4c', 'gpt-5-2025-08-07'],
    blocks: [
      'encrypted: gAAAAABoydMADQ6HaJB8mYQXlwd-4MrCfzmKqMHX ... DIrQyfBGZzhv8OB0H3cj9mBs= (2616)',
      'ran: ws_00a60507bf41223d0068c9d30021d081a0962d80d50c12e317 web_search({"type":"search","query":"weather: San Francisco, CA"})',
      'encrypted: gAAAAABoydMLww_4DcIPiCy5zW1t-Dtx57JodsdP ... bT-uv49Yp9cAfFBG23sC9lUQ= (2552)',
      'text: San Francisco weather today (Tuesday, Se ...  for the cooler evening.  (212)',
    ],
    reasoningIds: [
      'rs_00a60507bf41223d0068c9d2fc927081a088e0b920cdfe3866',
      'rs_00a60507bf41223d0068c9d300b23481a0b77a03d911213220',
    ],
    usage: [9_463, 8_320, 582, 512, 1],
    finish: 'stop',
  },
  'openrouter/responses-raw-reasoning-stream': {
    from: ['gen-1764265411-Fu1iEX7h5MRWiL79lb94', 'openai/gpt-oss-20b'],
    blocks: ['text: The user asks: "What is 2+2?" They expect a straightforward answer: 4. Just answer 4.', 'text: 4'],
    reasoningIds: ['rs_tmp_2kbe7x16sax'],
    usage: [78, 0, 37, 22, undefined],
    finish: 'stop',
  },
  'xai/responses-tool-stream': {
    from: ['1c1cae28-e3a2-9687-8eb0-6f07b789a60e', 'grok-4.3'],
    family: 'xai-responses-v1',
    blocks: [
      'summary: The user asked: "What\'s the weather in Berlin? (52.5200, 13.4050)"\n',
      'encrypted: V0dVkyZID50/Rg1DTtZvQXbbORp2x9XOHIwgcqKN ... dIFCaJnPB/6xCs4nUJtHdiHdR (492)',
      'call: call-5386e269-cd64-432e-aa64-5c80dd4e0286-0 weather({"latitude":"52.5200","longitude":"13.4050"})',
    ],
    reasoningIds: ['rs_1c1cae28-e3a2-9687-8eb0-6f07b789a60e'],
    usage: [340, 320, 105, 83, undefined],
    finish: 'tool_calls',
  },
};
