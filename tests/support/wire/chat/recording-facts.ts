/** Prompt, completion, read from the cache, written to it, reasoning: as the upstream counted, all of it. */
export type Counts = readonly [number, number, number, number, number | undefined];

/** All of a text, or how it begins, ends, and how long it is in UTF-16 units. */
export type Stated = string | { readonly begins: string; readonly ends: string; readonly chars: number };

/** What a recording says, as its file shows when it is read. */
export interface Fact {
  /** Id and model of the answer. */
  readonly from: readonly [string, string];
  readonly text?: Stated;
  readonly reasoning?: Stated;
  /** `id name(arguments)`, the arguments byte for byte. */
  readonly calls?: readonly string[];
  /** Family of a signature, its beginning, and its length. */
  readonly signatures?: readonly string[];
  /** Address and title of each source. */
  readonly sources?: readonly (readonly [string, string | undefined])[];
  readonly usage?: Counts;
  /** Ours, and the upstream's own word. */
  readonly finish?: readonly [string, string];
  /** Kind, status for the caller, and the provider's code. */
  readonly failure?: readonly [string, number, string];
}

/** Ids of recordings that look like those that the gateway makes up. */
export const RECORDED_IDS: ReadonlySet<string> = new Set([
  'call_3rqTYrA6H21AYUaRGP4F66oq',
  'call_Xw9XMKBJU48kAAd78WgIswDx',
  'call_ZR5UUuTt3pf61kjwAJIYdVMj',
  'call_eee11723464a4b9eb8cee71d',
]);

const COORDINATES = '{"latitude": "52.5200", "longitude": "13.4050"}';

