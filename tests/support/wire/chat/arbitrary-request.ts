import * as fc from 'fast-check';
import { ExactNumber, type Json } from '../../../../src/lib/json.ts';

type Members = Record<string, Json>;

/** Chat requests that say one thing in one way each, for the property that nothing is lost. Used by tests only. */
export function arbitraryChatRequest(): fc.Arbitrary<Members> {
  const call = toolCall();
  return fc
    .record(
      {
        messages: fc.array(fc.oneof(plainMessage(), userMessage(), assistantMessage(call), toolMessage()), {
          minLength: 1,
          maxLength: 6,
        }),
        tools: fc.uniqueArray(functionTool(), { minLength: 1, maxLength: 3, selector: nameOfTool }),
        tool_choice: fc.constantFrom('none', 'auto', 'required'),
        response_format: responseFormat(),
        reasoning: reasoning(),
        ...settings(),
        ...unknownFields('future_option', 'safe_prompt', 'constructor'),
      },
      { requiredKeys: ['messages'] },
    )
    .map(withoutUndefined);
}

/** Any text but the empty one, which upstreams refuse beside others. */
const text: fc.Arbitrary<string> = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
const word: fc.Arbitrary<string> = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
/** A number that a double would change. */
const longNumber: fc.Arbitrary<Json> = fc
  .stringMatching(/^-?[1-9]\d{16,20}(\.\d{1,5}[1-9])?$/)
  .map((digits) => new ExactNumber(digits));
const longInteger: fc.Arbitrary<Json> = fc
  .stringMatching(/^-?[1-9]\d{16,18}[1-9]$/)
  .map((digits) => new ExactNumber(digits));
const anything: fc.Arbitrary<Json> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((value): Json => JSON.parse(JSON.stringify(value))),
  longNumber,
  fc.array(longNumber, { minLength: 1, maxLength: 2 }),
);
const object: fc.Arbitrary<Members> = fc.dictionary(word, anything, { maxKeys: 3 });

/** Members that the format does not know; a null among them would be the same as none. */
function unknownFields(...names: readonly string[]): Record<string, fc.Arbitrary<Json>> {
  const some = anything.filter((value) => value !== null);
  return Object.fromEntries(names.map((name) => [name, some]));
}

function optional(required: readonly string[], members: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<Members> {
  return fc.record(members, { requiredKeys: [...required] }).map(withoutUndefined);
}

function withoutUndefined(members: Record<string, Json | undefined>): Members {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function cacheControl(): fc.Arbitrary<Members> {
  return optional(['type'], {
    type: fc.constant('ephemeral'),
    ttl: fc.constantFrom('5m', '1h'),
    ...unknownFields('x_mark'),
  });
}

function textPart(): fc.Arbitrary<Members> {
  return optional(['type', 'text'], {
    type: fc.constant('text'),
    text,
    cache_control: cacheControl(),
    ...unknownFields('x_text'),
  });
}

function refusalPart(): fc.Arbitrary<Members> {
  return optional(['type', 'refusal'], {
    type: fc.constant('refusal'),
    refusal: text,
    ...unknownFields('x_refusal'),
  });
}

function url(): fc.Arbitrary<string> {
  const data = fc.base64String({ maxLength: 12 });
  return fc.oneof(
    fc.webUrl(),
    data.map((bytes) => `data:image/png;base64,${bytes}`),
    fc.constant('data:text/plain;charset=utf-8,abc'),
  );
}

function mediaPart(): fc.Arbitrary<Members> {
  const part = (type: string, member: string, inner: fc.Arbitrary<Members>): fc.Arbitrary<Members> =>
    optional(['type', member], {
      type: fc.constant(type),
      [member]: inner,
      cache_control: cacheControl(),
      ...unknownFields('x_part'),
    });
  const file = optional([], {
    file_data: url(),
    file_id: word,
    filename: word,
    ...unknownFields('x_file'),
  }).filter((members) => 'file_data' in members || 'file_id' in members);
  return fc.oneof(
    part(
      'image_url',
      'image_url',
      optional(['url'], {
        url: url(),
        detail: fc.constantFrom('auto', 'low', 'original'),
        ...unknownFields('x_image'),
      }),
    ),
    part(
      'input_audio',
      'input_audio',
      optional(['data', 'format'], { data: fc.base64String(), format: fc.constantFrom('wav', 'mp3', 'pcm16') }),
    ),
    part('video_url', 'video_url', optional(['url'], { url: url(), ...unknownFields('x_video') })),
    part('file', 'file', file),
  );
}

function content(part: fc.Arbitrary<Members>): fc.Arbitrary<Json> {
  return fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 }));
}

