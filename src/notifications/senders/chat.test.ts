import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../message.ts';
import { encodeDiscord, encodeMattermost, encodeSlack } from './chat.ts';

const MESSAGE: Message = {
  id: 'evt_1',
  type: 'key.limit',
  severity: 'warning',
  subject: 'key:a',
  workspaceId: null,
  title: 'The key "<!channel> @here [x](https://evil.test) & co"',
  text: '1 of 2 USD',
  values: {},
  link: 'https://gateway.example/ui/keys/a',
  atMs: 0,
};

// @spec notification-4
test('mentions and formats nothing that a name holds', () => {
  const slack = JSON.stringify(encodeSlack(MESSAGE));
  assert.match(slack, /&lt;\u200B!channel&gt;/);
  assert.match(slack, /<https:\/\/gateway\.example\/ui\/keys\/a\|Open the dashboard>/);
  assert.doesNotMatch(slack, /<!|@here/);
  for (const encode of [encodeMattermost, encodeDiscord]) {
    const text = JSON.stringify(encode(MESSAGE));
    assert.doesNotMatch(text, /<!|@here|[^\\]\[x\]/);
  }
  assert.deepEqual((encodeDiscord(MESSAGE) as { allowed_mentions: object }).allowed_mentions, { parse: [] });
});
