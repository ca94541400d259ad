import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createChatClientFormat } from '../chat/format.ts';
import { decodeHeaderDirectives } from './headers.ts';
import { createMessagesClientFormat } from '../messages/format.ts';
import { MESSAGES_MAX } from './messages-max.ts';

const plugin = z.never();
const FORMATS = [createChatClientFormat({ plugin }), createMessagesClientFormat({ plugin })];

// @spec chat-1
test('takes as many messages as the bound says, and refuses one more by name', () => {
  for (const format of FORMATS) {
    const decode = (count: number): number => {
      const messages = Array.from({ length: count }, () => ({ role: 'user', content: 'x' }));
      const body = { model: 'a/b', max_tokens: 5, messages };
      return format.decodeRequest(body, JSON.stringify(body), decodeHeaderDirectives({})).turns.length;
    };
    assert.equal(decode(MESSAGES_MAX), MESSAGES_MAX);
    assert.throws(
      () => decode(MESSAGES_MAX + 1),
      (error) => error instanceof GatewayError && error.status === 400 && error.issues?.[0]?.path === 'messages',
    );
  }
});