function plainMessage(): fc.Arbitrary<Members> {
  return optional(['role', 'content'], {
    role: fc.constantFrom('system', 'developer'),
    content: content(textPart()),
    name: word,
    ...unknownFields('x_message'),
  });
}

function userMessage(): fc.Arbitrary<Members> {
  return optional(['role', 'content'], {
    role: fc.constant('user'),
    content: content(fc.oneof(textPart(), mediaPart())),
    name: word,
    ...unknownFields('x_message'),
  });
}

function toolMessage(): fc.Arbitrary<Members> {
  return optional(['role', 'content', 'tool_call_id'], {
    role: fc.constant('tool'),
    content: content(fc.oneof(textPart(), mediaPart())),
    tool_call_id: word,
    ...unknownFields('x_message'),
  });
}

function toolCall(): fc.Arbitrary<Members> {
  return optional(['id', 'type', 'function'], {
    id: word,
    type: fc.constant('function'),
    function: optional(['name', 'arguments'], {
      name: word,
      arguments: fc.constantFrom('', '{}', '{"a":1.0}', '{"big":12345678901234567890}', 'no json'),
      ...unknownFields('x_function'),
    }),
    ...unknownFields('extra_content'),
  });
}

function reasoningDetail(): fc.Arbitrary<Members> {
  const shared = {
    index: fc.nat(9),
    id: word,
    format: fc.constantFrom('unknown', 'anthropic-claude-v1', 'openai-responses-v1', 'future-v9'),
    ...unknownFields('x_detail'),
  };
  const required = ['type', 'format'];
  return fc.oneof(
    optional([...required, 'text'], {
      type: fc.constant('reasoning.text'),
      text,
      signature: word,
      ...shared,
    }),
    optional([...required, 'summary'], { type: fc.constant('reasoning.summary'), summary: text, ...shared }),
    optional([...required, 'data'], { type: fc.constant('reasoning.encrypted'), data: text, ...shared }),
    optional([...required, 'tool_name', 'arguments', 'result'], {
      type: fc.constant('reasoning.server_tool_call'),
      tool_name: word,
      arguments: fc.constant('{}'),
      result: fc.constant('{}'),
      ...shared,
    }),
    optional(required, { type: fc.constant('reasoning.future'), ...shared }),
  );
}

function annotation(): fc.Arbitrary<Members> {
  const cited = optional(['url', 'title', 'start_index', 'end_index'], {
    url: fc.webUrl(),
    title: text,
    start_index: fc.nat(),
    end_index: fc.nat(),
    content: text,
    ...unknownFields('x_cited'),
  });
  return fc.oneof(
    optional(['type', 'url_citation'], {
      type: fc.constant('url_citation'),
      url_citation: cited,
      ...unknownFields('x_note'),
    }),
    optional(['type', 'file'], { type: fc.constant('file'), file: object }),
  );
}

