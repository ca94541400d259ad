import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf } from '../../json-fields.ts';
import {
  encodeChat,
  encodeOfMessages,
  pastCall,
  SECOND,
  targetOf,
  tool,
  type Encoded,
} from '../../../../tests/support/wire/gemini/request.ts';
import { geminiToolName } from './tool-names.ts';

function declarationsOf({ body }: Encoded): readonly JsonObject[] {
  return objectsOf(objectsOf(body['tools'])[0]?.['functionDeclarations']);
}

function choiceOf({ body }: Encoded): JsonObject | undefined {
  return objectOf(objectOf(body['toolConfig'])?.['functionCallingConfig']);
}

suite('functions', () => {
  test('are declared together, with JSON Schema where the model takes it', () => {
    const encoded = encodeChat({ tools: [tool('a'), tool('b')] });
    assert.deepEqual(declarationsOf(encoded), [
      { name: 'a', description: 'Does a', parametersJsonSchema: schemaOf('a') },
      { name: 'b', description: 'Does b', parametersJsonSchema: schemaOf('b') },
    ]);
    assert.equal(objectsOf(encoded.body['tools']).length, 1);
    assert.deepEqual(encoded.warnings, []);
  });

  test('are declared with the lowered schema where it does not', () => {
    const [declared] = declarationsOf(encodeChat({ tools: [tool('a')] }, SECOND));
    assert.deepEqual(declared?.['parameters'], {
      type: 'OBJECT',
      properties: { city: { type: 'STRING' } },
      required: ['city'],
      propertyOrdering: ['city'],
    });
    assert.equal(declared['parametersJsonSchema'], undefined);
  });

  for (const parameters of [undefined, {}, { type: 'object' }, { type: 'object', properties: {} }]) {
    test(`have no parameters for ${JSON.stringify(parameters)}`, () => {
      const given = { type: 'function', function: { name: 'now', ...(parameters && { parameters }) } };
      for (const target of [SECOND, undefined])
        assert.deepEqual(declarationsOf(encodeChat({ tools: [given] }, target)), [{ name: 'now' }]);
    });
  }

  test('get other names where the format refuses theirs, everywhere alike, and are named back', () => {
    const name = '3d-render';
    const sent = geminiToolName(name);
    const encoded = encodeChat({
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: [pastCall('1', name, '{}')] },
        { role: 'tool', tool_call_id: '1', content: 'ok' },
      ],
      tools: [tool('plain'), { ...tool('x'), function: { name, parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name } },
    });
    assert.match(sent, /^[A-Za-z_][\w-]{0,63}$/);
    assert.deepEqual(
      declarationsOf(encoded).map((declared) => declared['name']),
      ['plain', sent],
    );
    assert.deepEqual(encoded.toolNames, new Map([[sent, name]]));
    assert.deepEqual(choiceOf(encoded), { mode: 'ANY', allowedFunctionNames: [sent] });
    assert.deepEqual(
      encoded.parts.flatMap(
        (part) => objectOf(part['functionCall'])?.['name'] ?? objectOf(part['functionResponse'])?.['name'] ?? [],
      ),
      [sent, sent],
    );
  });

  test('are the only tools: others are left out, and noted', () => {
    const encoded = encodeOfMessages({
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { name: 'f', input_schema: { type: 'object' } },
      ],
    });
    assert.deepEqual(declarationsOf(encoded), [{ name: 'f' }]);
    assert.deepEqual(encoded.warnings, ['field-dropped tools[0]']);
  });
});

function schemaOf(name: string): unknown {
  return objectOf(tool(name)['function'])?.['parameters'];
}

test('keeps a name that begins with a digit apart from one that is written like its replacement', () => {
  assert.notEqual(geminiToolName('1'), geminiToolName('_1.'));
});

test('maps any name to one that the format takes, and never two names to one', () => {
  const legal = /^[A-Za-z_][\w-]{0,63}$/;
  const name = fc.oneof(fc.string(), fc.stringMatching(/^[0-9_.a-z-]{1,70}$/));
  fc.assert(
    fc.property(name, name, (one, other) => {
      assert.match(geminiToolName(one), legal);
      assert.equal(geminiToolName(one) === geminiToolName(other), one === other);
    }),
    { numRuns: 2_000 },
  );
});

suite('the choice of a tool', () => {
  for (const [choice, config] of [
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'a' } },
      { mode: 'ANY', allowedFunctionNames: ['a'] },
    ],
  ] as const) {
    test(`${JSON.stringify(choice)} is sent under the names of the format`, () => {
      const encoded = encodeChat({ tools: [tool('a'), tool('b')], tool_choice: choice });
      assert.deepEqual(choiceOf(encoded), config);
      assert.deepEqual(encoded.warnings, []);
    });
  }

  test('is not said where nothing was chosen', () => {
    assert.equal(encodeChat({ tools: [tool('a')] }).body['toolConfig'], undefined);
  });

  test('names some tools where the model can be held to them', () => {
    const allowed = (mode: string): JsonObject => ({
      tools: [tool('a'), tool('b')],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'b' } }] },
      },
    });
    assert.deepEqual(choiceOf(encodeChat(allowed('required'), SECOND)), { mode: 'ANY', allowedFunctionNames: ['b'] });
    assert.deepEqual(choiceOf(encodeChat(allowed('auto'))), { mode: 'VALIDATED', allowedFunctionNames: ['b'] });
    const older = encodeChat(allowed('auto'), SECOND);
    assert.deepEqual(choiceOf(older), { mode: 'AUTO' });
    assert.deepEqual(older.warnings, ['field-dropped tool_choice.allowed_tools']);
  });

  test('is held to the schemas where a tool is strict', () => {
    const strict = [tool('a', { strict: true })];
    assert.deepEqual(choiceOf(encodeChat({ tools: strict })), { mode: 'VALIDATED' });
    assert.deepEqual(choiceOf(encodeChat({ tools: strict, tool_choice: 'required' })), { mode: 'ANY' });
    const older = encodeChat({ tools: strict }, targetOf({ jsonSchema: true }));
    assert.equal(choiceOf(older), undefined);
    assert.deepEqual(older.warnings, ['field-dropped tools[0].function.strict']);
  });

  test('is left out without tools', () => {
    const { body, warnings } = encodeChat({ tool_choice: 'required' });
    assert.deepEqual(Object.keys(body), ['contents']);
    assert.deepEqual(warnings, ['field-dropped tool_choice']);
  });
});