export const FACTS: Readonly<Record<string, Fact>> = {
  'azure/grok-noarg-tool-stream': {
    from: ['97d16ee6-9859-4f6d-b4d3-0495cea4c13f', 'grok-4-1-fast-non-reasoning'],
    calls: ['call_39096608 best_language_to_learn({})'],
    usage: [205, 18, 159, 0, 0],
    finish: ['tool_calls', 'tool_calls'],
  },
  'deepseek/reasoner-stream': {
    from: ['33be18fc-3842-486c-8c29-dd8e578f7f20', 'deepseek-reasoner'],
    text: 'Hello there! 😊 How can I help you today?',
    reasoning: {
      begins: 'Hmm, the user just said "Hello". It\'s a simple greeting',
      ends: "they might not reply further - and that's okay too.",
      chars: 882,
    },
    usage: [6, 212, 0, 0, 198],
    finish: ['stop', 'stop'],
  },
  'deepseek/tool-stream': {
    from: ['4fdc4d8c-bc64-4776-8e72-13bf76a27cb3', 'deepseek-v4-flash'],
    calls: [`call_00_MRi7F2sfOet5LgvlZL3W5236 weather(${COORDINATES})`],
    usage: [348, 65, 0, 0, undefined],
    finish: ['tool_calls', 'tool_calls'],
  },
  'groq/error-mid-stream': {
    from: ['chatcmpl-4f39f3af-3267-4ac1-a0cf-6aa7451877dc', 'openai/gpt-oss-120b'],
    reasoning: {
      begins: 'We need to call the tool with invalid parameters first',
      ends: 'Then second call with name: "test". Let\'s do that.',
      chars: 412,
    },
    failure: ['error-event', 400, 'tool_use_failed'],
  },
  'mistral/hybrid-reasoning-stream': {
    from: ['7bfa9194c90e44c5a0efa6c6efa474cd', 'mistral-small-latest'],
    text: '144',
    reasoning: {
      begins: 'The user is asking for the product of 12 multiplied by 12.',
      ends: '12 * 12 = 144\n\nSo, the answer is 144.',
      chars: 174,
    },
    usage: [31, 66, 0, 0, undefined],
    finish: ['stop', 'stop'],
  },
  'mistral/incremental-tool-call': {
    from: ['735e434874a24f68a2390b3cab149242', 'zai-glm-5-2'],
    calls: ['chatcmpl-tool-9f149c74c42f265b webSearchTool({"query": "current Berlin weather"})'],
    usage: [171, 14, 128, 0, undefined],
    finish: ['tool_calls', 'tool_calls'],
  },
  'mistral/magistral-thinking-stream': {
    from: ['9f9d90210f194076abeee223863eaaf0', 'magistral-medium-latest'],
    text: {
      begins: 'To cross the street safely, follow these steps:\n\n1. Look both ways',
      ends: '```\n\nBy following these steps, you can ensure a safe crossing.',
      chars: 607,
    },
    reasoning: {
      begins: 'Okay, the user is asking how to cross the street.',
      ends: 'Let me compile this information into a clear and concise response.',
      chars: 421,
    },
    usage: [10, 232, 0, 0, undefined],
    finish: ['stop', 'stop'],
  },
  'mistral/prompt-cache': {
    from: ['23271c0215f547dcb5d5e2950f354f9d', 'mistral-large-latest'],
    text: 'cache probe two.',
    usage: [268, 5, 224, 0, undefined],
    finish: ['stop', 'stop'],
  },
  'mistral/tool-stream': {
    from: ['95e349e3e7c04cc6b2c1700095d121f7', 'mistral-small-latest'],
    calls: [`g6fVbXS8K weather(${COORDINATES})`],
    usage: [159, 28, 128, 0, undefined],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openai/compat-tool-call-without-id': {
    from: ['3SE-aKjdCcCEz7IPxpqjCA', 'gemini-2.5-pro-preview-05-06'],
    calls: ['call_made_up get_current_time({})'],
    // Its total, 109, is more than both: thinking, which is read where the host is known for that (usage.test.ts).
    usage: [35, 12, 0, 0, undefined],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openai/gpt4o-tool-call-stream': {
    from: ['chatcmpl-C1KMEUDb1vVwsROQUCZTgG6A6vtWo', 'gpt-4o-2024-08-06'],
    calls: ['call_3rqTYrA6H21AYUaRGP4F66oq get_country({})', 'call_Xw9XMKBJU48kAAd78WgIswDx get_product_name({})'],
    usage: [364, 40, 0, 0, 0],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openai/gpt4omini-tool-stream': {
    from: ['chatcmpl-Dx0XpqH8w09uBXwq1zFGYdETjtnEl', 'gpt-4o-mini-2024-07-18'],
    calls: ['call_ZR5UUuTt3pf61kjwAJIYdVMj get_capital({"country":"UK"})'],
    usage: [53, 15, 0, 0, 0],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openai-compatible/alibaba-tool-stream': {
    from: ['chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368', 'qwen3-max'],
    calls: ['call_eee11723464a4b9eb8cee71d weather({"location": "San Francisco"})'],
    usage: [295, 22, 0, 0, undefined],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openai-compatible/anthropic-fallback-tool-call': {
    from: ['msg_sanitized', 'claude-haiku-4-5-20251001'],
    text: 'Reading it.',
    calls: ['toolu_sanitized read_file({"path": "a.txt"})'],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openai-compatible/gpustack-qwen3-stream': {
    from: ['chatcmpl-bbvHp6ly4leGve5B8TjAK636vZE4A7bX', 'qwen3'],
    text: '\n\n1, 2, 3.',
    reasoning: {
      begins: '\nOkay, the user wants me to count from 1 to 3.',
      ends: 'Alright, that should cover it.\n',
      chars: 674,
    },
    usage: [15, 171, 0, 0, 160],
    finish: ['stop', 'stop'],
  },
  'openai-compatible/ollama-gptoss-tool-stream': {
    from: ['chatcmpl-873', 'gpt-oss:120b'],
    reasoning: 'We need to call weather function with latitude and longitude. Provide as strings.',
    calls: ['call_x7rn5sl5 weather({"latitude":"52.5200","longitude":"13.4050"})'],
    usage: [169, 55, 0, 0, undefined],
    finish: ['tool_calls', 'tool_calls'],
  },
  'openrouter/cache-read': {
    from: ['gen-1773011158-Ce1hHC4Gr81WIraIsgAJ', 'anthropic/claude-4.6-sonnet-20260217'],
    text: {
      begins: 'Distributed database systems involve tradeoffs between consistency',
      ends: 'combinations of performance, scalability, and reliability.',
      chars: 300,
    },
    usage: [3329, 53, 3211, 115, 0],
    finish: ['stop', 'stop'],
  },
  'openrouter/claude-reasoning-stream': {
    from: ['gen-1765226419-AGrwjunAftQIAgweibL8', 'anthropic/claude-sonnet-4.5'],
    text: '2 + 2 = 4',
    reasoning: 'This is a simple arithmetic question. 2+2 equals 4.',
    signatures: ['anthropic-claude-v1 Et0BCkgIChACGAIqQA2s7h7t 304'],
    usage: [43, 36, 0, 0, 13],
    finish: ['stop', 'stop'],
  },
  'openrouter/error-mid-stream': {
    from: ['gen-1762179802-UN8pkJI4AGZvryk0kFnb', 'minimax/minimax-m2:free'],
    reasoning: 'We need to respond to a greeting. The user',
    usage: [43, 10, 0, 0, 11],
    finish: ['length', 'length'],
  },
  'openrouter/reasoning-details-tool-stream': {
    from: ['gen-1786403070-P09zUfOhE2qt2A6q4btq', 'anthropic/claude-haiku-4.5'],
    reasoning: {
      begins: 'The user is asking for the weather in Berlin and specifically requesting that I use',
      ends: '\n- city: "Berlin"\n\nLet me call the function with this parameter.',
      chars: 211,
    },
    calls: ['toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7 reasoning_weather({"city": "Berlin"})'],
    signatures: ['anthropic-claude-v1 EvsCCkgIEBABGAIqQNe/6uRt 512'],
    usage: [626, 106, 0, 0, 54],
    finish: ['tool_calls', 'tool_use'],
  },
  'openrouter/web-search-stream': {
    from: ['gen-1786680764-gY2YTdjLLLQA6Cd1Wa6J', 'deepseek/deepseek-chat'],
    text: "The URL for Pydantic AI's GitHub repository is:  \n\nhttps://github.com/pydantic/pydantic-ai",
    sources: [
      ['https://github.com/pydantic/pydantic-ai', 'AI Agent Framework, the Pydantic way - GitHub'],
      ['https://pydantic.dev/pydantic-ai', ''],
      ['https://github.com/pydantic/pydantic-ai/releases/tag/v2.0.0', 'v2.0.0 (2026-06-23)'],
      ['https://pydantic.dev/docs/ai/overview/', 'Pydantic AI | Pydantic Docs'],
      [
        'https://github.com/pydantic/pydantic-ai/tree/refs/tags/v1.44.0',
        'GitHub - pydantic/pydantic-ai at refs/tags/v1.44.0 · GitHub',
      ],
    ],
    usage: [2317, 53, 0, 0, 0],
    finish: ['stop', 'stop'],
  },
  'perplexity/sonar-stream': {
    from: ['aced166e-c42e-42ea-941e-24477b147dac', 'sonar'],
    text: '1 2 3',
    sources: [
      [
        'https://www.youtube.com/watch?v=gJEC9-B37KI',
        'Counting to 3 | Learn Numbers + More Counting Songs | 123 Numbers',
      ],
      ['https://numbergenerator.org/randomnumbergenerator/1-3', 'Random Number Between 1 And 3 - Number Generator'],
      [
        'https://www.youtube.com/watch?v=NO2Q4o6ke6w',
        'Numbers 1, 2 and 3 - Learn to Write and Count from 1 to 3 - YouTube',
      ],
      ['https://www.youtube.com/watch?v=iqYjVZZ19fw', 'Learn to Count to 3 for Kids | 123 - YouTube'],
      ['https://www.youtube.com/watch?v=3ku3FueLlV8', 'Count 1 2 3 | Counting Song for Kids | Pancake Manor - YouTube'],
      ['https://www.dailymotion.com/video/x8nxiid', 'Cookies Numbers Song 1 to 30, Learn Numbers - Dailymotion'],
      ['https://heyspinner.com/random-number-wheel/1-3', 'Random Number Wheel 1-3 - HeySpinner'],
      ['https://www.tinytap.com/activities/g3d4g/play/numbers-1-3', 'Numbers 1-3 | TinyTap'],
    ],
    usage: [8, 5, 0, 0, undefined],
    finish: ['stop', 'stop'],
  },
  'xai/text-stream': {
    from: ['f0f0f217-c24d-1fee-5fe3-28fa1d3c8c94', 'grok-3-mini'],
    text: 'Grok',
    reasoning: {
      begins: 'First, the user said: "Say a single word."',
      ends: 'just the word.\n\nResponse: Grok',
      chars: 1455,
    },
    // Completion and reasoning are counted side by side there: 2 and 340 of a total of 354.
    usage: [12, 342, 11, 0, 340],
    finish: ['stop', 'stop'],
  },
  'zai/glm-thinking-stream': {
    from: ['202607010739425543ff9439144b2c', 'glm-4.7'],
    text: '4',
    reasoning: {
      begins: "\n1.  **Analyze the User's Request:** The user is asking a very simple",
      ends: '\n\n7.  **Draft the final response:** "4".',
      chars: 2173,
    },
    usage: [13, 564, 0, 0, 561],
    finish: ['stop', 'stop'],
  },
};

/** An error that stands alone: what it means by status and words, the provider's code, and how its sentence begins. */
export type ErrorFact = readonly [errorType: string, code: string, begins: string];

export const ERROR_FACTS: Readonly<Record<string, ErrorFact>> = {
  'azure/rate-limit-429': [
    'rate_limit_exceeded',
    'RateLimitReached',
    'Your requests to grok-4-1-fast-non-reasoning for',
  ],
  'groq/tool-use-failed-400': [
    'invalid_request',
    'tool_use_failed',
    'Tool call validation failed: tool call validation',
  ],
  'openai/model-not-found-404': ['not_found', 'model_not_found', 'The model `gpt-5.2-proo` does not exist'],
  'openrouter/rate-limit-429': [
    'rate_limit_exceeded',
    '429',
    'google/gemini-2.0-flash-exp:free is temporarily rate-limited',
  ],
};