function assistantMessage(call: fc.Arbitrary<Members>): fc.Arbitrary<Members> {
  const shared = { name: word, ...unknownFields('x_message') };
  const spoken = optional(['role', 'content'], {
    role: fc.constant('assistant'),
    content: content(fc.oneof(textPart(), refusalPart())),
    refusal: text,
    reasoning: text,
    reasoning_details: fc.array(reasoningDetail(), { minLength: 1, maxLength: 3 }),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    annotations: fc.array(annotation(), { minLength: 1, maxLength: 2 }),
    images: fc.array(
      optional(['image_url'], { image_url: optional(['url'], { url: url() }), ...unknownFields('type', 'index') }),
      { minLength: 1, maxLength: 2 },
    ),
    audio: fc.oneof(
      optional(['id'], { id: word, transcript: text, expires_at: fc.nat() }),
      optional(['data'], { id: word, data: fc.base64String(), transcript: text }),
    ),
    ...shared,
  });
  const calling = optional(['role', 'tool_calls'], {
    role: fc.constant('assistant'),
    reasoning_content: text,
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    annotations: fc.array(annotation(), { minLength: 1, maxLength: 2 }),
    ...shared,
  });
  return fc.oneof(spoken, calling);
}

function functionTool(): fc.Arbitrary<Members> {
  return optional(['type', 'function'], {
    type: fc.constant('function'),
    function: optional(['name'], {
      name: word,
      description: text,
      parameters: object,
      strict: fc.boolean(),
      ...unknownFields('x_function'),
    }),
    cache_control: cacheControl(),
    ...unknownFields('x_tool'),
  });
}

function nameOfTool(tool: Members): Json | undefined {
  const definition = tool['function'];
  return typeof definition === 'object' && definition !== null && 'name' in definition ? definition.name : undefined;
}

function responseFormat(): fc.Arbitrary<Members> {
  const schema = optional(['name'], {
    name: word,
    description: text,
    schema: object,
    strict: fc.boolean(),
    ...unknownFields('x_schema'),
  });
  return fc.oneof(
    optional(['type'], { type: fc.constantFrom('text', 'json_object', 'python'), ...unknownFields('x_format') }),
    optional(['type', 'json_schema'], {
      type: fc.constant('json_schema'),
      json_schema: schema,
      ...unknownFields('x_format'),
    }),
    optional(['type', 'grammar'], { type: fc.constant('grammar'), grammar: text }),
  );
}

function reasoning(): fc.Arbitrary<Members> {
  return optional([], {
    effort: fc.constantFrom('none', 'low', 'max'),
    summary: fc.constantFrom('auto', 'detailed'),
    max_tokens: fc.nat(),
    exclude: fc.boolean(),
    enabled: fc.boolean(),
    mode: fc.constantFrom('standard', 'pro'),
    context: fc.constantFrom('auto', 'all_turns'),
    ...unknownFields('x_reasoning'),
  });
}

function settings(): Record<string, fc.Arbitrary<Json>> {
  return {
    max_completion_tokens: fc.integer({ min: 1 }),
    temperature: decimal(0, 2),
    top_p: decimal(0, 1),
    top_k: fc.nat(),
    top_a: decimal(0, 1),
    min_p: decimal(0, 1),
    frequency_penalty: decimal(-2, 2),
    presence_penalty: decimal(-2, 2),
    repetition_penalty: decimal(0.1, 2),
    logit_bias: fc.dictionary(fc.nat().map(String), decimal(-100, 100), { maxKeys: 3 }),
    logprobs: fc.boolean(),
    stop: fc.array(text, { maxLength: 4 }),
    seed: fc.oneof(fc.integer(), longInteger),
    modalities: fc.subarray(['text', 'image']),
    parallel_tool_calls: fc.boolean(),
    prediction: optional(['type', 'content'], { type: fc.constant('content'), content: text, ...unknownFields('x') }),
    verbosity: fc.constantFrom('low', 'max'),
    service_tier: fc.constantFrom('auto', 'flex', 'priority', 'scale'),
    prompt_cache_key: word,
    prompt_cache_options: optional(['mode'], { mode: fc.constant('explicit'), ttl: word }),
    cache_control: cacheControl(),
    image_config: fc.dictionary(word, fc.oneof(text, fc.nat(), fc.array(anything, { maxLength: 2 })), {
      maxKeys: 2,
    }),
    audio: object,
    web_search_options: object,
  };
}

/** Without -0, which JSON writes as 0. */
function decimal(min: number, max: number): fc.Arbitrary<number> {
  return fc.double({ min, max, noNaN: true }).map((value) => (value === 0 ? 0 : value));
}
