import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block, ReasoningBlock } from '../../canonical/blocks.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import { classifyStatus } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { withoutRefusedReasoning } from './refused-reasoning.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

const READABLE: ReasoningBlock = { type: 'reasoning', form: 'summary', text: 'I look.', family: 'xai-responses-v1' };
const SEALED: ReasoningBlock = { type: 'reasoning', form: 'encrypted', text: 'c2VhbGVk', family: 'xai-responses-v1' };
const SIGNED: ReasoningBlock = {
  type: 'reasoning',
  form: 'text',
  text: 'I think.',
  signature: 'c2lnbmVk',
  family: 'anthropic-claude-v1',
};
const STATED: Block = { type: 'text', text: 'Done.' };

function requestWith(blocks: readonly Block[], format: ClientFormatId = 'chat'): GenerationRequest {
  return {
    format,
    delivery: 'whole',
    turns: [
      { role: 'user', blocks: [{ type: 'text', text: 'Go on.' }] },
      { role: 'assistant', blocks },
    ],
    tools: [],
    settings: {},
    directives: plainDirectives('acme/one'),
    warnings: [],
  };
}

function left(blocks: readonly Block[], error: UpstreamErrorBody, format?: ClientFormatId) {
  const kept = withoutRefusedReasoning(requestWith(blocks, format), classifyStatus(400, error));
  return kept && { blocks: kept.request.turns[1]?.blocks, warnings: kept.warnings.length };
}

suite('reasoning that an upstream refuses', () => {
  for (const error of [
    { code: 'invalid_encrypted_content', message: 'The encrypted content gAAA...Rg== could not be verified.' },
    { code: 'bad_request', message: 'The encrypted content gAAA...Qw== could not be verified. Reason: no key.' },
    { code: 'invalid-argument', message: 'Could not decrypt the provided encrypted_content. Ensure that it is whole.' },
  ])
    // @spec reasoning-23
    test(`goes where it is encrypted, and everything else stays: ${error.code}`, () => {
      assert.deepEqual(left([READABLE, SEALED, STATED], error), { blocks: [READABLE, STATED], warnings: 1 });
    });

  for (const message of [
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.3.content.0: Invalid signature in thinking block',
    'Corrupted thought signature.',
  ])
    // @spec reasoning-24
    test(`goes altogether for a signature that is not the vendor's: ${message}`, () => {
      assert.deepEqual(left([SIGNED, STATED], { message }), { blocks: [STATED], warnings: 1 });
    });

  // @spec reasoning-24
  test('stays where a caller of the messages format sent it', () => {
    const message = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    assert.equal(left([SIGNED, STATED], { message }, 'messages'), undefined);
  });

  test('stays for any other refusal', () => {
    assert.equal(left([SEALED, STATED], { message: 'encrypted_content is not known' }), undefined);
  });
});
