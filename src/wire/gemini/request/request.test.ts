import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json } from '../../../lib/json.ts';
import { decodeChatText } from '../../../../tests/support/wire/chat/request.ts';
import { encodeRequest } from './request.ts';
import {
  encodeChat,
  encoded,
  encodeOfMessages,
  SECOND,
  targetOf,
  THIRD,
  tool,
} from '../../../../tests/support/wire/gemini/request.ts';

// @spec chat-43
test('sends no unset option of a plain request', () => {
  const { body, headers, warnings } = encodeChat({});
  assert.deepEqual(body, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  assert.deepEqual([headers, warnings], [{}, []]);
});

test('whether the response is streamed is said by the path, not by the body', () => {
  assert.deepEqual(encodeChat({ stream: true }).body, encodeChat({}).body);
});

test('sends sampling under the names of the format', () => {
  const requested = {
    max_tokens: 300,
    temperature: 0.2,
    top_p: 0.9,
    top_k: 40,
    frequency_penalty: 0.5,
    presence_penalty: -0.5,
    seed: 7,
    stop: ['END'],
    logprobs: true,
    top_logprobs: 3,
  };
  const { config, warnings } = encodeChat(requested, SECOND);
  assert.deepEqual(config, {
    maxOutputTokens: 300,
    temperature: 0.2,
    topP: 0.9,
    topK: 40,
    stopSequences: ['END'],
    seed: 7,
    frequencyPenalty: 0.5,
    presencePenalty: -0.5,
    responseLogprobs: true,
    logprobs: 3,
  });
  assert.deepEqual(warnings, []);
});

test('omits settings that a newer model refuses, with a warning', () => {
  const requested = { frequency_penalty: 0.5, presence_penalty: 0.1, logprobs: true };
  const { config, warnings } = encodeChat(requested);
  assert.deepEqual(config, {});
  assert.deepEqual(warnings, [
    'field-dropped frequency_penalty',
    'field-dropped presence_penalty',
    'field-dropped logprobs',
  ]);
});

test('omits settings that a model ignores', () => {
  const { config, warnings } = encodeChat({ temperature: 0, top_p: 1, top_k: 5 }, targetOf({ fixedSampling: true }));
  assert.deepEqual(config, {});
  assert.deepEqual(warnings, ['field-dropped temperature', 'field-dropped top_p', 'field-dropped top_k']);
});

test('top_k 0 is "off", which is said by silence', () => {
  const { config, warnings } = encodeChat({ top_k: 0 });
  assert.deepEqual([config, warnings], [{}, []]);
});

test('omits settings that the endpoint does not list', () => {
  const listed = targetOf({}, { supportedParameters: new Set(['temperature', 'max_tokens']) });
  const { body, config, warnings } = encodeChat(
    { temperature: 1, top_k: 3, seed: 1, tools: [tool('f')], response_format: { type: 'json_object' } },
    listed,
  );
  assert.deepEqual(config, { temperature: 1 });
  assert.equal(body['tools'], undefined);
  assert.deepEqual(warnings, [
    'field-dropped tools',
    'field-dropped response_format',
    'field-dropped top_k',
    'field-dropped seed',
  ]);
});

test('requests no longer response than the endpoint gives', () => {
  const { config, warnings } = encodeChat({ max_tokens: 9_000 }, targetOf({}, { maxOutputTokens: 8_192 }));
  assert.deepEqual(config, { maxOutputTokens: 8_192 });
  assert.deepEqual(warnings, ['field-changed max_tokens']);
});

// @spec translate-12
test('sends five stop sequences, none of them empty, and warns under the path of the caller', () => {
  const { config, warnings } = encodeOfMessages({ stop_sequences: ['1', '2', '3', '4', '5', '6'] });
  assert.deepEqual(config['stopSequences'], ['1', '2', '3', '4', '5']);
  assert.deepEqual(warnings, ['field-changed stop_sequences']);
});

for (const [seed, expected] of [
  ['2147483647', 2_147_483_647],
  ['-5', -5],
  ['2147483648', -2_147_483_648],
  ['12345678901234567890', -350_287_150],
] as const) {
  test(`sends the seed ${seed} in 32 bits, always the same`, () => {
    const text = `{"model":"acme/one","messages":[{"role":"user","content":"Hi"}],"seed":${seed}}`;
    const { config, warnings } = encoded(encodeRequest(decodeChatText(text), THIRD));
    assert.equal(config['seed'], expected);
    assert.deepEqual(warnings, String(expected) === seed ? [] : ['field-changed seed']);
  });
}

test('warns of settings that the format cannot express', () => {
  const { body, config, warnings } = encodeChat({
    min_p: 0.1,
    top_a: 0.1,
    repetition_penalty: 1.1,
    logit_bias: { '5': 1 },
    verbosity: 'low',
    parallel_tool_calls: false,
    prompt_cache_key: 'k',
    safe_prompt: true,
  });
  assert.deepEqual(Object.keys(body), ['contents']);
  assert.deepEqual(config, {});
  assert.deepEqual(warnings.toSorted(), [
    'field-dropped logit_bias',
    'field-dropped min_p',
    'field-dropped parallel_tool_calls',
    'field-dropped prompt_cache_key',
    'field-dropped repetition_penalty',
    'field-dropped safe_prompt',
    'field-dropped top_a',
    'field-dropped verbosity',
  ]);
});

test('marks for the cache are left out, as the vendor keeps prefixes by itself; beta flags too', () => {
  const content = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }];
  const { parts, warnings } = encodeOfMessages({ messages: [{ role: 'user', content }] });
  assert.deepEqual(parts, [{ text: 'Hi' }]);
  assert.deepEqual(warnings, ['field-dropped messages[0].content[0].cache_control']);
});

