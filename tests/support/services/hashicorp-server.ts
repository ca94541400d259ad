import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/**
 * A server with the parts of HashiCorp Vault's HTTP API that concern the KV engine, version 2, as its documentation describes
 * them, refusals included.
 * @source developer.hashicorp.com/vault/api-docs: index ("HTTP status codes", "Error response"), secret/kv/kv-v2, auth/kubernetes
 */
export interface HashicorpServer {
  readonly url: string;
  /** `METHOD /v1/path` of each call. */
  readonly calls: string[];
  /** Values by path below the mount; `null`: its last version was deleted. */
  readonly data: Map<string, Record<string, unknown> | null>;
  /** Each token, with the paths below the mount that its policy opens, for reading or for both. */
  readonly policies: Map<string, { readonly path: string; readonly writes: boolean }>;
  isSealed: boolean;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

const DENIED: Answer = { status: 403, body: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } };

export async function startHashicorpServer({
  mount = 'secret',
  namespace,
  pod,
}: {
  readonly mount?: string;
  readonly namespace?: string;
  /** What the Kubernetes method takes, and the tokens that it gives out one after the other. */
  readonly pod?: { readonly role: string; readonly jwt: string; readonly tokens: string[]; readonly leaseS: number };
} = {}): Promise<HashicorpServer> {
  const server = createServer((request, response) => {
    void respond(request, response);
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await answerTo(request);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  }

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const { method = '', url = '', headers } = request;
    running.calls.push(`${method} ${url}`);
    const text = Buffer.concat(await request.toArray()).toString();
    if (running.isSealed) return { status: 503, body: { errors: ['Vault is sealed'] } };
    if (headers['x-vault-namespace'] !== namespace) return noRoute(url);
    if (method === 'POST' && url === '/v1/auth/kubernetes/login') return signIn(text);
    const policy = running.policies.get(String(headers['x-vault-token']));
    if (policy === undefined)
      return { status: 403, body: { errors: ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n'] } };
    const [, kind, path] = new RegExp(`^/v1/${mount}/(data|metadata)/(.+)$`).exec(url) ?? [];
    if (path === undefined) return noRoute(url);
    const isWrite = method !== 'GET';
    if (!path.startsWith(policy.path) || (isWrite && !policy.writes)) return DENIED;
    if (kind === 'metadata')
      return method === 'DELETE' ? remove(path) : { status: 405, body: { errors: ['unsupported operation'] } };
    return method === 'GET' ? read(path) : write(method, path, text);
  }

  function read(path: string): Answer {
    const found = running.data.get(path);
    if (found === undefined) return { status: 404, body: { errors: [] } };
    const metadata = { created_time: '2026-01-01T00:00:00Z', deletion_time: '', destroyed: false, version: 1 };
    if (found !== null) return { status: 200, body: { data: { data: found, metadata } } };
    return {
      status: 404,
      body: { data: { data: null, metadata: { ...metadata, deletion_time: '2026-01-02T00:00:00Z' } } },
    };
  }

  function write(method: string, path: string, text: string): Answer {
    if (method !== 'POST' && method !== 'PUT') return { status: 405, body: { errors: ['unsupported operation'] } };
    const body = parse(text);
    if (body === undefined) return { status: 400, body: { errors: ['failed to parse JSON input'] } };
    const data = body['data'];
    if (typeof data !== 'object' || data === null) return { status: 400, body: { errors: ['no data provided'] } };
    running.data.set(path, { ...data });
    return {
      status: 200,
      body: { data: { created_time: '2026-01-01T00:00:00Z', deletion_time: '', destroyed: false, version: 1 } },
    };
  }

  function remove(path: string): Answer {
    running.data.delete(path);
    return { status: 204 };
  }

  function signIn(text: string): Answer {
    const { jwt, role } = parse(text) ?? {};
    if (typeof role !== 'string' || role === '') return { status: 400, body: { errors: ['missing role'] } };
    if (role !== pod?.role) return { status: 400, body: { errors: [`invalid role name "${role}"`] } };
    if (jwt !== pod.jwt) return DENIED;
    const token = pod.tokens.shift();
    return { status: 200, body: { auth: { client_token: token, lease_duration: pod.leaseS, renewable: true } } };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens at a port has such an address.
  const { port } = server.address() as AddressInfo;
  const running: HashicorpServer = {
    url: `http://127.0.0.1:${port}`,
    calls: [],
    data: new Map(),
    policies: new Map(),
    isSealed: false,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return running;
}

function noRoute(url: string): Answer {
  const path = url.slice('/v1/'.length);
  return { status: 404, body: { errors: [`no handler for route "${path}". route entry not found.`] } };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
