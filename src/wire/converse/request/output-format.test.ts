import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { lowerSchema } from './schema-lowering.ts';
import {
  CLAUDE,
  encodeChat,
  encodeMessages,
  model,
  type Encoded,
} from '../../../../tests/support/wire/converse/request.ts';
import { textOf } from '../../json-fields.ts';

const GO: JsonObject = { role: 'user', content: 'go' };
const SCHEMA: JsonObject = {
  type: 'object',
  properties: { age: { type: 'integer', minimum: 0 }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['age'],
};
const WANTED: JsonObject = { type: 'json_schema', json_schema: { name: 'person', description: 'who', schema: SCHEMA } };
const PLAIN = model({});
const TOOL: JsonObject = { type: 'function', function: { name: 'json', parameters: { type: 'object' } } };

function ask(response_format: Json, dialect = PLAIN, more: JsonObject = {}): Encoded {
  return encodeChat({ messages: [GO], response_format, ...more }, dialect);
}
function toolsOf({ body }: Encoded): readonly JsonObject[] {
  return (body['toolConfig'] as JsonObject | undefined)?.['tools'] as readonly JsonObject[];
}

test('sends the schema as text, closed and without refused keywords, to a model with structured output', () => {
  const { body, warned, outputTool } = ask(WANTED, CLAUDE);
  const schema =
    '{"type":"object","properties":{"age":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}},' +
    '"required":["age"],"additionalProperties":false}';
  assert.deepEqual(body['outputConfig'], {
    textFormat: { type: 'json_schema', structure: { jsonSchema: { schema, name: 'person', description: 'who' } } },
  });
  assert.deepEqual(warned, ['field-changed response_format']);
  assert.equal(outputTool, undefined);
});

test('closes schemas at every depth, and warns of constraints that no longer bind', () => {
  const { schema, dropped } = lowerSchema({
    type: 'object',
    additionalProperties: { type: 'string' },
    properties: {
      minimum: { type: 'number', minimum: 1, multipleOf: 2, description: 'kept' },
      list: { type: 'array', minItems: 3, maxItems: 9, items: { $ref: '#/$defs/one' } },
      few: { type: 'array', minItems: 1, items: { type: 'object', properties: {} } },
      text: { type: 'string', default: { type: 'object' }, enum: ['minimum'] },
    },
    $defs: {
      one: {
        anyOf: [
          { type: 'object', additionalProperties: false },
          { type: 'integer', maximum: 3 },
        ],
      },
    },
  });
  assert.deepEqual(schema, {
    type: 'object',
    additionalProperties: false,
    properties: {
      minimum: { type: 'number', description: 'kept' },
      list: { type: 'array', items: { $ref: '#/$defs/one' } },
      few: { type: 'array', minItems: 1, items: { type: 'object', properties: {}, additionalProperties: false } },
      text: { type: 'string', default: { type: 'object' }, enum: ['minimum'] },
    },
    $defs: { one: { anyOf: [{ type: 'object', additionalProperties: false }, { type: 'integer' }] } },
  });
  assert.deepEqual([...dropped].toSorted(), [
    'additionalProperties',
    'maxItems',
    'maximum',
    'minItems',
    'minimum',
    'multipleOf',
  ]);
});

test('other models are made to call a tool that takes the response', () => {
  const encoded = ask(WANTED);
  assert.equal(encoded.outputTool, 'json');
  assert.deepEqual(encoded.body['toolConfig'], {
    tools: [
      {
        toolSpec: {
          name: 'json',
          description: 'Gives your whole response. Call it once, and write no text beside it. who',
          inputSchema: { json: SCHEMA },
        },
      },
    ],
    toolChoice: { tool: { name: 'json' } },
  });
  assert.deepEqual(encoded.warned, []);
});

test('gives the response’s tool a name of its own beside tools of the caller, and one of all must be called', () => {
  const encoded = ask(WANTED, PLAIN, { tools: [TOOL] });
  assert.equal(encoded.outputTool, 'json_2');
  assert.deepEqual(
    toolsOf(encoded).map(({ toolSpec }) => (toolSpec as JsonObject)['name']),
    ['json', 'json_2'],
  );
  assert.deepEqual((encoded.body['toolConfig'] as JsonObject)['toolChoice'], { any: {} });
  const unnamed = ask(WANTED, model({ forces: ['any'] }));
  assert.deepEqual((unnamed.body['toolConfig'] as JsonObject)['toolChoice'], { any: {} });
});

test('limits calls to one at a time with the tool of the response, too', () => {
  const old = { ...CLAUDE, structuredOutput: false };
  const { body } = ask(WANTED, old, { tools: [TOOL], parallel_tool_calls: false });
  assert.equal((body['toolConfig'] as JsonObject)['toolChoice'], undefined);
  assert.deepEqual(body['additionalModelRequestFields'], {
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  });
});

test('sends an instruction to a model that cannot be forced to call a tool', () => {
  const words = /^Answer with one JSON object.*valid for this JSON Schema \(who\):\n\{"type":"object"/s;
  const array: JsonObject = {
    type: 'json_schema',
    json_schema: { name: 'l', description: 'who', schema: { anyOf: [{ type: 'object' }] } },
  };
  for (const encoded of [
    ask(WANTED, model({ forces: [] })),
    ask(WANTED, model({ refusesTools: true })),
    encodeChat({ messages: [GO, { role: 'assistant', content: '{' }], response_format: WANTED }, PLAIN),
  ]) {
    const [instruction] = encoded.body['system'] as readonly JsonObject[];
    assert.match(textOf(instruction?.['text']) ?? '', words);
    assert.deepEqual(encoded.warned, ['field-changed response_format']);
    assert.equal(encoded.outputTool, undefined);
    assert.equal(encoded.body['toolConfig'], undefined);
  }
  assert.match(JSON.stringify(ask(array).body['system']), /"anyOf/);
});

// @spec translate-23
test('requests any JSON object by an instruction', () => {
  const { body, warned } = ask({ type: 'json_object' }, CLAUDE);
  assert.deepEqual(body['system'], [
    { text: 'Answer with one JSON object and nothing else: no prose around it, no code fence.' },
  ]);
  assert.deepEqual(warned, []);
});

test('drops a response format that cannot be had, with a warning', () => {
  assert.deepEqual(ask({ type: 'text' }).warned, []);
  assert.deepEqual(ask({ type: 'grammar', grammar: 'x' }).warned, ['field-dropped response_format']);
  assert.deepEqual(ask(WANTED, PLAIN, { tools: [TOOL], tool_choice: 'required' }).warned, [
    'field-dropped response_format',
  ]);
  const unlisted = encodeChat({ messages: [GO], response_format: WANTED }, CLAUDE, {
    supportedParameters: new Set(['tools']),
  });
  assert.deepEqual([unlisted.warned, unlisted.body['outputConfig']], [['field-dropped response_format'], undefined]);
});

test('does not force a Claude that is to think to call the tool of the response', () => {
  const encoded = encodeMessages(
    {
      max_tokens: 4000,
      messages: [GO],
      thinking: { type: 'enabled', budget_tokens: 2000 },
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    },
    { ...CLAUDE, structuredOutput: false },
  );
  assert.equal(encoded.outputTool, 'json');
  assert.equal((encoded.body['toolConfig'] as JsonObject)['toolChoice'], undefined);
  assert.deepEqual(encoded.body['system'], [{ text: 'Give your response by a call of the tool "json", not as text.' }]);
  assert.deepEqual(encoded.body['additionalModelRequestFields'], {
    thinking: { type: 'enabled', budget_tokens: 2000 },
  });
});

test('switches thinking of a chat request off when a Claude is forced to call the tool of the response', () => {
  const { body, warned, outputTool } = ask(
    WANTED,
    { ...CLAUDE, structuredOutput: false },
    { reasoning: { effort: 'low' }, max_tokens: 9000 },
  );
  assert.equal(outputTool, 'json');
  assert.equal(body['additionalModelRequestFields'], undefined);
  assert.deepEqual(warned, ['field-dropped reasoning']);
});
