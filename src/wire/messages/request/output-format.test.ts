import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationRequest, Settings, Tool, ToolChoice } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { chatRequest, decode, encode, target, user } from '../../../../tests/support/wire/messages/request.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'number' } } };
const NATIVE = target({ vendor: true, structuredOutput: true });
const PLAIN = target({ vendor: false, structuredOutput: false, thinking: 'budget' });
const OLD_VENDOR = target({ vendor: true, structuredOutput: false, thinking: 'budget' });
const JSON_TOOL = {
  name: 'json',
  description: 'Gives your whole response. Call it once, and write no text beside it.',
  input_schema: SCHEMA,
};
const FORCED = { type: 'tool', name: 'json', disable_parallel_tool_use: true };

function ask(settings: Settings = {}, more: Partial<GenerationRequest> = {}): GenerationRequest {
  const responseFormat = { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true } as const;
  return chatRequest([user('a')], { maxTokens: 8_000, responseFormat, ...settings }, more);
}

function own(name: string): Tool {
  return { type: 'function', name };
}

function namesOf(body: JsonObject): readonly unknown[] {
  return ((body['tools'] ?? []) as readonly JsonObject[]).map(({ name }) => name);
}

// @spec translate-22
test('sends a schema as output_config where the model has it', () => {
  const { body, headers, warnings, outputTool } = encode(ask(), NATIVE);
  assert.deepEqual(body['output_config'], {
    format: { type: 'json_schema', schema: { ...SCHEMA, additionalProperties: false } },
  });
  assert.deepEqual(headers, { 'anthropic-beta': 'structured-outputs-2025-11-13' });
  assert.equal(outputTool, undefined);
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['response_format.json_schema.name'],
  );
});

// @spec translate-24
test('removes what the vendor refuses from a schema of another format, and warns', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, pattern: '^a' },
      tags: { type: 'array', items: { type: 'object', additionalProperties: true }, maxItems: 3 },
      count: { type: ['integer', 'null'], minimum: 0 },
    },
  };
  const { body, warnings } = encode(ask({ responseFormat: { type: 'json_schema', schema } }), NATIVE);
  assert.deepEqual(body['output_config'], {
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: {
          name: { type: 'string', pattern: '^a' },
          tags: { type: 'array', items: { type: 'object', additionalProperties: false } },
          count: { type: ['integer', 'null'] },
        },
        additionalProperties: false,
      },
    },
  });
  assert.deepEqual(
    warnings.map(({ path, message }) => [path, message]),
    [['response_format', 'the model is not bound to minLength, additionalProperties, maxItems, minimum']],
  );
});

test('sends the schema of a messages caller as it is', () => {
  const format = {
    type: 'json_schema',
    schema: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } },
  };
  const wire = { max_tokens: 9, messages: [{ role: 'user', content: 'a' }], output_config: { format } };
  assert.deepEqual(encode(decode(wire), NATIVE).body['output_config'], { format });
});

test('sends output_config to a plain host that is listed with structured outputs, too', () => {
  const listed = { ...PLAIN, supportedParameters: new Set(['structured_outputs']) };
  assert.deepEqual(encode(ask(), listed).body['output_config'], { format: { type: 'json_schema', schema: SCHEMA } });
});

