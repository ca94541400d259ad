import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CALLERS, shareAllUpstreams, UPSTREAMS, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { messageOf } from '../support/next-turn.ts';
import { speak } from '../support/upstreams/speak.ts';
import type { Script } from '../support/upstream.ts';

const upstreams = shareAllUpstreams();
const names = Object.keys(UPSTREAMS) as UpstreamName[];

const CALL_ID = 'call_0123456789';
const SEAL = 'c2VhbGVkLXRob3VnaHQ=';
const user = { role: 'user', content: 'What time is it?' };

/** What a model says first; upstreams whose vendor signs reasoning demand the signature back with the call. */
const FIRST = speak({
  parts: [
    { type: 'thought', text: 'I need a clock.', seal: SEAL },
    { type: 'text', text: 'Let me look.' },
    { type: 'call', id: CALL_ID, name: 'service_datetime', input: '{}', signature: SEAL },
  ],
});
const SECOND = speak({ parts: [{ type: 'text', text: 'It is noon.' }] });

function inTurn(...scripts: readonly Script[]): Script {
  let at = 0;
  return (...exchange) => (scripts[at++] ?? SECOND)(...exchange);
}

/** What a format must bring back with the call so that its vendor takes it. */
const SEALED: ReadonlySet<string> = new Set(['claude', 'gemini', 'converse', 'responses', 'azure']);

suite('a server tool with an upstream of any format', () => {
  for (const name of names)
    for (const caller of CALLERS)
      for (const stream of [true, false])
        test(`runs with ${name} for a caller of ${caller}, ${stream ? 'streamed' : 'not streamed'}`, async () => {
          const { ask, upstream } = upstreams();
          const tools = [{ type: 'service:datetime', parameters: { timezone: 'UTC' } }];
          const more = caller === 'messages' ? { max_tokens: 500 } : {};
          upstream.script = inTurn(FIRST, SECOND);
          const { reported } = await ask(caller, name, { stream, messages: [user], tools, ...more });
          assert.equal(reported.text.replace('\n\n', ''), 'Let me look.It is noon.');
          assert.equal(reported.finish, caller === 'chat' ? 'stop' : 'end_turn');
          assert.equal(upstream.arrived.length, 2);
          const second = upstream.arrived[1]?.text ?? '';
          assert.match(second, /\\?"timezone\\*":\\*"UTC/, 'the model reads the result');
          assert.ok(!second.includes('srvtoolu_'), 'the ids of callers are not for upstreams');
          if (SEALED.has(name)) assert.ok(second.includes(SEAL), 'a seal goes back with what it was made for');
          // The answer comes back with the next request, and the same conversation goes upstream.
          upstream.script = SECOND;
          const messages = [user, messageOf(caller, reported), { role: 'user', content: 'Thanks.' }];
          const next = await ask(caller, name, { stream, messages, tools, ...more });
          assert.match(next.arrived.text, /\\?"timezone\\*":\\*"UTC/);
          assert.ok(!next.arrived.text.includes('srvtoolu_'));
          assert.ok(!next.arrived.text.includes('server_tool_call'));
        });
});
