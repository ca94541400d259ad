import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { API_KEY, startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type Script } from '../support/upstream.ts';

/** Says 98 % for the word of the state, whatever it is: it is right in 70 of 100 lines. */
const sureJudge: Script = (arrived, response, request) => {
  const text = arrived.text.replaceAll('\\n', '\n');
  const word = /says: (\w+)/.exec(text)?.[1] ?? '';
  const percent = [...text.matchAll(/^([A-B]): (\w+)$/gm)].map(([, label = '', name]) => [
    label,
    name === word ? 98 : 2,
  ]);
  const reply = JSON.stringify({ answers: { q1: { percent: Object.fromEntries(percent) } } });
  return json(200, chatAnswer(reply))(arrived, response, request);
};

async function setUp(t: TestContext) {
  const upstream = await startUpstream(sureJudge);
  const gateway = await startGateway({
    yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: "${upstream.baseUrl}", api_key: key-a }
models:
  acme/judge:
    endpoints: [{ provider: alpha, model: j1, price: { prompt: 1, completion: 2 } }]
`,
  });
  const folder = await mkdtemp(join(tmpdir(), 'calibrate-'));
  t.after(async () => {
    await gateway.close();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'lines.jsonl');
  const run = (...more: readonly string[]) =>
    captureCli([
      'decisions',
      'calibrate',
      file,
      '--model',
      'acme/judge',
      '--url',
      gateway.url,
      '--key',
      API_KEY,
      ...more,
    ]);
  return { upstream, file, run };
}

const line = (at: number): string =>
  JSON.stringify({
    state: `It says: ${at % 2 === 0 ? 'red' : 'blue'}`,
    question: { type: 'choice', instructions: 'Which?', criteria: { red: null, blue: null } },
    answer: (at % 2 === 0) === at % 10 < 7 ? 'red' : 'blue',
  });

// @spec decision-14
test('decisions calibrate finds that a judge is too sure, and says what to configure', async (t) => {
  const { upstream, file, run } = await setUp(t);
  await writeFile(file, Array.from({ length: 120 }, (_, at) => line(at)).join('\n'));
  const { code, stdout, stderr } = await run('--name', 'colours');
  assert.equal(code, 0, stderr);
  const temperature = Number(/choice: 120 lines, temperature ([0-9.]+)/.exec(stdout)?.[1]);
  assert.ok(temperature > 3 && temperature < 7, stdout);
  assert.match(stdout, /colours: \{ model: "acme\/judge", method: schema, temperatures: \{ choice: [0-9.]+ \} \}/);
  assert.equal(upstream.arrived.length, 240, 'one decision a line, in two orders');
});

test('decisions calibrate refuses lines that are wrong or too few, and stops at its cost', async (t) => {
  const { upstream, file, run } = await setUp(t);
  await writeFile(file, `${line(1)}\n{"state":"s"}`);
  assert.match((await run()).stderr, /line 2: must have a state and a question/);
  await writeFile(file, line(1));
  assert.match((await run()).stderr, /at least 100 are needed/);
  assert.equal(upstream.arrived.length, 0);
  await writeFile(file, Array.from({ length: 120 }, (_, at) => line(at)).join('\n'));
  const { code, stderr } = await run('--max-cost', '0.0001');
  assert.equal(code, 1);
  assert.match(stderr, /raise --max-cost/);
  assert.ok(upstream.arrived.length < 100, String(upstream.arrived.length));
});
