import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { checkGolden, goldenNames } from '../support/golden.ts';
import {
  readOwnRecordings,
  readRecordings,
  skipWithoutRecordings,
  type Recording,
} from '../support/recordings/recordings.ts';
import { ASKS, startReplay, type Replay, type Replayed } from '../support/recordings/replay.ts';
import { reviewAnswer, reviewRecord } from '../support/recordings/review-answer.ts';
import { readReported, type Reported } from '../support/reported.ts';
import { checkFacts, withoutSpaces } from './check-facts.ts';
import { NOTES } from './notes.ts';
import { playerOf } from './providers.ts';
import { HANG_UP, REQUEST_PAINS } from './request-pains.ts';

/** The four answers to one recording, in the order of `ASKS`. */
type Answers = readonly [Replayed, Replayed, Replayed, Replayed];

async function askAll(replay: Replay, recording: Recording): Promise<Answers> {
  const [chatWhole, chatStream, messagesWhole, messagesStream] = ASKS;
  return [
    await replay.ask(recording, chatWhole),
    await replay.ask(recording, chatStream),
    await replay.ask(recording, messagesWhole),
    await replay.ask(recording, messagesStream),
  ];
}

function goldenOf(recording: Recording, [chatWhole, chatStream, messagesWhole, messagesStream]: Answers): JsonObject {
  const why = NOTES[recording.name];
  return {
    recording: recording.file,
    ...(why !== undefined && { why }),
    record: chatWhole.record === undefined ? null : reviewRecord(chatWhole.record),
    chat: formatOf('chat', chatWhole, chatStream),
    messages: formatOf('messages', messagesWhole, messagesStream),
  };
}

function formatOf(format: 'chat' | 'messages', whole: Replayed, stream: Replayed): JsonObject {
  const shown: Record<string, Json> = {
    status: whole.status,
    warnings: whole.record?.['warnings'] ?? [],
    whole: reviewAnswer(whole, { format, stream: false }),
  };
  const streamed = reviewAnswer(stream, { format, stream: true });
  // What fails before the first content is the same answer in both deliveries.
  if (whole.status === 200) shown['stream'] = withoutUsage(streamed, shown['whole']);
  else assert.deepEqual(streamed, shown['whole']);
  return shown;
}

/** The usage at the end of a stream is the one of the whole answer, which stands above it. */
function withoutUsage(events: Json, whole: Json | undefined): Json {
  const usage = isJsonObject(whole) ? whole['usage'] : undefined;
  if (!Array.isArray(events) || usage === undefined) return events;
  return events.map((event: Json) =>
    isJsonObject(event) && isDeepStrictEqual(event['usage'], usage)
      ? { ...event, usage: 'as in the whole answer' }
      : event,
  );
}

const RECORDED = [
  'total_cost',
  'native_tokens_prompt',
  'native_tokens_completion',
  'usage_source',
  'warnings',
] as const;

/** What else a client has in its hands in the end. */
const MESSAGE = [
  'content',
  'refusal',
  'reasoning_details',
  'annotations',
  'images',
  'native_finish_reason',
  'stop_sequence',
  'stop_details',
  'container',
] as const;

/** Everything that must be the same however the answer is delivered. */
function checkSame(whole: Replayed, stream: Replayed, reported: readonly [Reported, Reported]): void {
  const [first, second] = reported;
  for (const member of ['text', 'reasoning', 'seals', 'finish'] as const)
    assert.deepEqual(second[member], first[member], `${member}: whole and streamed`);
  for (const member of ['code', 'message'])
    assert.equal(second.error?.[member], first.error?.[member], `${member} of the error: whole and streamed`);
  // The error event of messages has no place for the usage.
  if (second.error === undefined) assert.deepEqual(second.usage, first.usage, 'usage: whole and streamed');
  const [callsOfFirst, callsOfSecond] = reported.map(({ calls }) =>
    calls.map((call) => ({ ...call, arguments: withoutSpaces(call.arguments) })),
  );
  assert.deepEqual(callsOfSecond, callsOfFirst, 'calls: whole and streamed');
  for (const member of MESSAGE)
    assert.deepEqual(second.message[member], first.message[member], `${member} of the message: whole and streamed`);
  for (const member of RECORDED)
    assert.deepEqual(whole.record?.[member], stream.record?.[member], `${member} of the record: whole and streamed`);
}

function checkAnswers(recording: Recording, answers: Answers): void {
  const [chatWhole, chatStream, messagesWhole, messagesStream] = answers;
  if (chatWhole.status !== 200) return;
  for (const [at, answer] of answers.entries()) assert.equal(answer.status, 200, `answer ${at}`);
  const reported = answers.map((answer, at) => {
    const ask = ASKS[at] ?? ASKS[0];
    const one = readReported(answer, ask);
    // What is broken on purpose is not for the simple reader: its golden says what is right.
    if (!recording.name.startsWith(PAINS)) checkFacts(recording, ask, one, answer);
    return one;
  });
  checkSame(chatWhole, chatStream, [reported[0], reported[1]] as [Reported, Reported]);
  checkSame(messagesWhole, messagesStream, [reported[2], reported[3]] as [Reported, Reported]);
}

const PAINS = 'pains/';
/** Goldens of the same folder that pains.test.ts compares. */
const REQUEST_PAIN_NAMES: ReadonlySet<string> = new Set(
  [HANG_UP, ...REQUEST_PAINS.map(({ name }) => name)].map((name) => PAINS + name),
);

/** @param folder of the goldens; one that the names begin with is not repeated */
function declareReplays(title: string, recordings: readonly Recording[], folder: string): void {
  const goldenName = ({ name }: Recording): string => name.replace(`${folder}/`, '');
  suite(title, () => {
    let replay: Replay | undefined;
    before(async () => {
      replay = await startReplay(recordings, playerOf);
    });
    after(() => replay?.close());
    for (const recording of recordings) {
      test(`encodes ${recording.name} in both formats, streamed and not`, async () => {
        assert.ok(replay !== undefined);
        const answers = await askAll(replay, recording);
        checkAnswers(recording, answers);
        checkGolden(`${folder}/${goldenName(recording)}.json`, goldenOf(recording, answers));
      });
    }
    test('has a recording for every golden, and a golden for every note', () => {
      assert.deepEqual(
        goldenNames(folder).filter((name) => !REQUEST_PAIN_NAMES.has(`${folder}/${name}`)),
        recordings.map(goldenName).toSorted(),
      );
      const names = new Set([...own, ...recordings].map(({ name }) => name));
      if (folder === 'recordings') for (const name of Object.keys(NOTES)) assert.ok(names.has(name), name);
    });
  });
}

const own = readOwnRecordings();
declareReplays(
  'answers that were written for this repository',
  own.filter(({ name }) => !name.startsWith(PAINS)),
  'streams',
);
declareReplays(
  'what hurts in other gateways',
  own.filter(({ name }) => name.startsWith(PAINS)),
  'pains',
);
if (!skipWithoutRecordings()) declareReplays('recorded answers of providers', readRecordings(), 'recordings');
