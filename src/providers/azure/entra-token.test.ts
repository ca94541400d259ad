import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../../tests/support/http/loopback-certificate.ts';
import { CredentialError } from '../contract.ts';
import { testCall } from '../../../tests/support/providers/call.ts';
import { createEntraAuthorize } from './entra-token.ts';

let entra: Server;
let machine: Server;
let authority = '';
let folder = '';
const requested: URLSearchParams[] = [];
const requestedOfMachine: IncomingMessage[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'entra-'));
  setDefaultCACertificates([...getCACertificates('default'), LOOPBACK_CERTIFICATE]);
  entra = createTlsServer({ key: LOOPBACK_KEY, cert: LOOPBACK_CERTIFICATE }, (message, answer) => {
    void read(message).then((body) => {
      answer.setHeader('content-type', 'application/json');
      const base = `${authority}/tenant-1`;
      if (message.url?.includes('/.well-known/openid-configuration') === true) {
        return answer.end(
          JSON.stringify({
            issuer: `${base}/v2.0`,
            authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
            token_endpoint: `${base}/oauth2/v2.0/token`,
            jwks_uri: `${base}/keys`,
          }),
        );
      }
      const form = new URLSearchParams(body);
      requested.push(form);
      if (form.get('client_secret') === 'wrong-secret')
        return answer
          .writeHead(401)
          .end(JSON.stringify({ error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret.' }));
      return answer.end(
        JSON.stringify({ access_token: `entra-${requested.length}`, expires_in: 3_599, token_type: 'Bearer' }),
      );
    });
  });
  machine = createHttpServer((message, answer) => {
    requestedOfMachine.push(message);
    const expiresOn = Math.floor(Date.now() / 1_000) + 3_600;
    answer.setHeader('content-type', 'application/json');
    answer.end(
      JSON.stringify({
        access_token: `machine-${requestedOfMachine.length}`,
        expires_on: String(expiresOn),
        resource: 'https://cognitiveservices.azure.com',
        token_type: 'Bearer',
      }),
    );
  });
  await Promise.all([listen(entra), listen(machine)]);
  authority = `https://127.0.0.1:${(entra.address() as AddressInfo).port}`;
});

after(() => {
  entra.close();
  machine.close();
  entra.closeAllConnections();
  machine.closeAllConnections();
  rmSync(folder, { recursive: true });
});

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

async function read(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

test("gets a token with an application's secret, once while the token is valid", async () => {
  const authorize = createEntraAuthorize({
    authority,
    tenantId: 'tenant-1',
    clientId: 'app-1',
    clientSecret: 's3cret',
  });
  const first = await authorize(testCall());
  assert.match(first['authorization'] ?? '', /^Bearer entra-\d+$/);
  const form = requested.at(-1);
  assert.equal(form?.get('grant_type'), 'client_credentials');
  assert.equal(form?.get('client_id'), 'app-1');
  assert.equal(form?.get('client_secret'), 's3cret');
  assert.equal(form?.get('scope'), 'https://cognitiveservices.azure.com/.default');
  const calls = requested.length;
  assert.deepEqual(await authorize(testCall()), first);
  assert.equal(requested.length, calls);
});

test('gets a token with the file that the cluster wrote for a workload', async () => {
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'cluster-token\n');
  await createEntraAuthorize({ authority, tenantId: 'tenant-1', clientId: 'app-2', tokenFile })(testCall());
  assert.equal(requested.at(-1)?.get('client_assertion'), 'cluster-token');
  assert.equal(requested.at(-1)?.get('client_id'), 'app-2');
});

test('reports a wrong secret in a sentence without it', async () => {
  const authorize = createEntraAuthorize({
    authority,
    tenantId: 'tenant-1',
    clientId: 'app-3',
    clientSecret: 'wrong-secret',
  });
  await assert.rejects(
    async () => authorize(testCall()),
    (error: unknown) => {
      assert.ok(error instanceof CredentialError);
      assert.match(error.message, /^Entra ID gave no token: .*AADSTS7000215/);
      assert.ok(!error.message.includes('wrong-secret'));
      return true;
    },
  );
});

test("uses the machine's managed identity without an application", async () => {
  // App Service passes the address in the environment, which the library reads; this test file has a process of its
  // own.
  process.env['IDENTITY_ENDPOINT'] = `http://127.0.0.1:${(machine.address() as AddressInfo).port}/msi/token`;
  process.env['IDENTITY_HEADER'] = 'header-1';
  const authorize = createEntraAuthorize({ authority, clientId: 'user-assigned-1' });
  const first = await authorize(testCall());
  assert.equal(first['authorization'], 'Bearer machine-1');
  const [message] = requestedOfMachine;
  assert.equal(message?.headers['x-identity-header'], 'header-1');
  const query = new URL(message?.url ?? '', 'http://x').searchParams;
  assert.equal(query.get('resource'), 'https://cognitiveservices.azure.com');
  assert.equal(query.get('client_id'), 'user-assigned-1');
  assert.deepEqual(await authorize(testCall()), first);
  assert.equal(requestedOfMachine.length, 1);
});
