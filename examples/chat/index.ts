import OpenAI from 'openai';
import { apiKey, modelOr, url } from '../gateway.ts';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const model = modelOr('sandbox/echo');

const whole = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Good morning' }] });
console.log(whole.choices[0]?.message.content);

const stream = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: 'Count to three: one, two, three' }],
  stream: true,
  stream_options: { include_usage: true },
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  if (chunk.usage) console.log(`\n${chunk.usage.total_tokens} tokens`);
}
