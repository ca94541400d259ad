import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { CredentialError } from '../contract.ts';
import { testCall } from '../../../tests/support/providers/call.ts';
import { createSigningAuthorize } from './sign.ts';
import {
  expectedSignature,
  signatureOf,
  type SignedRequest,
} from '../../../tests/support/providers/bedrock-signature.ts';

/** The vendor's own example keys: they open nothing. */
const ID = 'AKIDEXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const MODEL_PATH = '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream';

// docs.aws.amazon.com "Examples of the complete Signature Version 4 signing process" and `get-vanilla` of the published
// test suite: what the check below must find before it may judge anything.
for (const [name, request, signature] of [
  [
    'a published example with a query',
    {
      method: 'GET',
      target: '/?Action=ListUsers&Version=2010-05-08',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=${ID}/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=`,
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        host: 'iam.amazonaws.com',
        'x-amz-date': '20150830T123600Z',
      },
      body: '',
    },
    '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  ],
  [
    'the plainest of the published tests',
    {
      method: 'GET',
      target: '/',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=${ID}/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=`,
        host: 'example.amazonaws.com',
        'x-amz-date': '20150830T123600Z',
      },
      body: '',
    },
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
] as const satisfies readonly (readonly [string, SignedRequest, string])[]) {
  test(`checks signatures with a check that knows ${name}`, () => {
    assert.equal(expectedSignature(request, SECRET), signature);
  });
}

