import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startMcpHttpServer, type McpHttpServer } from '../support/mcp/http-server.ts';
import { httpServer } from '../support/mcp/run.ts';

const NONE = '  gone: { url: "http://127.0.0.1:9/mcp" }\n';

suite('the inventory of tools', () => {
  let server: McpHttpServer;
  let gateway: RunningGateway;
  before(async () => {
    server = await startMcpHttpServer();
    gateway = await startGateway({ yaml: `mcp_servers:\n${httpServer('notes', server.url)}${NONE}` });
  });
  after(async () => {
    await gateway.close();
    await server.close();
  });

  async function rowsOf(path: string, key?: string): Promise<ReadonlyMap<string, JsonObject>> {
    const { status, body, text } = await manage(gateway, 'GET', path, undefined, key);
    assert.equal(status, 200, text);
    assert.ok(Array.isArray(body['data']));
    const rows = body['data'].filter((row) => isJsonObject(row));
    return new Map(rows.map((row) => [textAt({ name: row['id'] ?? row['name'] ?? '' }, 'name'), row]));
  }

  test('lists plugins and server tools with what they do and the schema of their options, to any key', async () => {
    const web = (await rowsOf('/plugins', API_KEY)).get('web') ?? {};
    assert.match(textAt(web, 'summary'), /Searches the web/);
    assert.match(JSON.stringify(web['options']), /"max_results"/);
    const tools = await rowsOf('/server_tools', API_KEY);
    assert.match(JSON.stringify(tools.get('service:datetime')), /"timezone"/);
    assert.ok(tools.size >= 12);
  });

  test('lists MCP servers with their tools, and says why one does not answer', async () => {
    const servers = await rowsOf('/mcp_servers');
    const [notes, gone] = [servers.get('notes') ?? {}, servers.get('gone') ?? {}];
    assert.deepEqual([notes['state'], notes['transport'], notes['trouble']], ['ready', 'http', null]);
    assert.match(JSON.stringify(notes['tools']), /"name":"echo".*"input_schema":/);
    assert.deepEqual([gone['state'], gone['tools'], typeof gone['trouble']], ['unavailable', null, 'string']);
  });

  test('calls a tool by hand, with an audit event that names it', async () => {
    const { status, text } = await manage(gateway, 'POST', '/mcp_servers/notes/tools/echo/call', {
      arguments: { words: 'hello' },
    });
    assert.equal(status, 200, text);
    assert.match(text, /"content":\[\{"type":"text","text":"hello"\}\]/);
    const unknown = await manage(gateway, 'POST', '/mcp_servers/notes/tools/none/call', {});
    assert.equal(unknown.status, 404, unknown.text);
    assert.equal((await manage(gateway, 'POST', '/mcp_servers/none/tools/echo/call', {})).status, 404);
    assert.equal((await manage(gateway, 'POST', '/mcp_servers/gone/tools/echo/call', {})).status, 502);
    const audit = await manage(gateway, 'GET', '/audit?action=callMcpTool');
    assert.match(audit.text, /mcp_servers\/notes\/tools\/echo/);
    assert.doesNotMatch(audit.text, /hello/);
  });

  test('keeps MCP servers from keys that only generate', async () => {
    assert.equal((await manage(gateway, 'GET', '/mcp_servers', undefined, API_KEY)).status, 403);
  });
});
