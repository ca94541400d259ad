import OpenAI from 'openai';
import { apiKey, modelOr, url } from '../gateway.ts';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const PASSAGES = [
  'The office opens at nine.',
  'Invoices are paid within thirty days.',
  'The office is closed on public holidays.',
  'Parking is behind the building.',
];
const question = 'When does the office open?';

const { data } = await client.embeddings.create({ model: 'sandbox/embed', input: [question, ...PASSAGES] });
const [asked = [], ...vectors] = data.map(({ embedding }) => embedding);
const nearest = PASSAGES.map((text, index) => ({ text, score: dot(asked, vectors[index] ?? []) }))
  .toSorted((one, other) => other.score - one.score)
  .slice(0, 3)
  .map(({ text }) => text);

const response = await fetch(`${url}/v1/rerank`, {
  method: 'POST',
  headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'sandbox/rerank', query: question, documents: nearest, top_n: 1 }),
});
const { results } = (await response.json()) as { results: { index: number }[] };
const source = nearest[results[0]?.index ?? 0] ?? '';

const { choices } = await client.chat.completions.create({
  model: modelOr('sandbox/echo'),
  messages: [
    { role: 'system', content: 'Answer from the source only.' },
    { role: 'user', content: `Source: ${source}\nQuestion: ${question}` },
  ],
});
console.log(choices[0]?.message.content);

function dot(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}
