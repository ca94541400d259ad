import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { manage, textAt } from '../../support/byok.ts';
import { dataOf, join, startOrganization } from '../../support/http/people-client.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { countingTool } from './support.ts';

const YAML = `
organization: { enabled: true, name: Acme }
interns: { enabled: true }
notifications: { private_addresses: true }
`;

suite('an intern and the people around it', () => {
  const { tool } = countingTool();
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startOrganization({ yaml: YAML, serverTools: [tool] });
    const channel = { name: 'all', kind: 'webhook', url: 'http://127.0.0.1:9/', events: ['*'], min_severity: 'info' };
    const made = await manage(gateway, 'POST', '/notifications/channels', channel);
    assert.equal(made.status, 201, made.text);
  });
  after(() => gateway.close());

  /** A key of a new user, with an agent that it made. */
  async function makeIntern(email: string) {
    const person = await join(gateway, email);
    const key = textAt((await person.session.call('POST', '/ui/api/v1/keys', { name: 'laptop' })).body, 'key');
    const authorization = { authorization: `Bearer ${key}` };
    const body = { name: email, model: 'sandbox/tools', tools: [{ type: 'service:note' }], provision: true };
    const made = await gateway.post('/interns', body, authorization);
    assert.equal(made.status, 201);
    const intern: { data: { id: string; key_hash: string } } = JSON.parse(await made.text());
    const { id, key_hash: keyHash } = intern.data;
    const chat = async () => {
      const messages = [{ role: 'user', content: 'write it down' }];
      const answered = await gateway.post(`/interns/${id}/chat/completions`, { stream: true, messages }, authorization);
      return { status: answered.status, text: await answered.text() };
    };
    return { person, id, keyHash, chat };
  }

  /** Events of a kind about an agent; they are stored beside the run. */
  async function eventsOf(type: string, internId: string): Promise<string> {
    for (let tries = 0; tries < 100; tries++) {
      const { text } = await manage(gateway, 'GET', '/notifications/events?limit=100');
      const { data } = JSON.parse(text) as { data: { type: string; subject: string }[] };
      const found = data.filter((event) => event.type === type && event.subject === `intern:${internId}`);
      if (found.length > 0) return JSON.stringify(found);
      await delay(20);
    }
    return '';
  }

  // @spec intern-19
  test('notifies of a run that waits for a decision, and of one that failed, without what was said', async () => {
    const { id, keyHash, chat } = await makeIntern('ann@acme.example');
    assert.match((await chat()).text, /service\.provide_input/);
    const waits = await eventsOf('intern.needs_input', id);
    assert.match(waits, /waits for a decision/);
    assert.ok(!waits.includes('write it down'));
    await manage(gateway, 'PATCH', `/keys/${keyHash}`, { disabled: true });
    const started = await chat();
    assert.match(started.text, /payer_gone/, started.text);
    assert.match(await eventsOf('intern.failed', id), /has failed/);
  });

  // @spec intern-20
  test('stops with its creator, and does not run again when that one is enabled', async () => {
    const { person, id, chat } = await makeIntern('bob@acme.example');
    await manage(gateway, 'PATCH', `/organization/members/${person.id}`, { disabled: true });
    const statusOf = async () => dataOf(await manage(gateway, 'GET', `/interns/${id}`));
    assert.equal((await statusOf())['status'], 'stopped');
    assert.match(JSON.stringify(await statusOf()), /"lastFailureMessage":"Its creator/);
    assert.equal((await chat()).status, 401);
    await manage(gateway, 'PATCH', `/organization/members/${person.id}`, { disabled: false });
    assert.equal((await statusOf())['status'], 'stopped');
    // Its keys stay disabled until an admin enables them.
    const provisioned = dataOf(await manage(gateway, 'POST', `/interns/${id}/provision`));
    assert.equal(provisioned['status'], 'failed', JSON.stringify(provisioned));
  });
});