suite('the tier', () => {
  for (const [requested, inBody, inHeader] of [
    ['priority', 'priority', 'priority'],
    ['flex', 'flex', 'flex'],
    ['default', 'standard', undefined],
    ['auto', undefined, undefined],
  ] as const) {
    test(`${requested} is named where the host looks for it`, () => {
      const own = encodeChat({ service_tier: requested });
      assert.deepEqual([own.body['serviceTier'], own.headers], [inBody, {}]);
      const cloud = encodeChat({ service_tier: requested }, targetOf({ tierIn: 'header' }));
      assert.equal(cloud.body['serviceTier'], undefined);
      assert.equal(cloud.headers['x-vertex-ai-llm-shared-request-type'], inHeader);
      assert.deepEqual([...own.warnings, ...cloud.warnings], []);
    });
  }

  test('is left out with a warning where the format does not have it', () => {
    assert.deepEqual(encodeChat({ service_tier: 'scale' }).warnings, ['field-dropped service_tier']);
  });
});

suite('output besides text', () => {
  test('is requested by the settings of the format', () => {
    const { config, warnings } = encodeChat({
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '16:9', image_size: '2K', strength: 1 },
    });
    assert.deepEqual(config, {
      responseModalities: ['IMAGE', 'TEXT'],
      imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
    });
    assert.deepEqual(warnings, ['field-dropped image_config.strength']);
  });

  test('may be speech, of which the voice can be chosen', () => {
    const { config, warnings } = encodeChat({
      modalities: ['audio'],
      audio: { voice: 'Kore', format: 'pcm16' },
      stream: true,
    });
    assert.deepEqual(config, {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
    assert.deepEqual(warnings, ['field-dropped audio.format']);
  });

  test('requests sound alone, whatever else is requested, and sends a voice only with sound', () => {
    const audio = { voice: 'Kore' };
    const spoken = encodeChat({ modalities: ['text', 'audio'], audio, stream: true });
    assert.deepEqual(spoken.config, {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
    assert.deepEqual(spoken.warnings, ['field-changed modalities']);
    const written = encodeChat({ modalities: ['text'], audio });
    assert.deepEqual(written.config, { responseModalities: ['TEXT'] });
    assert.deepEqual(written.warnings, ['field-dropped audio']);
    assert.deepEqual(encodeChat({ audio }).warnings, ['field-dropped audio']);
  });
});

suite('the form of the response', () => {
  const schema = {
    type: 'object',
    properties: { kind: { const: 'a' } },
    required: ['kind'],
    additionalProperties: false,
  };
  const requested: Json = { type: 'json_schema', json_schema: { name: 'kinds', strict: true, schema } };

  test('is a JSON Schema where the model takes one', () => {
    const { config, warnings } = encodeChat({ response_format: requested });
    assert.deepEqual(config, {
      responseMimeType: 'application/json',
      responseJsonSchema: { ...schema, properties: { kind: { enum: ['a'] } } },
    });
    assert.deepEqual(warnings, []);
  });

  test('is the lowered schema where it does not', () => {
    const { config } = encodeChat({ response_format: requested }, SECOND);
    assert.deepEqual(config, {
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'OBJECT',
        properties: { kind: { type: 'STRING', format: 'enum', enum: ['a'] } },
        required: ['kind'],
        propertyOrdering: ['kind'],
      },
    });
  });

  test('may be any JSON', () => {
    assert.deepEqual(encodeChat({ response_format: { type: 'json_object' } }).config, {
      responseMimeType: 'application/json',
    });
  });

  test('is requested by an instruction after those of the caller, where the model refuses it beside tools', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ];
    const both = { messages, tools: [tool('f')], response_format: requested };
    const { body, config, warnings } = encodeChat(both, SECOND);
    assert.deepEqual(config, {});
    assert.match(
      JSON.stringify(body['systemInstruction']),
      /"Be brief\.\\n\\nAnswer with one JSON object .*\\"const\\":\\"a\\"/,
    );
    assert.deepEqual(warnings, ['field-changed response_format']);
    const third = encodeChat(both);
    assert.equal(third.config['responseMimeType'], 'application/json');
    assert.deepEqual(third.warnings, []);
  });

  test('is the same for a messages caller', () => {
    const { config, warnings } = encodeOfMessages({ output_config: { format: { type: 'json_schema', schema } } });
    assert.equal(config['responseMimeType'], 'application/json');
    assert.notEqual(config['responseJsonSchema'], undefined);
    assert.deepEqual(warnings, []);
  });
});
