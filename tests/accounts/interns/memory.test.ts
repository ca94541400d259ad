import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MANAGEMENT_KEY } from '../../support/gateway.ts';
import { setUp } from './support.ts';

// @spec intern-25, intern-26
test('keeps notes of runs, which the creator reads and changes', async (t) => {
  const { intern, chat, call } = await setUp(t);
  const id = await intern({ model: 'sandbox/tools' });
  assert.match((await call('GET', `/interns/${id}/memory`)).text, /"version":0,"by":null/);
  // The model calls the one tool that it is offered, and no approval is needed.
  const { finish, runId, raw } = await chat(id, 'note something');
  assert.equal(finish, 'stop', raw);
  assert.match(
    (await call('GET', `/interns/${id}/runs/${runId}/steps`)).text,
    /"name":"service_memory","state":"done"/,
  );
  const written = await call('PUT', `/interns/${id}/memory`, { text: 'The office closes at five.' });
  assert.equal(written.status, 200, written.text);
  const manager = { authorization: `Bearer ${MANAGEMENT_KEY}` };
  const read = await call('GET', `/interns/${id}/memory`, undefined, manager);
  assert.match(read.text, /The office closes at five/);
  assert.equal((await call('GET', `/interns/${id}/memory?version=99`)).status, 404);
  assert.equal((await call('PATCH', `/interns/${id}`, { memory: { max_bytes: 4 } })).status, 200);
  const long = await call('PUT', `/interns/${id}/memory`, { text: 'too long' });
  assert.equal(long.status, 400);
  assert.match(long.text, /more than the 4/);
});

test('names what is wrong with a schedule, and shows when it is due', async (t) => {
  const { intern, call } = await setUp(t);
  const good = { id: 'morning', cron: '30 8 * * mon-fri', prompt: 'Read the news.' };
  for (const [bad, path] of [
    [{ ...good, cron: '61 * * * *' }, 'schedules[0].cron'],
    [{ ...good, cron: '0 0 30 2 *' }, 'schedules[0].cron'],
    [{ ...good, tz: 'Mars/Base' }, 'schedules[0].tz'],
    [{ ...good, id: 'a b' }, 'schedules[0].id'],
  ] as const) {
    const refused = await call('POST', '/interns', { name: 'bad', schedules: [bad] });
    assert.equal(refused.status, 400, refused.text);
    assert.ok(refused.text.includes(path), refused.text);
  }
  const twice = await call('POST', '/interns', { name: 'bad', schedules: [good, good] });
  assert.ok(twice.text.includes('schedules[1].id'), twice.text);
  const id = await intern({ schedules: [good] });
  const { text } = await call('GET', `/interns/${id}/schedules`);
  assert.match(
    text,
    /"id":"morning","cron":"30 8 \* \* mon-fri","tz":"UTC","next_at":"[^"]+T08:30:00\.000Z","paused_at":null/,
  );
  assert.equal((await call('PATCH', `/interns/${id}`, { schedules: [] })).status, 200);
  assert.match((await call('GET', `/interns/${id}/schedules`)).text, /"data":\[\]/);
});
