import type { Block } from '../../../canonical/blocks.ts';
import type { GenerationRequest, Settings, Turn } from '../../../canonical/request.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';

export interface RenamedRequest {
  readonly request: GenerationRequest;
  /** Names as sent, to the caller's own; absent when all are. */
  readonly toolNames?: ReadonlyMap<string, string>;
}

/**
 * A request of another format whose tools go by names that this one takes: the messages format allows twice the length,
 * and agents use it (`mcp__plugin_...`). Callers of this format have had their names checked.
 */
export function renameTools(request: GenerationRequest): RenamedRequest {
  if (request.format === 'chat') return { request };
  const toolNames = new Map<string, string>();
  for (const tool of request.tools) {
    if (tool.type !== 'function') continue;
    const sent = legalToolName(tool.name);
    if (sent !== tool.name) toolNames.set(sent, tool.name);
  }
  const isLegal = (block: Block): boolean => block.type !== 'tool-call' || legalToolName(block.name) === block.name;
  if (toolNames.size === 0 && request.turns.every(({ blocks }) => blocks.every(isLegal))) return { request };
  const tools = request.tools.map((tool) =>
    tool.type === 'function' ? { ...tool, name: legalToolName(tool.name) } : tool,
  );
  const renamed = {
    ...request,
    tools,
    turns: request.turns.map(renameCalls),
    settings: renameChoice(request.settings),
  };
  return { request: renamed, toolNames };
}

function renameCalls(turn: Turn): Turn {
  const blocks = turn.blocks.map((block) =>
    block.type === 'tool-call' ? { ...block, name: legalToolName(block.name) } : block,
  );
  return { ...turn, blocks };
}

function renameChoice(settings: Settings): Settings {
  const { toolChoice } = settings;
  if (toolChoice?.type !== 'function') return settings;
  return { ...settings, toolChoice: { type: 'function', name: legalToolName(toolChoice.name) } };
}
