import type { KeptShell } from '../../canonical/tools/shell.ts';
import type { Containers } from '../../containers/containers.ts';
import { folderOf } from '../../containers/manifest.ts';

/** Containers for what makes and removes its own. */
export function keptShell(containers: Containers): KeptShell {
  return {
    run: (call) => containers.run(call),
    async removeContainer(owner, id) {
      await containers.remove(folderOf(owner, id));
    },
  };
}
