import OpenAI from 'openai';
import { apiKey, modelOr, url } from '../gateway.ts';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
const model = modelOr('sandbox/echo');

const first = await client.responses.create({ model, input: 'My name is Ann.' });
console.log(first.output_text);

// The gateway has kept the first turn: it is not sent again.
const second = await client.responses.create({ model, previous_response_id: first.id, input: 'Say it again.' });
console.log(second.output_text);

const items = await client.responses.inputItems.list(second.id);
console.log(`${items.data.length} items of input`);