let upstream: Server;
let origin = '';
const seen: SignedRequest[] = [];
let credentialCalls = 0;
let credentialAnswer: object = {};
let folder = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aws-'));
  upstream = createServer((message, answer) => {
    void receive(message).then((request) => {
      if (request.target === '/credentials') {
        credentialCalls++;
        return answer.end(JSON.stringify(credentialAnswer));
      }
      seen.push(request);
      return answer.end('{}');
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});

after(() => {
  upstream.close();
  rmSync(folder, { recursive: true });
});

const NAMES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_PROFILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_EC2_METADATA_DISABLED',
] as const;

/** The chain of the vendor reads the environment of the process, which this file has to itself. */
function setEnvironment(values: Partial<Record<(typeof NAMES)[number], string>>): void {
  for (const name of NAMES) {
    const value = values[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

afterEach(() => setEnvironment({}));

const NO_FILES = {
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** Signs a call, sends it, and gives what arrived. */
async function send(authorize: ReturnType<typeof createSigningAuthorize>, target = MODEL_PATH): Promise<SignedRequest> {
  const body = JSON.stringify({ messages: [{ role: 'user', content: [{ text: 'Grüße, 世界' }] }] });
  const headers = { 'content-type': 'application/json', 'user-agent': 'model-gateway', accept: '*/*' };
  const credentials = await authorize(testCall({}, { url: origin + target, headers, body }));
  await new Promise<void>((resolve, reject) => {
    const sent = httpRequest(origin + target, { method: 'POST', headers: { ...headers, ...credentials } }, (answer) => {
      answer.resume().on('end', resolve);
    });
    sent.on('error', reject).end(body);
  });
  const last = seen.at(-1);
  assert.ok(last !== undefined);
  return last;
}

async function receive(message: IncomingMessage): Promise<SignedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]));
  return { method: message.method ?? '', target: message.url ?? '', headers, body: Buffer.concat(chunks).toString() };
}

test('signs a call with keys of the configuration as its bytes demand', async () => {
  const keys = { accessKeyId: ID, secretAccessKey: SECRET };
  const request = await send(createSigningAuthorize({ region: 'eu-central-1', keys }));
  assert.match(
    request.headers['authorization'] ?? '',
    /Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request/,
  );
  assert.match(
    request.headers['authorization'] ?? '',
    /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,/,
  );
  assert.equal(signatureOf(request), expectedSignature(request, SECRET));
  assert.notEqual(signatureOf(request), expectedSignature({ ...request, body: `${request.body} ` }, SECRET));
});

test('signs a query with the rest', async () => {
  const keys = { accessKeyId: ID, secretAccessKey: SECRET };
  const request = await send(createSigningAuthorize({ region: 'us-east-1', keys }), '/async-invoke?maxResults=1');
  assert.equal(signatureOf(request), expectedSignature(request, SECRET));
});

test('sends and signs the token of a session', async () => {
  const keys = { accessKeyId: ID, secretAccessKey: SECRET, sessionToken: 'session-1' };
  const request = await send(createSigningAuthorize({ region: 'us-east-1', keys }));
  assert.equal(request.headers['x-amz-security-token'], 'session-1');
  assert.match(request.headers['authorization'] ?? '', /SignedHeaders=[^,]*x-amz-security-token/);
  assert.equal(signatureOf(request), expectedSignature(request, SECRET));
});

test('keys of the environment are found', async () => {
  setEnvironment({ ...NO_FILES, AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'env-secret' });
  const request = await send(createSigningAuthorize({ region: 'us-east-1' }));
  assert.match(request.headers['authorization'] ?? '', /Credential=AKIDENV\//);
  assert.equal(signatureOf(request), expectedSignature(request, 'env-secret'));
});

test('finds a profile of the shared file by its name', async () => {
  const file = join(folder, 'credentials');
  writeFileSync(
    file,
    '[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = default-secret\n' +
      '[team]\naws_access_key_id = AKIDTEAM\naws_secret_access_key = team-secret\naws_session_token = team-session\n',
  );
  setEnvironment({ ...NO_FILES, AWS_SHARED_CREDENTIALS_FILE: file });
  const request = await send(createSigningAuthorize({ region: 'us-east-1', profile: 'team' }));
  assert.match(request.headers['authorization'] ?? '', /Credential=AKIDTEAM\//);
  assert.equal(request.headers['x-amz-security-token'], 'team-session');
  assert.equal(signatureOf(request), expectedSignature(request, 'team-secret'));
});

test('fetches credentials of a container once, and again when they expire', async () => {
  setEnvironment({ ...NO_FILES, AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/credentials` });
  const answer = (id: string, seconds: number): object => ({
    AccessKeyId: id,
    SecretAccessKey: `${id}-secret`,
    Token: `${id}-token`,
    Expiration: new Date(Date.now() + seconds * 1_000).toISOString(),
  });
  credentialAnswer = answer('AKIDFIRST', 3_600);
  const authorize = createSigningAuthorize({ region: 'us-east-1' });
  await send(authorize);
  const request = await send(authorize);
  assert.equal(credentialCalls, 1);
  assert.equal(request.headers['x-amz-security-token'], 'AKIDFIRST-token');

  credentialAnswer = answer('AKIDEXPIRED', -1);
  const renewing = createSigningAuthorize({ region: 'us-east-1' });
  await Promise.resolve(renewing(testCall())).catch(() => undefined);
  credentialAnswer = answer('AKIDSECOND', 3_600);
  const renewed = await send(renewing);
  assert.match(renewed.headers['authorization'] ?? '', /Credential=AKIDSECOND\//);
  assert.equal(signatureOf(renewed), expectedSignature(renewed, 'AKIDSECOND-secret'));
});

test('fails with a sentence where no credential is found, and works without a restart once one is there', async () => {
  setEnvironment(NO_FILES);
  const authorize = createSigningAuthorize({ region: 'us-east-1' });
  await assert.rejects(
    async () => authorize(testCall()),
    (error: unknown) =>
      error instanceof CredentialError && error.message.startsWith('the AWS credentials do not work: '),
  );
  setEnvironment({ ...NO_FILES, AWS_ACCESS_KEY_ID: 'AKIDLATE', AWS_SECRET_ACCESS_KEY: 'late-secret' });
  const request = await send(authorize);
  assert.equal(signatureOf(request), expectedSignature(request, 'late-secret'));
});

test('names a missing profile', async () => {
  setEnvironment(NO_FILES);
  const authorize = createSigningAuthorize({ region: 'us-east-1', profile: 'nobody' });
  await assert.rejects(async () => authorize(testCall()), /nobody/);
});
