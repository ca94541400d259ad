import type { PluginRequest } from './directives.ts';

/** One plugin as a workspace or a key sets it for requests that say nothing of it. @spec plugin-6 */
export interface DefaultPlugin extends PluginRequest {
  /** What a request says of it counts for nothing, nor what a key says where this is the workspace's. */
  readonly preventOverrides: boolean;
}
