import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { emit } from '../support/upstreams/speak.ts';
import { refuse, type Fault } from '../support/upstreams/strict-upstream.ts';
import { listOf, objectOf, textOf } from '../support/reported.ts';

const shared = shareAllUpstreams();

/** What agents declare, with everything that has been refused somewhere. @spec translate-20 */
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  tree: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    required: ['root'],
    additionalProperties: false,
    $defs: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
        required: ['name'],
        additionalProperties: false,
      },
    },
  },
  choice: {
    type: 'object',
    properties: {
      kind: { const: 'hotel' },
      size: { enum: [1, 2, 3] },
      note: { type: ['string', 'null'], examples: ['late'], default: null },
      pay: {
        oneOf: [
          { type: 'string', format: 'uri' },
          { type: 'number', exclusiveMinimum: 0 },
        ],
      },
      both: { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { required: ['a'] }] },
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      any: {},
      yes: true,
    },
  },
  empty: { type: 'object', properties: {}, additionalProperties: false },
  nothing: {},
};

const NAMES = [...Object.keys(SCHEMAS), 'none'];

function toolsFor(caller: (typeof CALLERS)[number]): readonly JsonObject[] {
  if (caller === 'messages') {
    const typed = (schema: JsonObject | undefined): JsonObject => ({
      type: 'object',
      ...(schema as object | undefined),
    });
    return NAMES.map((name) => ({ name, input_schema: typed(SCHEMAS[name]) }));
  }
  return NAMES.map((name) => ({
    type: 'function',
    function: { name, ...(SCHEMAS[name] !== undefined && { parameters: SCHEMAS[name] }) },
  }));
}

/** `Schema` of the vendor's reference, read 2026-11: any other member is "Unknown name". */
const KNOWN = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
  'items',
  'minimum',
  'maximum',
]);

/** What a model of the second generation refuses in a schema. */
function faultOf(schema: Json | undefined, path: string): string | undefined {
  if (!isJsonObject(schema)) return `${path} is no schema`;
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknown !== undefined) return `Unknown name "${unknown}" at ${path}`;
  const { type, anyOf, properties, items, enum: values } = schema;
  if (type === undefined && anyOf === undefined) return `${path} has no type`;
  if (values !== undefined && (type !== 'STRING' || !listOf(values).every((value) => typeof value === 'string')))
    return `${path}.enum: only allowed for STRING type`;
  if (type === 'ARRAY' && items === undefined) return `${path}.items: missing field`;
  if (type === 'OBJECT' && properties !== undefined && Object.keys(objectOf(properties)).length === 0)
    return `${path}.properties: should be non-empty for OBJECT type`;
  const inner: readonly (readonly [string, Json])[] = [
    ...Object.entries(objectOf(properties)),
    ...(items === undefined ? [] : [['items', items] as const]),
    ...listOf(anyOf).map((branch, at) => [`anyOf[${at}]`, branch] as const),
  ] as readonly (readonly [string, Json])[];
  for (const [name, value] of inner) {
    const fault = faultOf(value, `${path}.${name}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function declarationsOf(body: JsonObject): readonly JsonObject[] {
  return listOf(objectOf(listOf(body['tools'])[0])['functionDeclarations']).map((one) => objectOf(one));
}

const lowered: Fault = (_format, body) => {
  for (const { name, parameters, parametersJsonSchema } of declarationsOf(body)) {
    if (parametersJsonSchema !== undefined) return 'Unknown name "parametersJsonSchema"';
    const fault = parameters === undefined ? undefined : faultOf(parameters, textOf(name));
    if (fault !== undefined) return fault;
  }
  const { generationConfig } = body;
  const { responseSchema, responseJsonSchema } = objectOf(generationConfig);
  if (responseJsonSchema !== undefined) return 'Unknown name "responseJsonSchema"';
  return responseSchema === undefined ? undefined : faultOf(responseSchema, 'responseSchema');
};

suite('schemas of tools', () => {
  for (const caller of CALLERS) {
    // @spec translate-20
    test(`are simplified for a Gemini without JSON Schema: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = refuse(lowered);
      const requested = { max_tokens: 100, messages: [{ role: 'user', content: 'Book.' }], tools: toolsFor(caller) };
      const { arrived } = await ask(caller, 'gemini/gemini-2.0-flash', requested);
      const [tree, choice, ...without] = declarationsOf(arrived.body as JsonObject).map(({ parameters }) =>
        objectOf(parameters),
      );
      const properties = objectOf(choice?.['properties']);
      assert.deepEqual(properties['kind'], { type: 'STRING', format: 'enum', enum: ['hotel'] });
      assert.deepEqual(properties['note'], { type: 'STRING', nullable: true });
      // The circle is written out once, and then ends.
      const root = objectOf(objectOf(tree?.['properties'])['root']);
      const children = objectOf(objectOf(root['properties'])['children']);
      assert.deepEqual(children, { type: 'ARRAY', items: { type: 'OBJECT' } });
      assert.deepEqual(without, [{}, {}, {}], 'a function without parameters declares none');
    });

    test(`stay JSON Schema where it is supported: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = emit('Done.');
      const requested = { max_tokens: 100, messages: [{ role: 'user', content: 'Book.' }], tools: toolsFor(caller) };
      const { arrived } = await ask(caller, 'gemini', requested);
      const [tree, choice] = declarationsOf(arrived.body as JsonObject);
      assert.equal(tree?.['parameters'], undefined);
      assert.deepEqual(objectOf(objectOf(tree?.['parametersJsonSchema'])['properties'])['root'], {
        $ref: '#/$defs/node',
      });
      const properties = objectOf(objectOf(choice?.['parametersJsonSchema'])['properties']);
      assert.deepEqual(objectOf(properties['kind'])['enum'], ['hotel']);
    });

    test(`are simplified for responses likewise: ${caller} caller`, async () => {
      const { upstream, ask } = shared();
      upstream.script = refuse(lowered);
      const schema = SCHEMAS['tree'] ?? {};
      const wanted =
        caller === 'chat'
          ? { response_format: { type: 'json_schema', json_schema: { name: 'tree', schema } } }
          : { output_config: { format: { type: 'json_schema', schema } } };
      const requested = { max_tokens: 100, messages: [{ role: 'user', content: 'Draw.' }], ...wanted };
      const { arrived } = await ask(caller, 'gemini/gemini-2.0-flash', requested);
      assert.equal(objectOf((arrived.body as JsonObject)['generationConfig'])['responseMimeType'], 'application/json');
    });
  }
});
