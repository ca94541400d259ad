import type { Presets } from '../../accounts/presets.ts';
import { readWithPreset } from '../../http/generation/apply-preset.ts';
import type { ReadPreset } from '../../interns/agent-request.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { decodeHeaderDirectives } from '../../wire/gateway/headers.ts';

/** Reads what an agent calls its model with as a request of chat is read. Functions of callers are left out: it has none. */
export function createReadPreset(presets: Pick<Presets, 'use'>, chat: ClientFormat): ReadPreset {
  const headers = decodeHeaderDirectives({});
  return async (workspaceId, body) => {
    const sent = { principal: { workspaceId }, body, text: JSON.stringify(body), headers };
    const decode: ClientFormat['decodeRequest'] = (...read) => chat.decodeRequest(...read);
    const { directives, turns, tools, settings } = await readWithPreset(presets, 'chat', decode, sent);
    return {
      models: directives.models,
      instructions: turns
        .filter(({ role }) => role === 'system')
        .flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])))
        .join('\n\n'),
      tools: tools.filter((tool) => tool.type === 'server'),
      settings,
      provider: directives.provider,
    };
  };
}
