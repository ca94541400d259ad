import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { encodeRequest } from './request-out.ts';
import { decodeChatText } from '../../../../tests/support/wire/chat/request.ts';
import {
  encodeChat,
  encodeOfMessages,
  PLAIN,
  REASONER,
  tool,
  upstream,
} from '../../../../tests/support/wire/responses/request.ts';

/** The tools and what is said about them. */
function toolsOf(body: JsonObject) {
  const { tools, tool_choice, parallel_tool_calls } = body;
  return { tools, tool_choice, parallel_tool_calls };
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const WEATHER = { type: 'function', name: 'weather', description: 'Does weather', parameters: SCHEMA, strict: false };

suite('the smallest request', () => {
  // @spec chat-43
  test('has a model and an input, and no unset option', () => {
    assert.deepEqual(encodeChat({}), {
      body: { model: 'upstream-model', input: [{ type: 'message', role: 'user', content: 'Hello' }] },
      input: [{ type: 'message', role: 'user', content: 'Hello' }],
      warnings: [],
      toolNames: undefined,
    });
  });

  // @spec reasoning-14
  test('tells a vendor that stores responses not to keep this one, and requests sealed reasoning', () => {
    const { input: _input, ...rest } = encodeChat({ stream: true }, REASONER).body;
    assert.deepEqual(rest, {
      model: 'upstream-model',
      include: ['reasoning.encrypted_content'],
      safety_identifier: 'hash-of-user',
      store: false,
      stream: true,
    });
  });

  test('requests no encrypted reasoning that the caller would not get', () => {
    const { body } = encodeChat({ reasoning: { effort: 'low', exclude: true } }, REASONER);
    assert.equal(body['include'], undefined);
    assert.deepEqual(body['reasoning'], { effort: 'low' });
  });
});

suite('sampling', () => {
  test('temperature and top_p go to a model that does not reason', () => {
    const { body, warnings } = encodeChat({ temperature: 0.5, top_p: 0.9, max_tokens: 100 });
    assert.deepEqual([body['temperature'], body['top_p'], body['max_output_tokens']], [0.5, 0.9, 100]);
    assert.deepEqual(warnings, []);
  });

  test('are left out with a warning while the model reasons, and sent when reasoning is off', () => {
    const { body, warnings } = encodeChat({ temperature: 0.5, top_p: 0.9 }, REASONER);
    assert.deepEqual([body['temperature'], body['top_p']], [undefined, undefined]);
    assert.deepEqual(warnings, ['field-dropped temperature', 'field-dropped top_p']);
    const target = upstream({ ...REASONER.dialect, reasoningEfforts: ['none', 'low'] });
    assert.equal(encodeChat({ temperature: 0.5, reasoning: { effort: 'none' } }, target).body['temperature'], 0.5);
  });

  test('omits options that the endpoint does not list or the model refuses, with a warning', () => {
    const listed = upstream({}, { supportedParameters: new Set(['max_tokens']) });
    const requested = { verbosity: 'low', logprobs: true, tools: [tool('weather')], reasoning: { effort: 'low' } };
    const { body, warnings } = encodeChat(requested, listed);
    assert.deepEqual(Object.keys(body), ['model', 'input']);
    assert.deepEqual(warnings.toSorted(), [
      'field-dropped logprobs',
      'field-dropped reasoning',
      'field-dropped tools',
      'field-dropped verbosity',
    ]);
    const refusing = upstream({ refused: new Set(['temperature']) });
    assert.deepEqual(encodeChat({ temperature: 0.5 }, refusing).warnings, ['field-dropped temperature']);
  });

  test('more output than the endpoint writes is cut to what it writes', () => {
    const { body, warnings } = encodeChat({ max_tokens: 9_000 }, upstream({}, { maxOutputTokens: 4_096 }));
    assert.equal(body['max_output_tokens'], 4_096);
    assert.deepEqual(warnings, ['field-changed max_tokens']);
  });

  // @spec translate-12
  test('warns of each setting that the format cannot express', () => {
    const { body, warnings } = encodeChat({
      stop: ['END'],
      seed: 7,
      top_k: 40,
      min_p: 0.1,
      top_a: 0.2,
      frequency_penalty: 0.5,
      presence_penalty: 0.5,
      repetition_penalty: 1.1,
      logit_bias: { '50': -1 },
      prediction: { type: 'content', content: 'x' },
    });
    assert.deepEqual(Object.keys(body), ['model', 'input']);
    assert.deepEqual(
      warnings.toSorted(),
      [
        'stop',
        'seed',
        'top_k',
        'top_a',
        'min_p',
        'frequency_penalty',
        'presence_penalty',
        'repetition_penalty',
        'logit_bias',
        'prediction',
      ]
        .map((name) => `field-dropped ${name}`)
        .toSorted(),
    );
  });

  test('warnings name what callers of the messages format wrote', () => {
    const { warnings } = encodeOfMessages({ stop_sequences: ['END'], top_k: 4 });
    assert.deepEqual(warnings.toSorted(), ['field-dropped stop_sequences', 'field-dropped top_k']);
  });

  test('requests log probabilities by `include`', () => {
    const { body } = encodeChat({ logprobs: true, top_logprobs: 3 });
    assert.deepEqual([body['include'], body['top_logprobs']], [['message.output_text.logprobs'], 3]);
    assert.equal(body['logprobs'], undefined);
    const { warnings } = encodeChat({ logprobs: true, top_logprobs: 3 }, REASONER);
    assert.deepEqual(warnings, ['field-dropped top_logprobs', 'field-dropped logprobs']);
  });
});

suite('reasoning', () => {
  const reasoning = (requested: JsonObject, target = REASONER) => {
    const { body, warnings } = encodeChat({ reasoning: requested }, target);
    return [body['reasoning'], warnings];
  };

  test('sends the requested effort, or the nearest that the model knows, with a warning', () => {
    assert.deepEqual(reasoning({ effort: 'low' }), [{ effort: 'low' }, []]);
    assert.deepEqual(reasoning({ effort: 'xhigh' }), [{ effort: 'high' }, ['field-changed reasoning.effort']]);
  });

  test('does not switch reasoning off for a model that always reasons', () => {
    assert.deepEqual(reasoning({ effort: 'none' }), [undefined, ['field-dropped reasoning.effort']]);
    assert.deepEqual(reasoning({ enabled: false }), [undefined, ['field-dropped reasoning.effort']]);
    const any = upstream({ reasoningEfforts: ['none', 'low'] });
    assert.deepEqual(reasoning({ enabled: false }, any), [{ effort: 'none' }, []]);
  });

  test('maps a budget to an effort by its share of the response', () => {
    const { body } = encodeChat({ max_tokens: 10_000, reasoning: { max_tokens: 1_900 } }, REASONER);
    assert.deepEqual(body['reasoning'], { effort: 'low' });
    assert.deepEqual(reasoning({ max_tokens: 1_900 }), [{ effort: 'medium' }, []]);
  });

  test('sends no reasoning settings to a model that does not reason', () => {
    const none = upstream({ reasoningSettings: 'none' });
    assert.deepEqual(reasoning({ effort: 'high' }, none), [undefined, ['field-dropped reasoning']]);
    assert.deepEqual(reasoning({ effort: 'none' }, none), [undefined, []]);
  });

  test('requests a summary only where the caller does', () => {
    assert.deepEqual(reasoning({ effort: 'low', summary: 'detailed' }), [{ effort: 'low', summary: 'detailed' }, []]);
    const picky = upstream({ reasoningSummaries: ['auto'] });
    assert.deepEqual(reasoning({ summary: 'concise' }, picky), [
      { summary: 'auto' },
      ['field-changed reasoning.summary'],
    ]);
    const mute = upstream({ reasoningSummaries: [] });
    assert.deepEqual(reasoning({ summary: 'concise' }, mute), [undefined, ['field-dropped reasoning.summary']]);
  });

  // @spec messages-8
  test('summarized thinking of a messages caller is a summary, and a budget of theirs an effort', () => {
    const requested = { type: 'enabled', budget_tokens: 2_000, display: 'summarized' };
    const { body, warnings } = encodeOfMessages({ thinking: requested }, REASONER);
    assert.deepEqual(body['reasoning'], { effort: 'medium', summary: 'auto' });
    assert.deepEqual(warnings, []);
    assert.deepEqual(encodeOfMessages({ thinking: { type: 'adaptive' } }, REASONER).body['reasoning'], {
      effort: 'medium',
    });
  });

  // @spec reasoning-1
  test('modes and contexts go to models that take them', () => {
    const requested = { effort: 'low', mode: 'pro', context: 'all_turns' };
    const able = upstream({ reasoningModes: true, reasoningContexts: ['auto', 'all_turns'] });
    assert.deepEqual(reasoning(requested, able), [{ effort: 'low', mode: 'pro', context: 'all_turns' }, []]);
    assert.deepEqual(reasoning(requested), [
      { effort: 'low' },
      ['field-dropped reasoning.mode', 'field-dropped reasoning.context'],
    ]);
  });
});

suite('the form of the response', () => {
  const SHAPE = { name: 'place', schema: SCHEMA, strict: true, description: 'A place' };

  test('sends a schema below text, flat', () => {
    const { body } = encodeChat({ response_format: { type: 'json_schema', json_schema: SHAPE } });
    assert.deepEqual(body['text'], { format: { type: 'json_schema', ...SHAPE } });
    assert.deepEqual(encodeChat({ response_format: { type: 'json_object' } }).body['text'], {
      format: { type: 'json_object' },
    });
  });

  // @spec messages-9
  test('names the schema of a messages caller, as the format demands', () => {
    const { body } = encodeOfMessages({ output_config: { format: { type: 'json_schema', schema: SCHEMA } } });
    const { text } = body;
    assert.match(JSON.stringify(text), /^\{"format":\{"type":"json_schema","name":"response","schema":/);
  });

  test('warns of a response format that the endpoint does not know', () => {
    const { body, warnings } = encodeChat({ response_format: { type: 'grammar', grammar: 'root ::= "x"' } });
    assert.equal(body['text'], undefined);
    assert.deepEqual(warnings, ['field-dropped response_format']);
    const format = { type: 'json_schema', schema: SCHEMA };
    const target = upstream({}, { supportedParameters: new Set(['max_tokens']) });
    assert.deepEqual(encodeOfMessages({ output_config: { format } }, target).warnings, [
      'field-dropped output_config.format',
    ]);
  });

  test('verbosity stands beside it, at most high', () => {
    assert.deepEqual(encodeChat({ verbosity: 'low' }).body['text'], { verbosity: 'low' });
    const { body, warnings } = encodeChat({ verbosity: 'max' });
    assert.deepEqual(body['text'], { verbosity: 'high' });
    assert.deepEqual(warnings, ['field-changed verbosity']);
    assert.deepEqual(encodeChat({ verbosity: 'low' }, upstream({ textVerbosity: false })).warnings, [
      'field-dropped verbosity',
    ]);
  });
});

suite('tools', () => {
  test('are flat, and never strict unless the caller said so', () => {
    const { body } = encodeChat({ tools: [tool('weather'), tool('now', { strict: true, parameters: undefined })] });
    assert.deepEqual(body['tools'], [
      WEATHER,
      {
        type: 'function',
        name: 'now',
        description: 'Does now',
        parameters: { type: 'object', properties: {} },
        strict: true,
      },
    ]);
  });

  test('numbers of their schemas stay as the caller wrote them', () => {
    const text =
      '{"model":"acme/one","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":' +
      '{"name":"f","parameters":{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890}}}}}]}';
    assert.match(JSON.stringify(encodeRequest(decodeChatText(text), PLAIN).body), /"maximum":12345678901234567890/);
  });

  // @spec translate-18
  test('names the function of a choice as this format does', () => {
    const tools = [tool('weather'), tool('now')];
    for (const choice of ['auto', 'none', 'required'])
      assert.equal(encodeChat({ tools, tool_choice: choice }).body['tool_choice'], choice);
    const named = { type: 'function', function: { name: 'now' } };
    assert.deepEqual(encodeChat({ tools, tool_choice: named }).body['tool_choice'], { type: 'function', name: 'now' });
    assert.equal(
      encodeOfMessages({ tools: [{ name: 'f', input_schema: SCHEMA }], tool_choice: { type: 'any' } }).body[
        'tool_choice'
      ],
      'required',
    );
  });

  test('names the type of a provider-native tool in a choice, where that may be forced', () => {
    const request: GenerationRequest = {
      ...decodeChatText('{"model":"acme/one","messages":[{"role":"user","content":"Hi"}]}'),
      tools: [{ type: 'opaque', format: 'responses', value: { type: 'web_search' } }],
      settings: { toolChoice: { type: 'opaque', format: 'responses', value: { type: 'web_search' } } },
    };
    const forced = encodeRequest(request, upstream({ forcesOwnTools: true }));
    assert.deepEqual(forced.body['tool_choice'], { type: 'web_search' });
    const left = encodeRequest(request, upstream({}));
    assert.deepEqual([left.body['tool_choice'], left.body['tools']], [undefined, [{ type: 'web_search' }]]);
    assert.deepEqual(
      left.warnings.map(({ path }) => path),
      ['tool_choice'],
    );
  });

  test('sends a choice among some of them flat, too', () => {
    const tools = [tool('weather'), tool('now')];
    const choice = {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'now' } }] },
    };
    assert.deepEqual(encodeChat({ tools, tool_choice: choice }).body['tool_choice'], {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'now' }],
    });
  });

  test('parallel calls can be forbidden, by either caller', () => {
    assert.deepEqual(toolsOf(encodeChat({ tools: [tool('weather')], parallel_tool_calls: false }).body), {
      tools: [WEATHER],
      tool_choice: undefined,
      parallel_tool_calls: false,
    });
    const choice = { type: 'auto', disable_parallel_tool_use: true };
    const { body } = encodeOfMessages({ tools: [{ name: 'f', input_schema: SCHEMA }], tool_choice: choice });
    assert.equal(body['parallel_tool_calls'], false);
  });

  test('sends no options of tools without tools', () => {
    const { body, warnings } = encodeChat({ tool_choice: 'auto', parallel_tool_calls: true });
    assert.deepEqual(toolsOf(body), { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined });
    assert.deepEqual(warnings, ['field-dropped tool_choice', 'field-dropped parallel_tool_calls']);
  });

  test('maps a name that the format refuses, and back', () => {
    const name = 'weather_'.repeat(12);
    const { body, toolNames } = encodeOfMessages({
      tools: [{ name, input_schema: SCHEMA }],
      tool_choice: { type: 'tool', name },
    });
    const [sent] = toolNames?.keys() ?? [];
    assert.match(sent ?? '', /^[\w-]{1,64}$/);
    assert.equal(toolNames?.get(sent ?? ''), name);
    assert.deepEqual(body['tool_choice'], { type: 'function', name: sent });
  });

  test('omits a tool of another vendor, with a warning', () => {
    const { body, warnings } = encodeOfMessages({ tools: [{ type: 'bash_20250124', name: 'bash' }] });
    assert.equal(body['tools'], undefined);
    assert.deepEqual(warnings, ['field-dropped tools[0]']);
  });

  test('search options become the vendor’s own search, where it has one', () => {
    const place = { type: 'approximate', approximate: { city: 'Kyōto' } };
    const web_search_options = { search_context_size: 'low', user_location: place };
    assert.deepEqual(encodeChat({ web_search_options }, REASONER).body['tools'], [
      { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Kyōto' } },
    ]);
    assert.deepEqual(encodeChat({ web_search_options }).warnings, ['field-dropped web_search_options']);
  });

  // @spec chat-42
  test('generates an image by a tool', () => {
    const requested = { modalities: ['text', 'image'], image_config: { quality: 'low' } };
    assert.deepEqual(encodeChat(requested, REASONER).body['tools'], [{ type: 'image_generation', quality: 'low' }]);
    assert.deepEqual(encodeChat(requested).warnings, ['field-dropped modalities', 'field-dropped image_config']);
  });
});

