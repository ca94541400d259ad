import type { Json } from '../../../src/lib/json.ts';

/** Test support: one answer as a model may break it, and what it was to say. */
export interface BrokenOutput {
  readonly name: string;
  readonly text: string;
  readonly meant: Json;
}

/** What answers look like: extractions, verdicts, lists, code, text with quotes, other scripts. */
const DOCUMENTS: readonly Json[] = [
  { name: 'Ada Lovelace', born: 1815, fields: ['mathematics', 'computing'], living: false, spouse: null },
  { sentiment: 'negative', confidence: 0.87, reasons: ['late delivery', "didn't answer"], escalate: true },
  {
    items: [
      { sku: 'A-1', quantity: 2, price: 19.5 },
      { sku: 'B-7', quantity: 1, price: 4 },
    ],
    currency: 'EUR',
  },
  { title: 'Say "hello"', body: 'She said "no", and left.', tags: [] },
  { path: 'C:\\Temp\\new', pattern: '\\d+\\.\\d+', command: 'dir' },
  { text: 'first line\nsecond line\n\nlast', indent: '\tone', empty: '' },
  { city: '東京', greeting: 'Grüße 👋', price: '¥1,200', note: 'a{b}c [d]' },
  {
    matrix: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    origin: { x: -1.5, y: 2e10 },
    unit: 'mm',
  },
  [
    { step: 1, action: 'open' },
    { step: 2, action: 'read' },
    { step: 3, action: 'close' },
  ],
  { code: 'function f() { return {"a": 1}; }', language: 'js', ok: true },
  { url: 'https://example.com/a?b=1&c=2#d', comment: 'see // there', deep: { a: { b: { c: ['x'] } } } },
  {
    answer: 'It depends.',
    alternatives: [
      { text: 'Yes', odds: 0.4 },
      { text: 'No', odds: 0.6 },
    ],
    done: true,
  },
];

/** One way to break the JSON text of a value. `undefined`: there is nothing in it to break so. */
type Fault = (value: Json) => string | undefined;

const pretty = (value: Json): string => JSON.stringify(value, null, 2);
const compact = (value: Json): string => JSON.stringify(value);

function replaced(text: string, search: RegExp, by: string): string | undefined {
  const changed = text.replace(search, by);
  return changed === text ? undefined : changed;
}

/** Outside of strings. */
function outside(text: string, change: (part: string) => string): string | undefined {
  const parts = text.split(/("(?:[^"\\]|\\.)*")/);
  const changed = parts.map((part, index) => (index % 2 === 0 ? change(part) : part)).join('');
  return changed === text ? undefined : changed;
}

function inStrings(text: string, change: (part: string) => string): string | undefined {
  const changed = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, change);
  return changed === text ? undefined : changed;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'a fence': (value) => `\`\`\`json\n${pretty(value)}\n\`\`\``,
  'a fence of no language': (value) => `\`\`\`\n${compact(value)}\n\`\`\`\n`,
  'a fence that is not closed': (value) => `\`\`\`json\n${pretty(value)}`,
  'words before': (value) => `Sure! Here is the JSON you asked for:\n\n${pretty(value)}`,
  'words behind': (value) => `${compact(value)}\n\nLet me know if you need anything else.`,
  'words around a fence': (value) => `Here you go [1]:\n\n\`\`\`json\n${pretty(value)}\n\`\`\`\n\nI hope that helps!`,
  'a byte order mark': (value) => `\uFEFF${compact(value)}`,
  'a comma too many at the end': (value) => replaced(pretty(value), /\n([}\]])$/, ',\n$1'),
  'commas too many everywhere': (value) => outside(pretty(value), (part) => part.replaceAll(/\n(\s*[}\]])/g, ',\n$1')),
  'a comma missing': (value) => replaced(pretty(value), /,\n/, '\n'),
  'every comma missing': (value) => outside(pretty(value), (part) => part.replaceAll(',\n', '\n')),
  'single quotes': (value) =>
    inStrings(compact(value), (part) => `'${part.slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`),
  'keys without quotes': (value) => replaced(pretty(value), /"([a-z]+)":/g, '$1:'),
  'a comment at the end of a line': (value) => replaced(pretty(value), /,\n/, ', // as asked\n'),
  'comments between': (value) => outside(pretty(value), (part) => part.replaceAll(/: /g, ': /* value */ ')),
  "Python's words": (value) =>
    outside(compact(value), (part) =>
      part.replaceAll('true', 'True').replaceAll('false', 'False').replaceAll('null', 'None'),
    ),
  'line breaks in strings': (value) => replaced(compact(value), /(?<!\\)\\n/g, '\n'),
  'tabs in strings': (value) => replaced(compact(value), /(?<!\\)\\t/g, '\t'),
  'the last bracket missing': (value) => compact(value).slice(0, -1),
  'all brackets missing at the end': (value) => compact(value).replace(/[}\]]+$/, ''),
  'the last quote missing, too': (value) => replaced(compact(value), /"[}\]]+$/, ''),
  'a bracket too many': (value) => `${compact(value)}}`,
  'curly quotes': (value) => inStrings(compact(value), (part) => `“${part.slice(1, -1)}”`),
  'quotes in strings that nothing escapes': (value) => replaced(compact(value), /\\"/g, '"'),
  'backslashes that nothing escapes': (value) =>
    compact(value).includes('\\\\') ? compact(value).replaceAll(/\\\\(?=[Td.])/g, '\\') : undefined,
  'spaces of no kind that JSON knows': (value) => outside(pretty(value), (part) => part.replaceAll('  ', '\u00a0 ')),
  'doubled braces': (value) => (Array.isArray(value) ? undefined : `{${compact(value)}}`),
  'several at once': (value) =>
    replaced(`Here:\n\`\`\`json\n${pretty(value)}\n\`\`\``, /"([a-z]+)":/, '$1:')?.replace(/\n([}\]])\n/, ',\n$1\n'),
};

