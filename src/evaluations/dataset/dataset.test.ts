import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { openLines } from './dataset-lines.ts';
import { parseLine } from './parse-line.ts';
import { DatasetScan } from './scan-dataset.ts';

async function scan(text: string | Uint8Array, pieceBytes = 7) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.slice(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const reading = new DatasetScan(() => undefined);
  const passed: Uint8Array[] = [];
  for await (const chunk of reading.pass(Readable.from(pieces))) passed.push(chunk);
  return { facts: reading.facts(), passed: Buffer.concat(passed) };
}

async function faultsOf(text: string | Uint8Array): Promise<readonly string[]> {
  try {
    await scan(text);
    return [];
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.status, 400);
    return (error.issues ?? []).map(({ path, message }) => `${path}: ${message}`);
  }
}

const itemOf = (line: object) => {
  const parsed = parseLine(JSON.stringify(line));
  assert.ok('item' in parsed, JSON.stringify(parsed));
  return parsed.item;
};

suite('a dataset', () => {
  // @spec evaluation-1
  test('passes its bytes on as they are, and knows their hash', async () => {
    const text = '{"prompt": "é?", "expected": "1"}\r\n\n{"prompt": "b", "checks": [{"type": "judge"}]}\n';
    for (const pieceBytes of [1, 3, 1_000]) {
      const { facts, passed } = await scan(text, pieceBytes);
      assert.equal(passed.toString(), text);
      const sha256 = createHash('sha256').update(text).digest('hex');
      assert.deepEqual(facts, { items: 2, bytes: Buffer.byteLength(text), sha256, judged: 1 });
    }
  });

  // @spec evaluation-2
  test('names the first ten lines that are wrong', async () => {
    const faults = await faultsOf(`{"prompt": "a"}\n${'nothing\n'.repeat(20)}`);
    assert.equal(faults.length, 10);
    assert.equal(faults[0], 'file: line 2: is not a JSON object');
    assert.equal(faults[9], 'file: line 11: is not a JSON object');
  });

  test('says what is wrong with a line', async () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['', /has no line/],
      ['{}', /must have either messages or prompt/],
      ['{"prompt": "a", "model": "m"}', /line 1: .*model/],
      ['{"prompt": "a", "id": "x"}\n{"prompt": "b", "id": "x"}', /line 2: has the id of line 1/],
      ['{"prompt": "a"}\n{"prompt": "a"}', /line 2: has the id of line 1/],
      ['{"prompt": "a", "expected": 3, "checks": [{"type": "exact"}]}', /checks.0: needs a text/],
      ['{"prompt": "a", "checks": [{"type": "regex", "pattern": "(a+)+$"}]}', /checks.0: must not nest/],
      ['{"prompt": "a", "weight": 101}', /weight/],
    ];
    for (const [text, reason] of wrong) assert.match((await faultsOf(text))[0] ?? '', reason);
    assert.match((await faultsOf(Buffer.from([0x7b, 0xff, 0x7d])))[0] ?? '', /is not UTF-8/);
  });

  // @spec evaluation-3
  test('takes lines of other common forms', () => {
    assert.deepEqual(itemOf({ input: [{ role: 'user', content: 'Hi' }], ideal: ['a', 'b'] }).checks, [
      { type: 'normalized' },
    ]);
    assert.deepEqual(itemOf({ question: '1 + 1?', answer: 2, source: 'x' }).checks, [{ type: 'number' }]);
    for (const answer of [1, 'B', 'b', 'Rome']) {
      const item = itemOf({ question: 'Which?', choices: ['Paris', 'Rome'], answer });
      assert.equal(item.expected, 'B');
      assert.deepEqual(item.checks, [{ type: 'choice', labels: ['A', 'B'] }]);
      assert.match(item.prompt ?? '', /^Which\?\n\nA\) Paris\nB\) Rome\n\n/);
    }
    assert.ok('fault' in parseLine(JSON.stringify({ question: 'Which?', choices: ['a', 'b'], answer: 7 })));
  });

  test('names an item without an id by its line', () => {
    const item = itemOf({ prompt: 'a' });
    assert.equal(item.id, createHash('sha256').update('{"prompt":"a"}').digest('hex').slice(0, 16));
    assert.deepEqual([item.weight, item.group, item.checks], [1, null, [{ type: 'judge' }]]);
  });

  test('reads each line by its place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { minLength: 1, maxLength: 20 }),
        async (prompts) => {
          const text = prompts.map((prompt, at) => `${JSON.stringify({ id: `${at}`, prompt })}\n`).join('\n');
          const bytes = Buffer.from(text);
          const lines = await openLines((range) =>
            Promise.resolve(Readable.from([bytes.subarray(range?.start ?? 0, (range?.end ?? bytes.length) + 1)])),
          );
          assert.equal(lines.count, prompts.length);
          for (const [at, prompt] of prompts.entries()) assert.equal((await lines.read(at)).prompt, prompt);
        },
      ),
      { numRuns: 50 },
    );
  });
});
