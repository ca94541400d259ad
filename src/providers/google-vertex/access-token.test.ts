import assert from 'node:assert/strict';
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CredentialError } from '../contract.ts';
import { testCall } from '../../../tests/support/providers/call.ts';
import { createTokenAuthorize } from './access-token.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const SERVICE_ACCOUNT = {
  type: 'service_account',
  project_id: 'project-1',
  private_key_id: 'key-1',
  private_key: privateKey,
  client_email: 'gateway@project-1.iam.gserviceaccount.com',
};

let google: Server;
let host = '';
let tokenCalls = 0;
let answersTokens = true;
let home = '';

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'gcloud-'));
  google = createServer((message, answer) => {
    answer.setHeader('metadata-flavor', 'Google').setHeader('content-type', 'application/json');
    const path = (message.url ?? '').split('?')[0];
    if (path === '/computeMetadata/v1/instance/service-accounts/default/token') {
      tokenCalls++;
      if (!answersTokens) return answer.writeHead(403).end('{"error":"forbidden"}');
      return answer.end(
        JSON.stringify({ access_token: `metadata-${tokenCalls}`, expires_in: 3_600, token_type: 'Bearer' }),
      );
    }
    if (path === '/sts') {
      tokenCalls++;
      return answer.end(
        JSON.stringify({ access_token: `federated-${tokenCalls}`, expires_in: 3_600, token_type: 'Bearer' }),
      );
    }
    if (path === '/subject') return answer.end(JSON.stringify({ id_token: 'subject-token' }));
    return answer.end('{}');
  });
  await new Promise<void>((resolve) => google.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(google.address() as AddressInfo).port}`;
  // The library reads the environment of the process, which this file has to itself.
  delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  delete process.env['google_application_credentials'];
  process.env['HOME'] = home;
  process.env['GCE_METADATA_HOST'] = host;
  process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
});

after(() => {
  google.close();
  rmSync(home, { recursive: true });
});

function partOf(token: string, index: number): unknown {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString('utf8'));
}

test('signs its own token with the key of a service account, without a call', async () => {
  const { authorization = '' } = await createTokenAuthorize(SERVICE_ACCOUNT)(testCall());
  const token = authorization.replace(/^Bearer /, '');
  const [head = '', claims = '', signature = ''] = token.split('.');
  assert.ok(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url'));
  assert.deepEqual(partOf(token, 0), { alg: 'RS256', typ: 'JWT', kid: 'key-1' });
  const stated = partOf(token, 1) as Readonly<Record<string, unknown>>;
  assert.equal(stated['iss'], SERVICE_ACCOUNT.client_email);
  assert.equal(stated['scope'], 'https://www.googleapis.com/auth/cloud-platform');
  assert.ok(Number(stated['exp']) * 1_000 > Date.now());
  assert.equal(tokenCalls, 0);
});

test('keeps a token while it is valid', async () => {
  const authorize = createTokenAuthorize(SERVICE_ACCOUNT);
  assert.deepEqual(await authorize(testCall()), await authorize(testCall()));
});

test('exchanges workload identity at the address in its file', async () => {
  const authorize = createTokenAuthorize({
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://${host}/sts`,
    credential_source: {
      url: `http://${host}/subject`,
      format: { type: 'json', subject_token_field_name: 'id_token' },
    },
  });
  const first = await authorize(testCall());
  assert.match(first['authorization'] ?? '', /^Bearer federated-\d+$/);
  assert.deepEqual(await authorize(testCall()), first);
});

test("uses the machine's own account without a file, once", async () => {
  const calls = tokenCalls;
  const authorize = createTokenAuthorize(undefined);
  const first = await authorize(testCall());
  assert.equal(first['authorization'], `Bearer metadata-${calls + 1}`);
  assert.deepEqual(await authorize(testCall()), first);
  assert.equal(tokenCalls, calls + 1);
});

test('reports a machine without an account in a sentence', async () => {
  answersTokens = false;
  await assert.rejects(
    async () => createTokenAuthorize(undefined)(testCall()),
    (error: unknown) => {
      assert.ok(error instanceof CredentialError);
      assert.match(error.message, /^Google's credentials do not work: /);
      return true;
    },
  );
});

test('finds an account that comes after the gateway without a restart', async () => {
  const { GCE_METADATA_HOST: known, METADATA_SERVER_DETECTION: detection } = process.env;
  delete process.env['METADATA_SERVER_DETECTION'];
  process.env['GCE_METADATA_HOST'] = '127.0.0.1:1';
  answersTokens = true;
  let nowMs = 0;
  try {
    const authorize = createTokenAuthorize(undefined, () => nowMs);
    await assert.rejects(async () => authorize(testCall()), /set options\.credentials_file/);
    process.env['GCE_METADATA_HOST'] = known;
    nowMs = 30_000;
    assert.match((await authorize(testCall()))['authorization'] ?? '', /^Bearer metadata-/);
  } finally {
    process.env['GCE_METADATA_HOST'] = known;
    process.env['METADATA_SERVER_DETECTION'] = detection;
  }
});

test('fails for an invalid key without repeating it', async () => {
  const broken = {
    ...SERVICE_ACCOUNT,
    private_key: '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n',
  };
  await assert.rejects(
    async () => createTokenAuthorize(broken)(testCall()),
    (error: unknown) => {
      assert.ok(error instanceof CredentialError);
      assert.ok(!error.message.includes('c2VjcmV0'));
      return true;
    },
  );
});
