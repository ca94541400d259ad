import { managementKey, url } from '../gateway.ts';

interface Key {
  readonly hash: string;
  readonly name: string;
  readonly limit: number | null;
  readonly limit_remaining: number | null;
}

const made = await manage<{ data: Key; key: string }>('POST', '/keys', {
  name: 'team-a',
  limit: 25,
  limit_reset: 'monthly',
});
console.log(`${made.data.name} may spend ${made.data.limit} USD a month`);

const response = await fetch(`${url}/v1/chat/completions`, {
  method: 'POST',
  headers: { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }),
});
console.log(`its first call: ${response.status}`);

const { data } = await manage<{ data: Key }>('GET', `/keys/${made.data.hash}`);
console.log(`${data.limit_remaining} USD are left`);

await manage('DELETE', `/keys/${made.data.hash}`);
const refused = await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${made.key}` } });
console.log(`after its end: ${refused.status}`);

async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}
