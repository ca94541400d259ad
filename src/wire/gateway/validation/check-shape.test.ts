import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { checkShape } from './check-shape.ts';

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
]);
const content = z.union([z.string(), z.array(part)]);
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string() }),
]);
const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
  z.looseObject({ type: z.literal('allowed_tools'), allowed_tools: z.looseObject({ mode: z.string() }) }),
]);
const body = z.looseObject({
  model: z.string().max(8).optional(),
  messages: z.array(message).min(1),
  temperature: z.number().min(0).max(2).nullish(),
  top_k: z.int().min(0).optional(),
  penalty: z.number().positive().lt(2).optional(),
  tool_choice: toolChoice.optional(),
  closed: z
    .strictObject({ order: z.array(z.string()).optional(), only: z.strictObject({ by: z.string() }).optional() })
    .optional(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  metadata: z.record(z.string().max(4), z.string()).optional(),
  name: z.string().regex(/^\w+$/, { error: 'must be a plain name' }).optional(),
  code: z.string().regex(/^\d+$/).optional(),
  at: z.iso.datetime().optional(),
  day: z.iso.date().optional(),
  id: z.uuid().optional(),
  site: z.url().optional(),
  step: z.number().multipleOf(5).optional(),
  pair: z
    .looseObject({ a: z.number().optional(), b: z.number().optional() })
    .refine(({ a, b }) => a === undefined || b === undefined, { error: 'must not hold both', path: ['b'] })
    .optional(),
});

function refusal(value: unknown, schema: z.ZodType = body, root?: string): GatewayError {
  try {
    checkShape(schema, value, root === undefined ? {} : { root });
  } catch (error) {
    assert.ok(error instanceof GatewayError, `a GatewayError, not ${String(error)}`);
    assert.equal(error.status, 400);
    return error;
  }
  return assert.fail('the value was accepted');
}

function issueLines(error: GatewayError): readonly string[] {
  return (error.issues ?? []).map(({ path, message: text }) => `${path}: ${text}`);
}

const USER = { role: 'user', content: 'hi' };

test('returns a value that fits, unknown members included', () => {
  const value = { messages: [{ ...USER, extra: 1 }], unknown: { deep: [1] } };
  assert.deepEqual(checkShape(body, value), value);
});

const ONE_FAULT: readonly (readonly [string, unknown, string])[] = [
  ['a missing member', {}, 'messages: is required'],
  ['null where nothing is nullable', { messages: null }, 'messages: must be an array, not null'],
  ['an empty list', { messages: [] }, 'messages: must not be empty'],
  ['an item of the wrong kind', { messages: [USER, 3] }, 'messages[1]: must be an object, not a number'],
  [
    'a wrong tag lists the allowed ones',
    { messages: [{ role: 'robot', content: 'x' }] },
    'messages[0].role: must be one of "user", "tool", not "robot"',
  ],
  ['a missing tag lists them too', { messages: [{}] }, 'messages[0].role: is required: one of "user", "tool"'],
  ['a tag of the wrong kind', { messages: [{ role: 3 }] }, 'messages[0].role: must be one of "user", "tool", not 3'],
  [
    'a missing member of one variant',
    { messages: [{ role: 'tool', content: 'x' }] },
    'messages[0].tool_call_id: is required',
  ],
  [
    'the innermost member of nested unions',
    {
      messages: [
        USER,
        USER,
        USER,
        { role: 'user', content: ['x', { type: 'image_url', image_url: { url: 7 } }].slice(1) },
      ],
    },
    'messages[3].content[0].image_url.url: must be a string, not a number',
  ],
  [
    'a wrong tag inside a union',
    { messages: [{ role: 'user', content: [{ type: 'txt', text: 'x' }] }] },
    'messages[0].content[0].type: must be one of "text", "image_url", not "txt"',
  ],
  [
    'a value that fits no branch names all kinds',
    { messages: [{ role: 'user', content: 7 }] },
    'messages[0].content: must be a string or an array, not a number',
  ],
  ['a missing union', { messages: [{ role: 'user' }] }, 'messages[0].content: is required'],
  ['a number above its range', { messages: [USER], temperature: 3 }, 'temperature: must be at most 2, not 3'],
  ['a number below its range', { messages: [USER], temperature: -1 }, 'temperature: must be at least 0, not -1'],
  ['a number at an open end', { messages: [USER], penalty: 0 }, 'penalty: must be more than 0, not 0'],
  ['a number at the other open end', { messages: [USER], penalty: 2 }, 'penalty: must be less than 2, not 2'],
  ['a number as text', { messages: [USER], temperature: '1' }, 'temperature: must be a number, not a string'],
  ['a fraction', { messages: [USER], top_k: 1.5 }, 'top_k: must be an integer, not 1.5'],
  ['an infinite number', { messages: [USER], temperature: Infinity }, 'temperature: must be a finite number'],
  ['a step between', { messages: [USER], step: 7 }, 'step: must be a multiple of 5'],
  ['a text too long', { messages: [USER], model: '123456789' }, 'model: must have at most 8 characters, not 9'],
  ['a list too long', { messages: [USER], stop: ['', '', '', '', ''] }, 'stop: must have at most 4 items, not 5'],
  ['an item of a list in a union', { messages: [USER], stop: ['a', 1] }, 'stop[1]: must be a string, not a number'],
  [
    'a mistyped member of a closed object',
    { messages: [USER], closed: { ordr: [] } },
    'closed.ordr: is not a known field; did you mean "order"?',
  ],
  [
    'a mistyped member below one',
    { messages: [USER], closed: { only: { by: 'x', bye: 1 } } },
    'closed.only.bye: is not a known field; did you mean "by"?',
  ],
  ['an unknown member like none', { messages: [USER], closed: { 'x y': 1 } }, 'closed["x y"]: is not a known field'],
  [
    'a name that is too long',
    { messages: [USER], metadata: { abcde: 'x' } },
    'metadata.abcde: has a name that is not allowed: it must have at most 4 characters, not 5',
  ],
  ['a sentence of the schema itself', { messages: [USER], name: 'a b' }, 'name: must be a plain name'],
  ['a pattern', { messages: [USER], code: 'x' }, 'code: must match /^\\d+$/'],
  ['a time', { messages: [USER], at: '2027-01-01' }, 'at: must be a date and time such as "2027-01-31T09:30:00Z"'],
  ['a day', { messages: [USER], day: 'soon' }, 'day: must be a date such as "2027-01-31"'],
  ['an id', { messages: [USER], id: 'default' }, 'id: must be a UUID'],
  ['an address', { messages: [USER], site: 'nowhere' }, 'site: must be a valid url'],
  ['a rule over two members', { messages: [USER], pair: { a: 1, b: 2 } }, 'pair.b: must not hold both'],
  [
    'a word that is none of them, where an object may stand too',
    { messages: [USER], tool_choice: 'some' },
    'tool_choice: must be one of "none", "auto", "required" or an object, not "some"',
  ],
  [
    'an object without a tag that could tell the branches apart',
    { messages: [USER], tool_choice: { type: 'x' } },
    'tool_choice.type: must be one of "function", "allowed_tools", not "x"',
  ],
  [
    'the branch whose tag fits is the one that is told',
    { messages: [USER], tool_choice: { type: 'function', function: { name: 3 } } },
    'tool_choice.function.name: must be a string, not a number',
  ],
  [
    'the same, also for a branch that is not the first',
    { messages: [USER], tool_choice: { type: 'allowed_tools' } },
    'tool_choice.allowed_tools: is required',
  ],
  ['a body that is no object', [], 'body: must be an object, not an array'],
  ['a body that is null', null, 'body: must be an object, not null'],
  ['a body that is absent', undefined, 'body: is required'],
];

for (const [what, value, sentence] of ONE_FAULT) {
  test(`${what} is one issue and one sentence`, () => {
    const error = refusal(value);
    assert.deepEqual(issueLines(error), [sentence]);
    assert.equal(error.message, sentence);
  });
}

test('lists all faults in order, and counts those after the first in the message', () => {
  const error = refusal({ messages: [{ role: 'user' }], temperature: 9, top_k: -1 });
  assert.deepEqual(issueLines(error), [
    'messages[0].content: is required',
    'temperature: must be at most 2, not 9',
    'top_k: must be at least 0, not -1',
  ]);
  assert.equal(error.message, 'messages[0].content: is required (and 2 more)');
});

test('lists all faults of the one branch that a value can mean', () => {
  const sort = z.union([z.enum(['a']), z.strictObject({ by: z.enum(['a', 'b']), last: z.enum(['c', 'd']) })]);
  assert.deepEqual(issueLines(refusal({ by: 'x', last: 'y' }, sort)), [
    'by: must be one of "a", "b", not "x"',
    'last: must be one of "c", "d", not "y"',
  ]);
});

test('reports a member that must not be there', () => {
  const schema = z.looseObject({ models: z.never().optional() });
  assert.deepEqual(issueLines(refusal({ models: [] }, schema)), ['models: must be absent, not an array']);
});

// @spec request-7
test('lists at most 20 faults', () => {
  const error = refusal({ messages: Array.from({ length: 50 }, () => 1) });
  assert.equal(error.issues?.length, 20);
  assert.match(error.message, /^messages\[0\]: .* \(and 49 more\)$/);
});

test('shows by the type whether the fault is in the prompt', () => {
  assert.equal(refusal({ messages: [] }).type, 'invalid_prompt');
  assert.equal(refusal({ messages: [{}], temperature: 9 }).type, 'invalid_prompt');
  assert.equal(refusal({ messages: [USER], temperature: 9 }).type, 'invalid_request');
  assert.equal(refusal({ messages_count: 'x' }, z.looseObject({ messages_count: z.number() })).type, 'invalid_request');
});

test('paths begin with the root that the caller names', () => {
  const query = z.strictObject({ limit: z.int().max(100).optional() });
  assert.equal(refusal({ limit: 101 }, query, 'query').message, 'query.limit: must be at most 100, not 101');
  assert.equal(refusal(3, query, 'query').message, 'query: must be an object, not a number');
  assert.equal(refusal([1], z.array(z.string()), 'list').message, 'list[0]: must be a string, not a number');
});

test("a caller's words are cut and quoted before they are said back", () => {
  const long = `${'x'.repeat(5_000)}\n"`;
  for (const value of [
    { messages: [{ role: long }] },
    { messages: [USER], tool_choice: long },
    { messages: [USER], closed: { [long]: 1 } },
    { messages: [USER], metadata: { [long]: 1 } },
    { messages: [USER], tool_choice: { type: long } },
  ]) {
    const error = refusal(value);
    for (const { path, message: text } of error.issues ?? [])
      assert.ok(path.length < 120 && text.length < 200, path + text);
    assert.doesNotMatch(error.message, /\n/);
  }
  assert.match(refusal({ messages: [{ role: 'a"\n' }] }).message, /not "a\\"\\n"$/);
});

test('members named like parts of every object are ordinary members', () => {
  const value: unknown = JSON.parse('{"messages":[], "closed": {"__proto__": 1, "constructor": 2, "toString": 3}}');
  const error = refusal(value);
  assert.ok(issueLines(error).includes('closed.constructor: is not a known field'));
  const accepted: unknown = JSON.parse('{"messages":[{"role":"user","content":"x"}], "__proto__": {"admin": true}}');
  const checked: unknown = checkShape(body, accepted);
  assert.ok(!('admin' in Object(checked)), 'no member comes in through the prototype');
});

// @spec request-6
test('refuses a body too deep or too wide at once', () => {
  const deep: unknown = JSON.parse(`{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
  assert.match(refusal(deep).message, /^body: must not be nested/);
  const wide = { messages: Array.from({ length: 3_000_000 }, () => 1) };
  const started = performance.now();
  assert.match(refusal(wide).message, /^body: must hold at most/);
  assert.ok(performance.now() - started < 10_000);
});

test('names the first issue of a wide body, and searches for no others', () => {
  let checked = 0;
  const counted = z.number().refine(() => ++checked > 0);
  const value = [1, ...Array.from({ length: 50_000 }, () => 'x')];
  for (let use = 0; use < 3; use++) {
    const error = refusal(value, z.array(z.union([counted, z.null()])));
    assert.deepEqual(issueLines(error), ['[1]: must be a number or null, not a string']);
  }
  const [first] = refusal([Array.from({ length: 50_000 }, () => 'x')], z.array(z.array(z.number()))).issues ?? [];
  assert.equal(first?.path, '[0][0]');
});

// @spec request-6
test('refuses an object with too many members at its path', () => {
  const wide = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [index * 7, 1]));
  assert.deepEqual(issueLines(refusal({ zz: [wide] })), ['zz[0]: must have at most 10000 fields']);
});

test('checks a recursive schema like any other', () => {
  type Tree = { readonly name: string; readonly children?: readonly Tree[] | undefined };
  const tree: z.ZodType<Tree> = z.strictObject({ name: z.string(), children: z.array(z.lazy(() => tree)).optional() });
  const value = { name: 'a', children: [{ name: 'b', children: [{ nam: 'c' }] }] };
  for (let use = 0; use < 3; use++)
    assert.deepEqual(issueLines(refusal(value, tree)), [
      'children[0].children[0].name: is required',
      'children[0].children[0].nam: is not a known field; did you mean "name"?',
    ]);
});

test('throws nothing but a GatewayError with bounded issues for any JSON', () => {
  const leaf = fc.jsonValue({ maxDepth: 2 });
  const anyContent = fc.oneof(
    leaf,
    fc.array(fc.record({ type: fc.constantFrom('text', 'image_url', 'x'), text: leaf }, { requiredKeys: [] })),
  );
  const anyBody = fc.record(
    {
      model: leaf,
      messages: fc.oneof(
        leaf,
        fc.array(fc.record({ role: fc.constantFrom('user', 'tool', 'x'), content: anyContent }, { requiredKeys: [] })),
      ),
      temperature: leaf,
      tool_choice: fc.oneof(leaf, fc.record({ type: leaf, function: leaf }, { requiredKeys: [] })),
      closed: fc.oneof(leaf, fc.dictionary(fc.string(), leaf)),
      metadata: fc.oneof(leaf, fc.dictionary(fc.string(), leaf)),
      stop: leaf,
      pair: leaf,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), anyBody), (value) => {
      try {
        checkShape(body, value);
      } catch (error) {
        assert.ok(error instanceof GatewayError, String(error));
        const issues = error.issues ?? [];
        assert.ok(issues.length >= 1 && issues.length <= 20);
        for (const { path, message: text } of issues) {
          assert.ok(path.length > 0 && path.length < 200, path);
          assert.ok(text.length > 0 && text.length < 300, text);
          assert.doesNotMatch(text, /undefined|\[object|Invalid input/);
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

// @spec request-7
test('whatever member of a message is broken, the first issue stands at that very member', () => {
  const good = {
    role: 'tool',
    tool_call_id: 'c',
    content: [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'u' } },
    ],
  };
  const members = [
    ['role'],
    ['tool_call_id'],
    ['content'],
    ['content', 0],
    ['content', 0, 'type'],
    ['content', 0, 'text'],
    ['content', 1, 'image_url'],
    ['content', 1, 'image_url', 'url'],
  ];
  fc.assert(
    fc.property(fc.nat(5), fc.constantFrom(...members), fc.constantFrom(7, true, null), (position, member, wrong) => {
      const messages = Array.from({ length: 6 }, () => structuredClone(good));
      setMember(messages[position], member, wrong);
      const path = member.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('');
      assert.equal(refusal({ messages }).issues?.[0]?.path, `messages[${position}]${path}`);
    }),
  );
});

function setMember(target: unknown, path: readonly (string | number)[], value: unknown): void {
  const [last, ...before] = path.toReversed();
  let node = target;
  for (const segment of before.toReversed()) node = Reflect.get(Object(node), segment);
  Reflect.set(Object(node), String(last), value);
}
