import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMailServer } from '../../../tests/support/http/mail-server.ts';
import { JobLost } from '../../jobs/contract.ts';
import type { ChannelRow } from '../../resources/notification-channels.ts';
import type { Message } from '../message.ts';
import { createMailSender } from './email.ts';

const MESSAGE: Message = {
  id: 'e1',
  type: 'key.limit',
  severity: 'warning',
  subject: 'key:a',
  workspaceId: null,
  title: 'A key has spent 80 %',
  text: '',
  values: {},
  link: null,
  atMs: 0,
};

const noSecrets = () => Promise.reject(new Error('no secret is named'));

test('sends no further mail once another process has the job', async (t) => {
  const server = await startMailServer();
  const mail = createMailSender(
    {
      host: '127.0.0.1',
      port: server.port,
      secure: false,
      plain: true,
      from: 'gateway@example.com',
    },
    noSecrets,
  );
  t.after(async () => {
    mail.close();
    await server.close();
  });
  const channel: Partial<ChannelRow> = { recipients: ['one@example.com', 'two@example.com'] };
  const sending = mail.send(MESSAGE, {
    channel: channel as ChannelRow,
    config: {},
    signal: new AbortController().signal,
    nowMs: 0,
    done: [],
    onDone: () => Promise.reject(new JobLost()),
  });
  await assert.rejects(sending, JobLost);
  assert.deepEqual(
    server.lines.filter((line) => line.startsWith('RCPT TO:')),
    ['RCPT TO:<one@example.com>'],
  );
});

test('fails, and says why, at a server that offers no login although it has one', async (t) => {
  const server = await startMailServer({ offersLogin: false });
  const settings = { host: '127.0.0.1', port: server.port, secure: false, plain: true, from: 'gateway@example.com' };
  const mail = createMailSender({ ...settings, user: 'gateway', password: 'a-password' }, noSecrets);
  const other = createMailSender(settings, noSecrets);
  t.after(async () => {
    mail.close();
    other.close();
    await server.close();
  });
  const channel: Partial<ChannelRow> = { recipients: ['one@example.com'] };
  const sent = await mail.send(MESSAGE, {
    channel: channel as ChannelRow,
    config: {},
    signal: new AbortController().signal,
    nowMs: 0,
    done: [],
    onDone: () => Promise.resolve(),
  });
  assert.match(String('error' in sent && sent.error), /offers no login \(AUTH\)/);
  assert.deepEqual(
    server.lines.filter((line) => line === 'DATA'),
    [],
  );
  assert.match((await mail.check()) ?? '', /offers no login \(AUTH\)/);
  assert.equal(await other.check(), undefined);
});
