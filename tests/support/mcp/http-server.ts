import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createTestServer, type World } from './tools.ts';

export interface McpHttpServer {
  readonly url: string;
  readonly notes: string[];
  readonly headers: IncomingMessage['headers'][];
  /** Sessions that are open now; a server of the newer protocol has none. */
  readonly sessions: ReadonlyMap<string, object>;
  /** Forgets its sessions, as a restart does. */
  forget(): void;
  close(): Promise<void>;
}

/** A real MCP server over streamable HTTP. `old`: with the sessions of 2025. */
export async function startMcpHttpServer(protocol: 'new' | 'old' = 'new'): Promise<McpHttpServer> {
  const notes: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const handle = protocol === 'new' ? serveNew(notes) : serveOld(notes, sessions);
  const server: Server = createServer((request, response) => {
    headers.push(request.headers);
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    notes,
    headers,
    sessions,
    forget: () => sessions.clear(),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function serveNew(notes: string[]): RequestListener {
  const world: World = {
    note: (what) => notes.push(what),
    hasGrown: false,
    onGrown: () => handler.notify.toolsChanged(),
  };
  const handler = createMcpHandler(() => createTestServer(world), { legacy: 'reject' });
  // The library's own words for requests do not allow what Node's types do.
  return toNodeHandler(handler) as unknown as RequestListener;
}

function serveOld(notes: string[], sessions: Map<string, NodeStreamableHTTPServerTransport>): RequestListener {
  const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createTestServer({ note: (what) => notes.push(what), hasGrown: false }).connect(transport);
    return transport;
  };
  return (request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
      return;
    }
    void (async () => (known ?? (await open())).handleRequest(request, response))();
  };
}
