import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

const configuration = (baseUrl: string): string => `
providers:
  alpha: { adapter: openai-compatible, base_url: ${baseUrl}, api_key: k }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 10, completion: 10 } }]
`;

test('grants, adjusts, spends, refunds and verifies credit over HTTP and on the command line', async (t) => {
  const upstream = await startUpstream(json(200, chatAnswer('Hello.')));
  const gateway = await startGateway({ yaml: configuration(upstream.baseUrl) });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  const credits = (...args: readonly string[]) => captureCli(['credits', ...args, '--data-dir', gateway.dataDir]);
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.text() };
  };

  const once = { 'idempotency-key': 'november' };
  const granted = await ask('POST', '/credits/grants', { amount: 10, note: 'for the team' }, once);
  assert.equal(granted.status, 201, granted.body);
  const sentAgain = await ask('POST', '/credits/grants', { amount: 10, note: 'for the team' }, once);
  assert.deepEqual(sentAgain, { status: 200, body: granted.body });
  assert.equal((await ask('POST', '/credits/grants', { amount: 11, note: 'for the team' }, once)).status, 409);
  assert.match(granted.body, /"kind":"grant","amount":10,.*"note":"for the team","author":"[0-9a-f]{64}"/);
  const adjust = () => credits('adjust', '-0.5', '--note', 'counted wrong', '--id', 'correction');
  assert.equal((await adjust()).stdout, '9.5 USD (9.5 given, 0 used)\n');
  assert.match(
    (await adjust()).stdout,
    /^Entered before, at .*: nothing has changed\.\n9\.5 USD \(9\.5 given, 0 used\)\n$/,
  );

  const answer = await gateway.post('/chat/completions', {
    model: 'acme/one',
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const id = answer.headers.get('x-generation-id') ?? '';
  await answer.text();
  assert.deepEqual(await ask('GET', '/credits'), {
    status: 200,
    body: '{"data":{"total_credits":9.5,"total_usage":0.00015}}',
  });
  assert.equal((await credits('verify')).stdout, 'Generations, entries, sums and balance agree.\n');

  const refund = await credits('refund', id, '--note', 'it was wrong');
  assert.equal(refund.stdout, '9.5 USD (9.50015 given, 0.00015 used)\n');
  const again = await credits('refund', id, '--note', 'once more');
  assert.deepEqual([again.code, again.stderr], [1, `Nothing is left to give back for the generation ${id}.\n`]);

  const lines = (await credits('entries')).stdout.trim().split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines.join('\n'), new RegExp(`refund {2}0\\.00015 USD {2}${id} {2}cli {2}it was wrong`));
  assert.match((await credits('entries', '--limit', '1', '--json')).stdout, /^\{"id":"[^\n]+\}\n$/);
  const audit = (await captureCli(['audit', '--data-dir', gateway.dataDir])).stdout;
  assert.deepEqual([...audit.matchAll(/credits adjust|grantCredits/g)].map(String), ['credits adjust', 'grantCredits']);
});

// @spec money-45
test('sells no credit, whatever the request', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const body of ['{"amount":5}', '{"amount":', '']) {
    const answer = await fetch(`${gateway.baseUrl}/credits/coinbase`, { method: 'POST', body });
    assert.equal(answer.status, 410);
    assert.match(await answer.text(), /^\{"error":\{"code":410,"message":"/);
  }
});

test('says what is missing in an incomplete command, and changes nothing', async () => {
  const stated = async (...args: readonly string[]) => {
    const { code, stderr } = await captureCli(['credits', ...args]);
    assert.equal(code, 2);
    return stderr.trim();
  };
  assert.equal(await stated(), 'credits: say what to do: balance, grant, adjust, refund, entries, verify');
  assert.equal(await stated('grnt'), 'credits grnt: unknown command; did you mean "grant"?');
  assert.equal(await stated('grant', '--note', 'x'), 'credits grant: say the AMOUNT');
  assert.equal(await stated('grant', '5'), 'credits grant: say why, with --note TEXT');
  assert.equal(await stated('grant', '5', '6', '--note', 'x'), 'credits grant: 6: unexpected argument');
  assert.equal(await stated('balance', '--note', 'x'), 'credits balance: --note belongs to grant, adjust, refund');
  assert.equal(await stated('verify', '--id', 'x'), 'credits verify: --id belongs to grant, adjust, refund');
});
