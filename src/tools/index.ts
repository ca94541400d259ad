import { advisor } from './advisor/tool.ts';
import { bash } from './bash/tool.ts';
import type { RegisteredTool } from './contract.ts';
import { datetime } from './datetime/tool.ts';
import { fusion } from './fusion/tool.ts';
import { files } from './files/tool.ts';
import { imageGeneration } from './image-generation/tool.ts';
import { mcp } from './mcp/tool.ts';
import { searchModels } from './search-models/tool.ts';
import { subagent } from './subagent/tool.ts';
import { toolSearch } from './tool-search/tool.ts';
import { webFetch } from './web-fetch/tool.ts';
import { webSearch } from './web-search/tool.ts';

/** Every server tool that is built, under the type that callers write. @spec tool-1 */
export const SERVER_TOOLS: ReadonlyMap<string, RegisteredTool> = new Map<string, RegisteredTool>(
  [
    advisor,
    bash,
    datetime,
    files,
    fusion,
    imageGeneration,
    mcp,
    searchModels,
    subagent,
    toolSearch,
    webFetch,
    webSearch,
  ].map((tool) => [tool.type, tool]),
);