suite('service', () => {
  test('requests a tier that the model has, and warns of another', () => {
    const target = upstream({ serviceTiers: ['auto', 'default', 'flex'] });
    assert.equal(encodeChat({ service_tier: 'flex' }, target).body['service_tier'], 'flex');
    assert.deepEqual(encodeChat({ service_tier: 'priority' }, target).warnings, ['field-dropped service_tier']);
    assert.equal(encodeChat({ service_tier: 'priority' }).body['service_tier'], 'priority');
  });

  // @spec prompt-cache-7
  test('sends the cache key anywhere, and its options where breakpoints are known', () => {
    const requested = { prompt_cache_key: 'k', prompt_cache_options: { mode: 'explicit' } };
    const { body } = encodeChat(requested, REASONER);
    assert.deepEqual([body['prompt_cache_key'], body['prompt_cache_options']], ['k', { mode: 'explicit' }]);
    assert.deepEqual(encodeChat(requested).warnings, ['field-dropped prompt_cache_options']);
  });

  test('sends no directives of the gateway', () => {
    const { body } = encodeChat({
      provider: { order: ['openai'] },
      models: ['a/b'],
      transforms: [],
      usage: { include: true },
    });
    assert.deepEqual(Object.keys(body), ['model', 'input']);
  });

  test('warns of unknown members', () => {
    assert.deepEqual(encodeChat({ frobnicate: 1 }).warnings, ['field-dropped frobnicate']);
  });
});
