import { bash } from './bash/tool.ts';
import type { ServerTool } from './contract.ts';
import { datetime } from './datetime/tool.ts';
import { searchModels } from './search-models/tool.ts';
import { toolSearch } from './tool-search/tool.ts';
import { webFetch } from './web-fetch/tool.ts';
import { webSearch } from './web-search/tool.ts';

/** Every server tool that is built, under the type that callers write. @source generation.md 5.1 */
export const SERVER_TOOLS: ReadonlyMap<string, ServerTool> = new Map(
  [bash, datetime, searchModels, toolSearch, webFetch, webSearch].map((tool) => [tool.type, tool]),
);
