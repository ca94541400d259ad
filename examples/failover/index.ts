import OpenAI from 'openai';
import { apiKey, modelOr, url } from '../gateway.ts';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const messages = [{ role: 'user' as const, content: 'Are you there?' }];

// The first model is down. The answer comes from the second one, and says so.
const body = { model: 'sandbox/error-503', models: [modelOr('sandbox/echo')], messages };
const answer = await client.chat.completions.create(body);
console.log(`${answer.model}: ${answer.choices[0]?.message.content}`);

// Without another model the caller learns what happened, with the provider's status.
try {
  await client.chat.completions.create({ model: 'sandbox/error-429', messages });
} catch (error) {
  if (!(error instanceof OpenAI.APIError)) throw error;
  console.log(`refused with ${error.status}`);
}

// A stream whose connection breaks half way ends with an error in the stream, never with a clean end.
try {
  const stream = await client.chat.completions.create({ model: 'sandbox/cut', messages, stream: true });
  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
  console.log('\nended');
} catch (error) {
  console.log(`\nbroke off: ${error instanceof Error ? error.message : String(error)}`);
}
