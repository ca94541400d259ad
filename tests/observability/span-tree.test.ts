import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startMcpHttpServer } from '../support/mcp/http-server.ts';
import { httpServer, obedient, please } from '../support/mcp/run.ts';
import { startSpanReceiver, type ReceivedSpan } from '../support/http/span-receiver.ts';
import { ask, startToolTurns, testTool, type Asking, type Model } from '../support/tool-turns.ts';

const CHAT: Asking = { format: 'chat', model: 'acme/chat', stream: true };
const YAML = 'observability: { private_destinations: true }\n';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

const asks = testTool('files', async ({ generate, signal }) => {
  const turns = [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: 'Advise.' }] }];
  await generate({ models: ['acme/messages'], turns }, signal);
  return { result: {} };
});
const breaks = testTool('files', () => Promise.resolve({ result: {}, failed: true as const }));
/** The model of both formats calls the tool once, and responds to what came of it. */
const model: Model = ({ path }, at) =>
  path.endsWith('/messages') || at > 0 ? { text: 'Done.' } : { calls: [{ name: 'service_files' }] };

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan =>
  spans.find((span) => span.name === name) ??
  assert.fail(`${name} is not among ${spans.map((one) => one.name).join()}`);
const valueOf = ({ attributes }: Pick<ReceivedSpan, 'attributes'>, key: string): unknown =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0];
const tokensOf = (spans: readonly ReceivedSpan[]): number =>
  spans.reduce((sum, span) => sum + Number(valueOf(span, 'gen_ai.usage.input_tokens') ?? 0), 0);

suite('the tree of a request', () => {
  // @spec destination-24
  test('has its tools, and below them the generations that they run, in one trace', async (t) => {
    const { gateway } = await startToolTurns(t, model, { serverTools: [asks], yaml: YAML });
    const receiver = await startSpanReceiver(t, gateway);
    const trace = { trace_id: TRACE_ID, generation_name: 'Outer', tenant: 'blue' };
    await ask({ gateway }, CHAT, { tools: [{ type: 'service:files' }], trace });
    const spans = await receiver.next(6);
    const request = named(spans, 'POST /v1/chat/completions');
    const outer = named(spans, 'Outer');
    const tool = named(spans, 'execute_tool service_files');
    const inner = named(spans, 'chat acme/messages');
    assert.deepEqual(new Set(spans.map(({ traceId }) => traceId)), new Set([TRACE_ID]));
    assert.deepEqual(
      [outer.parentSpanId, tool.parentSpanId, inner.parentSpanId],
      [request.spanId, outer.spanId, tool.spanId],
    );
    assert.equal(valueOf(tool, 'gen_ai.operation.name'), 'execute_tool');
    assert.equal(valueOf(tool, 'gen_ai.tool.call.id'), 'call_0');
    assert.equal(valueOf(inner, 'trace.metadata.tenant'), 'blue');
    assert.ok(tool.startTimeUnixNano >= outer.startTimeUnixNano && tool.endTimeUnixNano <= outer.endTimeUnixNano);
    assert.equal(tokensOf(spans), 30, 'two turns and the generation inside, each once');
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  });

  // @spec destination-19
  test('tells of the turns of a model, which are no retries, and of what the request cost', async (t) => {
    const { gateway } = await startToolTurns(t, model, { serverTools: [asks], yaml: YAML });
    const receiver = await startSpanReceiver(t, gateway);
    await ask({ gateway }, CHAT, { tools: [{ type: 'service:files' }] });
    const spans = await receiver.next(7);
    const outer = named(spans, 'chat acme/chat');
    const events = (outer.events ?? []).filter(({ name }) => name !== 'gateway.first_token');
    assert.deepEqual(
      events.map((event) => [
        event.name,
        valueOf(event, 'gateway.turn'),
        valueOf(event, 'gateway.turn.input_tokens'),
        valueOf(event, 'gateway.turn.output_tokens'),
      ]),
      [
        ['gateway.turn', '1', '10', '5'],
        ['gateway.turn', '2', '10', '5'],
      ],
    );
    const [first, second] = spans.filter(({ name }) => name.startsWith('attempt '));
    const tool = named(spans, 'execute_tool service_files');
    assert.ok(first !== undefined && second !== undefined);
    assert.ok(first.endTimeUnixNano <= tool.startTimeUnixNano, 'a turn ends before its tools');
    assert.ok(second.startTimeUnixNano >= tool.endTimeUnixNano, 'the next turn begins after them');
    const costs = spans.map((span) => Number(valueOf(span, 'gen_ai.usage.cost') ?? 0));
    const request = named(spans, 'POST /v1/chat/completions');
    assert.equal(
      Number(valueOf(request, 'gateway.request.cost')).toFixed(9),
      costs.reduce((sum, cost) => sum + cost, 0).toFixed(9),
    );
    assert.equal(valueOf(named(spans, 'route'), 'gateway.route.considered'), '1');
  });

  // @spec destination-24
  test('has tools without a tree, too, and says of one that it failed', async (t) => {
    const { gateway } = await startToolTurns(t, model, { serverTools: [breaks], yaml: YAML });
    const receiver = await startSpanReceiver(t, gateway, { spans: 'generation' });
    await ask({ gateway }, CHAT, { tools: [{ type: 'service:files' }] });
    const spans = await receiver.next(2);
    assert.deepEqual(
      spans.map(({ name }) => name),
      ['chat acme/chat', 'execute_tool service_files'],
    );
    const [own, tool] = spans;
    assert.deepEqual([tool?.parentSpanId, tool?.status.code], [own?.spanId, 2]);
  });

  // @spec destination-23
  test('is joined by an MCP server with the setting, below the call, and by no other one', async (t) => {
    const server = await startMcpHttpServer();
    t.after(() => server.close());
    const { gateway } = await startToolTurns(t, obedient, {
      yaml: `${YAML}mcp_servers:\n${httpServer('own', server.url, ', trace_context: true')}${httpServer('plain', server.url)}`,
    });
    const receiver = await startSpanReceiver(t, gateway, { spans: 'generation' });
    const trace = { trace_id: TRACE_ID };
    for (const name of ['own', 'plain']) {
      const tools = [{ type: 'service:mcp', parameters: { server: name } }];
      const messages = [please(`mcp_${name}_echo`, { words: 'hi' })];
      await ask({ gateway }, CHAT, { tools, trace, messages });
    }
    const spans = await receiver.next(4);
    const [tool] = spans.filter(({ name }) => name.startsWith('execute_tool'));
    assert.deepEqual(server.notes, [`trace ["00-${TRACE_ID}-${tool?.spanId}-01",null]`]);
  });

  // @spec destination-24
  test('has the plugins that changed a request, before its generation', async (t) => {
    const yaml = `${YAML}routers: { auto: { default_models: [acme/chat] } }\n`;
    const { gateway } = await startToolTurns(t, () => ({ text: 'Hi.' }), { yaml });
    const receiver = await startSpanReceiver(t, gateway);
    await ask({ gateway }, { ...CHAT, model: 'service/auto' }, {});
    const spans = await receiver.next(3);
    const plugin = spans.find(({ name }) => name.startsWith('plugin '));
    assert.equal(plugin?.parentSpanId, named(spans, 'POST /v1/chat/completions').spanId);
    assert.notEqual(valueOf(plugin ?? assert.fail('there is none'), 'gateway.plugin'), undefined);
  });
});
