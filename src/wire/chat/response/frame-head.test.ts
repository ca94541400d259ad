import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../../lib/json.ts';
import type { DeltaFrame } from '../../../canonical/events.ts';
import { TextTemplate } from '../../../lib/json/text-template.ts';
import { CHUNKS_OF_TEXT } from './plain-chunk.ts';
import { FrameHead, identityMembers } from './frame-head.ts';

const IDENTITY = { id: 'gen-1', createdS: 7, model: 'acme/one', provider: 'Acme' };
const MEMBERS = identityMembers(IDENTITY, 'chat.completion.chunk');
const TAIL = '[{"index":0,"delta":{"content":"say \\"choices\\": 1.0"},"finish_reason":null}],"service_tier":"x"}';

/** The parts of a chunk; without a text in its choices it is all head. */
function partsOf(chunk: string): DeltaFrame {
  const { choices } = (parseJson(chunk) ?? {}) as { choices?: [{ delta: { content: string } }] };
  const text = choices?.[0]?.delta.content;
  const parts = text === undefined ? undefined : new TextTemplate(CHUNKS_OF_TEXT).learn(chunk, text);
  return parts ?? { head: chunk, json: '', tail: '' };
}

function rewrite(chunk: string, heads = new FrameHead(MEMBERS)): unknown {
  const event = heads.rewrite(partsOf(chunk));
  if (event === undefined) return undefined;
  assert.ok(event.startsWith('data: ') && event.endsWith('\n\n'));
  return parseJson(event.slice('data: '.length));
}

test('changes only members of the head, and adds missing ones', () => {
  const frame = `{"id":"up","system_fingerprint":"fp","model":"m","created":1,"choices":${TAIL}`;
  assert.deepEqual(rewrite(frame), {
    ...(parseJson(frame) as object),
    ...MEMBERS,
  });
});

test('keeps the bytes of the rest of a chunk', () => {
  const event = new FrameHead(MEMBERS).rewrite(partsOf(`{"id":"up","choices":${TAIL}`));
  assert.ok(event?.endsWith(`"choices":${TAIL}\n\n`));
});

test('leaves out nulls that strict clients refuse, wherever they stand and however often the rest changes', () => {
  const heads = new FrameHead(MEMBERS);
  const choices = String.raw`[{"index":0,"delta":{"content":"a, \"usage\":null]"},"finish_reason":null}]`;
  for (const [before, behind] of [
    ['"system_fingerprint":null,', ',"usage":null'],
    ['"system_fingerprint": null, ', ', "usage": null'],
    ['"usage":null,', ',"system_fingerprint":null,"usage":null,"service_tier":"x"'],
    ['"usage":null,', ',"usage":null,"service_tier":"yz"'],
    ['', ',"service_tier":"a]b"'],
    ['', ''],
  ] as const) {
    const frame = `{"id":"up",${before}"choices":${choices}${behind}}`;
    const { usage: _usage, system_fingerprint: _fingerprint, ...rest } = parseJson(frame) as Record<string, unknown>;
    for (let times = 0; times < 2; times++) assert.deepEqual(rewrite(frame, heads), { ...rest, ...MEMBERS }, frame);
  }
});

test('spaces and another head in between do no harm', () => {
  const heads = new FrameHead(MEMBERS);
  const frames = [`{"id":"a","choices":${TAIL}`, `{"id": "a", "choices": ${TAIL}`, `{"id":"bb","choices":${TAIL}`];
  for (const frame of [...frames, ...frames])
    assert.deepEqual(rewrite(frame, heads), { ...(parseJson(frame) as object), ...MEMBERS });
});

test('removes the provider of the upstream where the gateway names none', () => {
  const { provider: _provider, ...anonymous } = IDENTITY;
  const heads = new FrameHead(identityMembers(anonymous, 'chat.completion.chunk'));
  assert.doesNotMatch(String(heads.rewrite(partsOf(`{"id":"a","provider":"Inner","choices":${TAIL}`))), /Inner/);
});

test('leaves a chunk to be encoded anew when its head cannot be separated', () => {
  for (const frame of [
    '{"id":"a"}',
    `{"x":{"choices":1},"choices":${TAIL}`,
    `{"x":[{"choices":${TAIL}`,
    'nonsense',
    '',
  ])
    assert.equal(rewrite(frame), undefined, frame);
});

test('accepts a first head of nothing but choices', () => {
  const frame = `{"choices":${TAIL}`;
  assert.deepEqual(rewrite(frame), { ...MEMBERS, ...(parseJson(frame) as object) });
});
