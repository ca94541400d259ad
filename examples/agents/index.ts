import { createOpenAI } from '@ai-sdk/openai';
import { stepCountIs, ToolLoopAgent, tool } from 'ai';
import { z } from 'zod';
import { apiKey, modelOr, url } from '../gateway.ts';

// An agent of the AI SDK. Its provider is the gateway: any model, with fallbacks, limits and records behind it.
const gateway = createOpenAI({ baseURL: `${url}/v1`, apiKey });
const agent = new ToolLoopAgent({
  model: gateway.chat(modelOr('sandbox/tools')),
  instructions: 'You help travellers. Use the tools.',
  tools: {
    weather: tool({
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => {
        console.log(`the agent looks up the weather of ${city}`);
        return 'Rain all day.';
      },
    }),
  },
  stopWhen: stepCountIs(4),
});

const { text, steps, totalUsage } = await agent.generate({ prompt: 'Do I need an umbrella in Bergen?' });
console.log(text);
console.log(`${steps.length} steps, ${totalUsage.totalTokens} tokens`);