/** Seen in the wild, in our own words. */
const WRITTEN: readonly (readonly [name: string, text: string, meant: Json])[] = [
  ['an ellipsis for the rest', '{"list": [1, 2, 3, ...]}', { list: [1, 2, 3] }],
  ['a call around it', 'callback({"a": 1});', { a: 1 }],
  ['half a number', '{"a": 5, "b": 2.}', { a: 5, b: 2 }],
  ['a number without its zero', '{"a": .5}', { a: 0.5 }],
  ['texts that are added up', '{"a": "one " + "two"}', { a: 'one two' }],
  ['a value of another database', '{"_id": ObjectId("123"), "n": NumberLong("2")}', { _id: '123', n: '2' }],
  ['thoughts before it', '<think>{maybe} a list?</think>\n{"a": [1, 2]}', { a: [1, 2] }],
  ['a mark of a source', 'As said [1] and [2]: {"a": 1,}', { a: 1 }],
  ['a text without an end', '{"a": "it goes on', { a: 'it goes on' }],
  ['a key without its quote', '{"a": 1, b": 2}', { a: 1, b: 2 }],
  ['a value without quotes', '{"color": red, "n": 1}', { color: 'red', n: 1 }],
  ['undefined', '{"a": undefined}', { a: null }],
  ['all of it escaped', '{\\"a\\": \\"b\\"}', { a: 'b' }],
  ['a colon missing', '{"a" 1, "b": 2}', { a: 1, b: 2 }],
  ['an object cut in two', '{"a": {"b": 1, "c": [1, 2}', { a: { b: 1, c: [1, 2] } }],
  ['a list without its bracket', '{"a": [1, 2, "b": 3}', { a: [1, 2], b: 3 }],
  ['brackets swapped', '{"a": [1, 2}, "b": 3]', { a: [1, 2], b: 3 }],
  ['a word behind the fence', '```json {"a": 1} ```', { a: 1 }],
  ['an answer twice', '{"a": 1, "b": [2]}\n{"a": 1, "b": [2]}', { a: 1, b: [2] }],
  ['a draft before the answer', 'First {"a": 1}, or rather:\n{"a": 1, "b": 2}', { a: 1, b: 2 }],
  ['a heading', '## Result\n\n**JSON**\n\n{"a": 1}', { a: 1 }],
  ['markdown in the text', '{"a": "**bold**\n- one\n- two"}', { a: '**bold**\n- one\n- two' }],
  ['code in a fence in the text', '```json\n{"code": "```js\nf()\n```"}\n```', { code: '```js\nf()\n```' }],
  ['a percent sign', '{"share": "40%", "of": 100,}', { share: '40%', of: 100 }],
  ['a comma in the place of a colon', '{"a", 1}', { a: 1 }],
  ['two commas', '{"a": 1,, "b": 2}', { a: 1, b: 2 }],
  ['a comma at the beginning', '{, "a": 1}', { a: 1 }],
  ['an apostrophe in single quotes', "{'a': 'it's here', 'b': 1}", { a: "it's here", b: 1 }],
  ['a number with separators', '{"n": 1_000}', { n: 1000 }],
  ['a plus sign', '{"n": +5}', { n: 5 }],
];

/** Every document with every fault that it can have, and those written by hand. Always the same. */
export function brokenOutputs(): readonly BrokenOutput[] {
  const made = Object.entries(FAULTS).flatMap(([fault, breakIt]) =>
    DOCUMENTS.flatMap((meant, index): BrokenOutput[] => {
      const text = breakIt(meant);
      return text === undefined || isJson(text) ? [] : [{ name: `${fault}, document ${index}`, text, meant }];
    }),
  );
  return [...made, ...WRITTEN.map(([name, text, meant]) => ({ name, text, meant }))];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
