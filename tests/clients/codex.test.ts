import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { startCodex, type Codex, type CodexOptions, type CodexTurn } from '../support/clients/codex.ts';
import { findClient } from '../support/clients/installed.ts';
import { PICTURE } from '../support/mcp/tools.ts';
import { json, type Arrived, type Script, type ScriptedUpstream } from '../support/upstream.ts';
import { startAllUpstreams, UPSTREAMS } from '../support/upstreams/all-upstreams.ts';
import { formatWhole, speak, type SpokenFormat } from '../support/upstreams/speak.ts';
import type { Spoken, SpokenPart } from '../support/upstreams/spoken.ts';

/** The real agent, on scripted models: what it does with their calls is done, in a folder of its own. */
const codex = findClient('@openai/codex/bin/codex.js');

/** A provider of each format that agents are served from, as `startAllUpstreams` names them. */
const SERVED = { chat: 'chat', claude: 'messages', gemini: 'gemini', responses: 'responses' } as const;
type Served = keyof typeof SERVED;
/** Models whose metadata the agent knows by the last part of the name: with the tools of a whole agent, and the newest. */
const WHOLE_AGENT = 'gpt-5.5';
const LIGHT_AGENT = 'gpt-6.1-sol';

interface Session {
  readonly codex: Codex;
  readonly upstream: ScriptedUpstream;
}

/** @param model the name's last part @param play what the model does, by the count of requests from 1 */
async function startSession(
  t: TestContext,
  served: Served,
  model: string,
  play: (count: number, arrived: Arrived) => Spoken | Script,
  options: Pick<CodexOptions, 'settings' | 'tables'> = {},
): Promise<Session> {
  assert.equal(codex.skip, false);
  const endpoint = { provider: served, model: UPSTREAMS[served].model, price: { prompt: 1, completion: 2 } };
  const { gateway, upstream } = await startAllUpstreams(t, {
    models: { [`acme/${model}`]: { endpoints: [endpoint] } },
  });
  upstream.script = (arrived, response, request) => {
    const played = play(upstream.arrived.length, arrived);
    return (typeof played === 'function' ? played : speak(played))(arrived, response, request);
  };
  const started = { executable: codex.path, baseUrl: gateway.baseUrl, model: `acme/${model}`, ...options };
  return { codex: await startCodex(t, started), upstream };
}

/** A call as a model makes it of the tools that were declared: in their namespaces and as text where the format has these. */
function call(
  { body }: Arrived,
  id: string,
  tool: { readonly namespace?: string; readonly name: string },
  input: string,
): SpokenPart {
  const items = Array.isArray(body['input']) ? body['input'].filter(isJsonObject) : [];
  const declared = [body, ...items].flatMap(({ tools }) => (Array.isArray(tools) ? tools.filter(isJsonObject) : []));
  const isNamespaced = declared.some(({ type, name }) => type === 'namespace' && name === tool.namespace);
  const members = declared.flatMap(({ type, tools }) => (type === 'namespace' ? (tools as JsonObject[]) : []));
  const isCustom = [...declared, ...members].some(({ type, name }) => type === 'custom' && name === tool.name);
  const prefix = tool.namespace === undefined || tool.namespace === 'functions' ? '' : `${tool.namespace}__`;
  if (!isNamespaced) return { type: 'call', id, name: prefix + tool.name, input, isCustom };
  return { type: 'call', id, name: tool.name, input, isCustom, namespace: tool.namespace ?? '' };
}

/** What a request tells a model of its own earlier responses, in the form in which they were given. */
function ownTurns(format: SpokenFormat, body: Arrived['body']): readonly unknown[] {
  const list = (name: string): readonly JsonObject[] => (body[name] as JsonObject[] | undefined) ?? [];
  if (format === 'chat') return list('messages').filter(({ role }) => role === 'assistant');
  if (format === 'messages')
    return list('messages').flatMap(({ role, content }) => (role === 'assistant' ? (content as JsonObject[]) : []));
  if (format === 'gemini')
    return list('contents').flatMap(({ role, parts }) => (role === 'model' ? (parts as JsonObject[]) : []));
  return list('input').filter(
    ({ type }) => type !== 'message' && !(typeof type === 'string' && type.endsWith('_output')),
  );
}

/** The same of what was spoken. In the responses format only reasoning, which is encrypted under its id, keeps the id. */
function spokenTurns(format: SpokenFormat, spoken: readonly Spoken[]): readonly unknown[] {
  return spoken.flatMap((turn): readonly unknown[] => {
    const whole = JSON.parse(formatWhole(format, turn).body.toString('utf8')) as Record<string, JsonObject[]>;
    if (format === 'chat') return [whole['choices']?.[0]?.['message']];
    if (format === 'messages') return whole['content'] ?? [];
    if (format === 'gemini')
      return ((whole['candidates']?.[0]?.['content'] as JsonObject | undefined)?.['parts'] ?? []) as unknown[];
    return (whole['output'] ?? []).map(({ id, status: _status, ...item }) => {
      return item['type'] === 'reasoning' ? { id, ...item } : item;
    });
  });
}

