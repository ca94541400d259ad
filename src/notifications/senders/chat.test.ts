import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../message.ts';
import { encodeDiscord, encodeMattermost, encodeSlack, encodeTeams } from './chat.ts';

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

// @spec notification-4, notification-14
test('is an adaptive card in Teams, of texts in which nothing is formatted', () => {
  const title = 'The key "**a** [x](https://evil.test) <at>all</at> {{DATE(2026-01-01)}} @here"';
  const sent = JSON.parse(JSON.stringify(encodeTeams({ ...MESSAGE, severity: 'critical', title })));
  assert.deepEqual([sent.type, sent.attachments.length], ['message', 1]);
  const [{ contentType, content }] = sent.attachments;
  assert.equal(contentType, 'application/vnd.microsoft.card.adaptive');
  assert.deepEqual([content.type, content.version], ['AdaptiveCard', '1.4']);
  const runs = content.body.map((block: { readonly type: string; readonly inlines: readonly object[] }) => {
    assert.equal(block.type, 'RichTextBlock', 'a TextBlock is Markdown');
    return block.inlines[0];
  });
  assert.partialDeepStrictEqual(runs, [
    { type: 'TextRun', weight: 'Bolder', color: 'Attention' },
    { type: 'TextRun', text: '1 of 2 USD' },
  ]);
  assert.match(runs[0].text, /\*\*a\*\* \[x\]/, 'what is no Markdown needs no escapes');
  assert.doesNotMatch(runs[0].text, /@here|\{\{|<at>/);
  assert.deepEqual(content.actions, [
    { type: 'Action.OpenUrl', title: 'Open the dashboard', url: 'https://gateway.example/ui/keys/a' },
  ]);
  assert.equal('msteams' in content, false, 'without entities nothing is a mention');
  assert.deepEqual(
    JSON.parse(JSON.stringify(encodeTeams({ ...MESSAGE, link: null }))).attachments[0].content.actions,
    undefined,
  );
  const long = JSON.stringify(encodeTeams({ ...MESSAGE, text: '\u20ac'.repeat(20_000) }));
  assert.ok(Buffer.byteLength(long) < 28 * 1_024, 'the most that a workflow takes');
});
