import assert from 'node:assert/strict';
import { isJsonObject } from '../../../src/lib/json.ts';
import { chatAnswer, json, type Script } from '../upstream.ts';

/** A question of a judge's prompt, with the state that it is about. */
export interface PutQuestion {
  readonly state: string;
  readonly instructions: string;
}

const LIKELY = 90;

/** A judge that writes percentages: "yes" is likely for the questions that `isYes` says so of, and unlikely else. */
export function judging(isYes: (question: PutQuestion) => boolean): Script {
  return (arrived, response, request) => {
    const { messages } = arrived.body;
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    assert.ok(isJsonObject(last) && typeof last['content'] === 'string', arrived.text);
    const end = last['content'].lastIndexOf('</state');
    const state = last['content'].slice(0, end);
    const questions = last['content']
      .slice(end)
      .split(/^Question (?=q\d+: )/m)
      .slice(1);
    const answers = questions.map((text) => {
      const [label = ''] = text.split(':');
      const yes = isYes({ state, instructions: text.split('\nA: ')[0] ?? '' }) ? LIKELY : 100 - LIKELY;
      const percent = [...text.matchAll(/^([A-Z]): (yes|no)/gm)].map(([, option = '', name]) => [
        option,
        name === 'yes' ? yes : 100 - yes,
      ]);
      return [label, { percent: Object.fromEntries(percent) }];
    });
    return json(200, chatAnswer(JSON.stringify({ answers: Object.fromEntries(answers) })))(arrived, response, request);
  };
}