function lastBody({ arrived }: ScriptedUpstream): Arrived['body'] {
  return arrived.at(-1)?.body ?? assert.fail('nothing reached the upstream');
}

function assertDone(turn: CodexTurn): void {
  assert.equal(turn.exitCode, 0, turn.log);
  assert.equal(turn.events.at(-1)?.['type'], 'turn.completed', turn.log);
}

const COMMAND = JSON.stringify({ cmd: String.raw`printf 'one\ntwo\n' > list.txt` });
/** Quotes, a backslash that begins no escape of JSON, and characters of two, three and four bytes. */
const LINE = String.raw`"zwei" \u00e9 \n é € 😀`;
const PATCH = `*** Begin Patch\n*** Update File: list.txt\n@@\n one\n-two\n+${LINE}\n*** End Patch\n`;

suite('the Codex CLI', { skip: codex.skip, concurrency: 3 }, () => {
  for (const [served, format] of Object.entries(SERVED) as [Served, SpokenFormat][])
    // @spec responses-15, responses-47, responses-pains-20, responses-pains-45
    test(`runs commands, patches a file, and sends everything back as it was: ${format}`, async (t) => {
      const spoken: Spoken[] = [];
      const steps: readonly ((arrived: Arrived) => readonly SpokenPart[])[] = [
        (arrived) => [
          { type: 'thought', text: 'A list.', seal: 'c2VhbC0x', id: 'rs_1' },
          { ...call(arrived, 'call_1', { name: 'exec_command' }, COMMAND), signature: 'c2lnbi0x' },
        ],
        (arrived) => [
          { type: 'thought', text: 'Now a patch.', seal: 'c2VhbC0y', id: 'rs_2' },
          {
            ...call(arrived, 'call_2', { name: 'apply_patch' }, JSON.stringify({ input: PATCH })),
            signature: 'c2lnbi0y',
          },
        ],
        (arrived) => [
          { ...call(arrived, 'call_3', { name: 'exec_command' }, '{"cmd":"cat list.txt"}'), signature: 'c2lnbi0z' },
          call(arrived, 'call_4', { name: 'exec_command' }, '{"cmd":"wc -l < list.txt"}'),
        ],
        () => [{ type: 'text', text: 'The list is done.' }],
      ];
      const play = (count: number, arrived: Arrived): Spoken => {
        const turn = { parts: steps[count - 1]?.(arrived) ?? assert.fail(`a request too many: ${count}`) };
        spoken.push(turn);
        return turn;
      };
      const session = await startSession(t, served, WHOLE_AGENT, play);
      const turn = await session.codex.run('Make a list.');
      assertDone(turn);
      assert.equal(await readFile(path.join(session.codex.folder, 'list.txt'), 'utf8'), `one\n${LINE}\n`);
      assert.deepEqual(
        turn.items('command_execution').map(({ exit_code: code }) => code),
        [0, 0, 0],
      );
      assert.deepEqual(
        turn.items('agent_message').map(({ text }) => text),
        ['The list is done.'],
      );
      assert.deepEqual(ownTurns(format, lastBody(session.upstream)), spokenTurns(format, spoken.slice(0, -1)));
      for (const { text, headers } of session.upstream.arrived) {
        const names = Object.keys(headers).filter((name) =>
          /^(?:x-codex|x-openai|openai|originator|session|version)/.test(name),
        );
        assert.deepEqual(names, []);
        assert.ok(!text.includes('installation_id') && !text.includes('client_metadata'), 'who runs it stays here');
      }
    });

  // @spec responses-pains-23
  test('starts on a provider that does not know all of its tools', async (t) => {
    const hello = { parts: [{ type: 'text', text: 'Hello.' }] } as const;
    const { codex: agent, upstream } = await startSession(t, 'chat', WHOLE_AGENT, () => hello);
    // In its sandbox it asks for pages that its vendor has stored, and for no others.
    const turn = await agent.run('Hello.', '--config', 'web_search="cached"', '--sandbox', 'read-only');
    assertDone(turn);
    assert.deepEqual(turn.items('error'), []);
    const { tools } = lastBody(upstream) as { tools: readonly { function: { name: string } }[] };
    const names = tools.map(({ function: { name } }) => name);
    for (const name of ['exec_command', 'apply_patch', 'tool_search']) assert.ok(names.includes(name), name);
    assert.ok(!names.some((name) => name.includes('web')), names.join());
  });

  for (const served of ['chat', 'claude', 'responses'] as const)
    // @spec responses-37, responses-pains-22
    test(`runs code by the tools of the newest models, which stand in an item: ${SERVED[served]}`, async (t) => {
      const code =
        'const { output } = await tools.exec_command({ cmd: "echo made > made.txt; cat made.txt" });\ntext(output);\n';
      const { codex: agent, upstream } = await startSession(t, served, LIGHT_AGENT, (count, arrived) =>
        count === 1
          ? {
              parts: [
                call(arrived, 'call_1', { namespace: 'functions', name: 'exec' }, JSON.stringify({ input: code })),
              ],
            }
          : { parts: [{ type: 'text', text: 'Done.' }] },
      );
      assertDone(await agent.run('Run some code.'));
      assert.equal(await readFile(path.join(agent.folder, 'made.txt'), 'utf8'), 'made\n');
      assert.match(upstream.arrived.at(-1)?.text ?? '', /Script completed/);
    });

  for (const served of ['chat', 'claude', 'responses'] as const)
    // @spec responses-40, responses-pains-21
    test(`calls tools of one name at two MCP servers: ${SERVED[served]}`, async (t) => {
      const server = path.join(import.meta.dirname, '../support/mcp/stdio-server.ts');
      const tables = ['one', 'two'].map(
        (name) => `[mcp_servers.${name}]\ncommand = "${process.execPath}"\nargs = ["${server}"]\n`,
      );
      const play = (count: number, arrived: Arrived): Spoken => {
        if (arrived.text.includes('{\\"sum\\":3}')) return { parts: [{ type: 'text', text: 'Done.' }] };
        // The agent does not wait for its servers: on a busy machine the first requests are without their tools.
        const isReady = ['mcp__one', 'mcp__two'].every((name) => arrived.text.includes(name));
        if (!isReady)
          return { parts: [call(arrived, `call_wait_${count}`, { name: 'exec_command' }, '{"cmd":"sleep 0.3"}')] };
        const first = call(arrived, 'call_1', { namespace: 'mcp__one', name: 'add' }, '{"a":1,"b":2}');
        const second = call(arrived, 'call_2', { namespace: 'mcp__two', name: 'add' }, '{"a":3,"b":4}');
        return { parts: [first, second] };
      };
      const { codex: agent } = await startSession(t, served, 'one', play, { tables: tables.join('') });
      const turn = await agent.run('Add.');
      assertDone(turn);
      const calls = turn
        .items('mcp_tool_call')
        .toSorted((one, other) => (one['server'] === 'two' ? 1 : 0) - (other['server'] === 'two' ? 1 : 0));
      const called = calls.map(({ server: at, tool, arguments: input, status }) => {
        return [at, tool, (input as JsonObject)['a'], status];
      });
      assert.deepEqual(called, [
        ['one', 'add', 1, 'completed'],
        ['two', 'add', 3, 'completed'],
      ]);
    });

  // @spec responses-79, responses-pains-33
  test('makes a history shorter that is too long, once, and goes on', async (t) => {
    const tooLong = {
      message: "This model's maximum context length is 1000 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    };
    const { codex: agent, upstream } = await startSession(t, 'chat', 'one', (count) =>
      count === 2 ? json(400, { error: tooLong }) : { parts: [{ type: 'text', text: `Reply ${count}.` }] },
    );
    assertDone(await agent.run('First.'));
    const overflow = await agent.run('Second.', 'resume', '--last');
    assert.match(overflow.log, /ran out of room in the model's context window/);
    assert.equal(upstream.arrived.length, 2, 'the same request is not sent again');
    const after = await agent.run('Third.', 'resume', '--last');
    assertDone(after);
    assert.equal(upstream.arrived.length, 4, 'one request for the summary, and one of the turn');
    assert.match(upstream.arrived[2]?.text ?? '', /COMPACTION/);
    assert.match(upstream.arrived[3]?.text ?? '', /Reply 3\./);
    assert.ok(!upstream.arrived[3]?.text.includes('Reply 1.'), 'the summary stands for what was before it');
  });

  // @spec responses-pains-32
  test('waits as long as a limit of the rate says, and goes on', async (t) => {
    const limited = { error: { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } };
    let refusedMs = 0;
    let servedMs = 0;
    const { codex: agent } = await startSession(t, 'chat', 'one', (count) => {
      if (count < 3) {
        refusedMs = performance.now();
        return json(429, limited, { 'retry-after': '1' });
      }
      servedMs = performance.now();
      return { parts: [{ type: 'text', text: 'At last.' }] };
    });
    const turn = await agent.run('Hello.');
    assertDone(turn);
    assert.match(turn.log, /try again in 1s/);
    assert.ok(servedMs - refusedMs > 900, `it waited ${servedMs - refusedMs} ms`);
    assert.deepEqual(
      turn.items('agent_message').map(({ text }) => text),
      ['At last.'],
    );
  });

  // @spec responses-82, responses-pains-34
  test('sees that it is the picture that cannot be read', async (t) => {
    const unreadable = {
      type: 'invalid_request_error',
      message: 'messages.0.content.1.image: Could not process image',
    };
    const { codex: agent } = await startSession(t, 'claude', 'one', (_count, { text }) =>
      text.includes(PICTURE)
        ? json(400, { type: 'error', error: unreadable })
        : { parts: [{ type: 'text', text: 'Read.' }] },
    );
    const picture = path.join(agent.folder, 'dot.png');
    await writeFile(picture, Buffer.from(PICTURE, 'base64'));
    const refused = await agent.run('Look.', '--image', picture, '--');
    assert.match(refused.log, /Invalid image in your last message\. Please remove it/);
    assertDone(await agent.run('Look.'));
  });
});
