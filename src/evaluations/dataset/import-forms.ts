import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

const LETTERS = 'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z'.split(' ');

/**
 * A line of another common form as an item; of its other members only the id is kept. `undefined`: it is none of them.
 * @source the registry of github.com/openai/evals (`input`, `ideal`), and the columns that published question sets share
 */
export function fromOtherForm(line: JsonObject): JsonObject | undefined {
  const { input, ideal, question, choices, answer } = line;
  const id = typeof line['id'] === 'string' ? { id: line['id'] } : {};
  if (input !== undefined && ideal !== undefined)
    return { ...id, ...(Array.isArray(input) ? { messages: input } : { prompt: input }), expected: ideal };
  if (typeof question !== 'string' || answer === undefined) return undefined;
  if (choices === undefined) return { ...id, prompt: question, expected: answer };
  return { ...id, ...fromChoices(question, textsOf(choices), answer) };
}

/** As a list, or as the object that some sets have: `{"text": [...], "label": [...]}`. */
function textsOf(choices: Json): readonly string[] {
  const texts = isJsonObject(choices) ? choices['text'] : choices;
  return Array.isArray(texts)
    ? texts.map((text: Json) => (typeof text === 'string' ? text : JSON.stringify(text)))
    : [];
}

function fromChoices(question: string, choices: readonly string[], answer: Json): JsonObject {
  const labels = LETTERS.slice(0, choices.length);
  const lines = choices.map((choice, at) => `${labels[at] ?? ''}) ${choice}`);
  return {
    prompt: [question, '', ...lines, '', 'Answer with the letter alone.'].join('\n'),
    // A label that is not there is no answer, which the checks of the line report.
    expected: labelOf(answer, labels, choices) ?? null,
    checks: [{ type: 'choice', labels }],
  };
}

/** By its place from 0, its letter, or its text. */
function labelOf(answer: Json, labels: readonly string[], choices: readonly string[]): string | undefined {
  if (typeof answer === 'number') return labels[answer];
  if (typeof answer !== 'string') return undefined;
  const byText = labels[choices.indexOf(answer)];
  return byText ?? labels.find((label) => label === answer.trim().toUpperCase());
}
