import type { Recording } from '../support/recordings/recordings.ts';
import type { ReplayedProvider } from '../support/recordings/replay.ts';

const BEDROCK: ReplayedProvider = { adapter: 'bedrock', entry: { options: { region: 'us-east-1' } } };
/** Any host of the format: these two offer it beside their own, which the adapter does not know. */
const PLAIN_RESPONSES: ReplayedProvider = { adapter: 'perplexity' };

/** The adapter that calls each provider of the recordings; by recording, or provider and format, where it depends on that. */
const PLAYERS: Readonly<Record<string, ReplayedProvider>> = {
  anthropic: { adapter: 'anthropic' },
  azure: { adapter: 'azure' },
  bedrock: BEDROCK,
  cohere: { adapter: 'cohere' },
  deepseek: { adapter: 'deepseek' },
  'deepseek responses': PLAIN_RESPONSES,
  gemini: { adapter: 'google' },
  groq: { adapter: 'groq' },
  'messages-compatible': { adapter: 'messages-compatible' },
  mistral: { adapter: 'mistral' },
  openai: { adapter: 'openai' },
  // A model that the vendor serves in this format only.
  'openai responses': { adapter: 'openai', model: 'gpt-5.4-pro' },
  // Google's address in this format.
  'openai/compat-tool-call-without-id': { adapter: 'openai-compatible' },
  'openai-compatible': { adapter: 'openai-compatible' },
  openrouter: { adapter: 'openrouter' },
  'openrouter responses': PLAIN_RESPONSES,
  // Recorded before it ended its chat completions.
  perplexity: { adapter: 'openai-compatible' },
  xai: { adapter: 'xai' },
  'xai responses': { adapter: 'xai', model: 'grok-4-multi-agent' },
  zai: { adapter: 'z-ai' },
};

/** The configuration with which the gateway calls the provider of a recording. */
export function playerOf({ name, provider, format }: Recording): ReplayedProvider {
  const player = PLAYERS[name] ?? PLAYERS[`${provider} ${format}`] ?? PLAYERS[provider];
  if (player === undefined) throw new Error(`${name}: no adapter is named for ${provider}`);
  return player;
}