suite('elsewhere', () => {
  // @spec translate-22
  test('forces a tool whose input is the response', () => {
    const { body, outputTool, warnings } = encode(ask(), PLAIN);
    assert.deepEqual(body['tools'], [JSON_TOOL]);
    assert.deepEqual(body['tool_choice'], FORCED);
    assert.equal(body['output_config'], undefined);
    assert.equal(body['system'], undefined);
    assert.equal(outputTool, 'json');
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['response_format.json_schema.name'],
    );
  });

  test('streams its arguments piece by piece, and describes the response', () => {
    const responseFormat = { type: 'json_schema', schema: SCHEMA, description: 'A sum.' } as const;
    const { body } = encode(ask({ responseFormat }, { delivery: 'stream' }), OLD_VENDOR);
    assert.deepEqual(body['tools'], [
      { ...JSON_TOOL, description: `${JSON_TOOL.description} A sum.`, eager_input_streaming: true },
    ]);
  });

  for (const [when, toolChoice, choice] of [
    ['nothing', undefined, { type: 'any' }],
    ['auto', { type: 'auto' }, { type: 'any' }],
    ['none', { type: 'none' }, FORCED],
  ] as const)
    test(`is ${JSON.stringify(choice)} beside the caller's own tools and the choice ${when}`, () => {
      const originalRequest = ask(
        { ...(toolChoice && { toolChoice: toolChoice satisfies ToolChoice }) },
        { tools: [own('f')] },
      );
      const { body, outputTool } = encode(originalRequest, PLAIN);
      assert.deepEqual(namesOf(body), ['f', 'json']);
      assert.deepEqual(body['tool_choice'], choice);
      assert.equal(outputTool, 'json');
    });

  test("the caller's word on parallel calls stays", () => {
    const { body } = encode(ask({ parallelToolCalls: false }, { tools: [own('f')] }), PLAIN);
    assert.deepEqual(body['tool_choice'], { type: 'any', disable_parallel_tool_use: true });
  });

  for (const toolChoice of [{ type: 'required' }, { type: 'function', name: 'f' }] as const)
    test(`drops the response format beside a choice of ${toolChoice.type}`, () => {
      const { body, outputTool, warnings } = encode(ask({ toolChoice }, { tools: [own('f')] }), PLAIN);
      assert.deepEqual(namesOf(body), ['f']);
      assert.equal(outputTool, undefined);
      assert.ok(warnings.some(({ path }) => path === 'response_format'));
    });

  test("takes another name where the caller's tools have its own", () => {
    const { body, outputTool } = encode(ask({}, { tools: [own('json'), own('json_2')] }), PLAIN);
    assert.deepEqual(namesOf(body), ['json', 'json_2', 'json_3']);
    assert.equal(outputTool, 'json_3');
  });

  // @spec reasoning-11
  test('switches thinking off for it, and warns', () => {
    const { body, warnings } = encode(ask({ reasoning: { effort: 'high' } }), PLAIN);
    assert.equal(body['thinking'], undefined);
    assert.deepEqual(body['tool_choice'], FORCED);
    assert.ok(warnings.some(({ path }) => path === 'reasoning'));
  });

  for (const [what, request, to] of [
    ['no tools are taken', ask(), target(PLAIN.dialect, { supportedParameters: new Set(['response_format']) })],
    ['there is no schema', ask({ responseFormat: { type: 'json_schema' } }), PLAIN],
    [
      'the answer is no object',
      ask({ responseFormat: { type: 'json_schema', schema: { type: 'array', items: {} } } }),
      PLAIN,
    ],
    [
      'the schema is a choice at its root',
      ask({ responseFormat: { type: 'json_schema', schema: { anyOf: [SCHEMA, SCHEMA] } } }),
      PLAIN,
    ],
    [
      'the answer has begun',
      { ...ask(), turns: [user('a'), { role: 'assistant', blocks: [{ type: 'text', text: '{' }] }] },
      PLAIN,
    ],
  ] as const satisfies readonly (readonly [string, GenerationRequest, typeof PLAIN])[])
    test(`is requested by an instruction, with a warning, where ${what}`, () => {
      const { body, outputTool, warnings } = encode(request, to);
      assert.match(JSON.stringify(body['system']), /one JSON (?:object|value)/);
      assert.equal(body['tools'], undefined);
      assert.equal(outputTool, undefined);
      assert.ok(warnings.some(({ code, path }) => code === 'field-changed' && path === 'response_format'));
    });
});

// @spec translate-23
test('requests any JSON object by an instruction', () => {
  const { body } = encode(ask({ responseFormat: { type: 'json_object' } }), NATIVE);
  assert.match(JSON.stringify(body['system']), /JSON object/);
});

suite('a caller of this format', () => {
  const wire = {
    max_tokens: 8_000,
    messages: [{ role: 'user', content: 'a' }],
    output_config: { format: { type: 'json_schema', schema: SCHEMA } },
  };

  test('gets the same from a host that knows no structured output', () => {
    const { body, outputTool } = encode(decode(wire), PLAIN);
    assert.deepEqual(body['tools'], [JSON_TOOL]);
    assert.deepEqual(body['tool_choice'], FORCED);
    assert.equal(body['output_config'], undefined);
    assert.equal(outputTool, 'json');
  });

  test('has its own settings passed on to an unknown one', () => {
    assert.deepEqual(encode(decode(wire), target()).body['output_config'], wire.output_config);
  });

  test('keeps its thinking: the tool is then offered and requested, not forced', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    const { body, outputTool, warnings } = encode(decode({ ...wire, thinking }), OLD_VENDOR);
    assert.deepEqual(body['thinking'], thinking);
    assert.deepEqual(namesOf(body), ['json']);
    assert.equal(body['tool_choice'], undefined);
    assert.match(JSON.stringify(body['system']), /the tool \\"json\\"/);
    assert.equal(outputTool, 'json');
    assert.deepEqual(warnings, []);
  });
});
