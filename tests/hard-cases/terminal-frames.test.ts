import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import { NO_USAGE } from '../../src/canonical/usage.ts';
import { CALLERS, ONE_OF_EACH, PATHS, shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { arbitraryAnswer } from '../support/fuzz/arbitrary-answer.ts';
import { CLIENT_FORMATS } from '../support/prepare-request.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { formatStream, formatOfPath } from '../support/upstreams/speak.ts';
import type { Script } from '../support/upstream.ts';

const shared = shareAllUpstreams();

const SEED = 20_261_121;
const IDENTITY = { id: 'gen-1', createdS: 1_760_000_000, model: 'acme/one', provider: 'Acme' };
const FINAL_USAGE = { usage: NO_USAGE, charge: undefined, isByok: false, serviceMetadata: undefined };
const CONTEXT = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://127.0.0.1/v1' };
const BROKEN = new GatewayError('provider_unavailable', 'It broke.');
/** Both readers demand one terminal frame, at the end, and blocks that are dense and never overlap. */
const READERS = { chat: readChatStream, messages: readMessagesStream };

suite('a stream that breaks off', () => {
  for (const caller of CALLERS)
    // @spec stream-2
    test(`ends in one terminal frame with the error: ${caller} caller`, () => {
      fc.assert(
        fc.property(arbitraryAnswer(), fc.nat(60), fc.boolean(), (events, cut, isCounted) => {
          const encoder = CLIENT_FORMATS[caller].createStreamEncoder(IDENTITY);
          // The end itself never came.
          const text = encoder.encode(events.slice(0, Math.min(cut, events.length - 1)));
          const stream = text + encoder.fail(BROKEN, isCounted ? FINAL_USAGE : undefined, CONTEXT);
          assert.equal(READERS[caller](stream).error?.message, 'It broke.');
        }),
        { numRuns: 500, seed: SEED },
      );
    });

  /** Half of an answer that has a thought, a text and a call, and then nothing. */
  const cutShort: Script = (arrived, response) => {
    const { type, body } = formatStream(formatOfPath(arrived.path), {
      parts: [
        { type: 'thought', text: 'I look.' },
        { type: 'text', text: 'Looking around.' },
        { type: 'call', id: 'call_1', name: 'look', input: '{"at":"the sky above us"}' },
      ],
    });
    response.writeHead(200, { 'content-type': type });
    // Somewhere in the call, once the text has come.
    response.write(body.subarray(0, body.indexOf('the sky above')));
    setTimeout(() => response.destroy(), 20);
  };

  for (const caller of CALLERS)
    for (const name of ONE_OF_EACH)
      test(`ends likewise in the middle of a call of ${name}, after the text: ${caller} caller`, async () => {
        const { gateway, upstream } = shared();
        upstream.script = cutShort;
        const body = {
          model: `acme/${name}`,
          max_tokens: 100,
          stream: true,
          messages: [{ role: 'user', content: 'Look.' }],
        };
        const response = await gateway.post(PATHS[caller], body);
        assert.equal(response.status, 200);
        const reported = READERS[caller](await response.text());
        assert.equal(reported.text, 'Looking around.');
        assert.equal(reported.error?.code, 502);
      });
});
