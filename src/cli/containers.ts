import { openConfiguredContainers, openConfiguredRuntime } from '../app/tools/container-area.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { ContainerError } from '../containers/contract.ts';
import { makeRootfs } from '../containers/rootfs.ts';
import { systemClock } from '../lib/clock.ts';
import { CommandError, unknownVerb, UsageError, type Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';

const VERBS = ['doctor', 'list', 'remove', 'rootfs'] as const;

/** `model-gateway containers`. */
export async function runContainers(args: readonly string[], io: Io): Promise<number> {
  const { values, words } = parseFlags(args, CONFIG_FLAGS);
  const [word, operand, ...more] = words;
  const verb = VERBS.find((known) => known === word);
  if (verb === undefined) throw unknownVerb('containers', word, VERBS);
  const takesOne = verb === 'remove' || verb === 'rootfs';
  if (takesOne && operand === undefined)
    throw new UsageError(
      `containers ${verb}: name ${verb === 'rootfs' ? 'a directory' : 'a container, as `list` shows it'}`,
    );
  const surplus = takesOne ? more[0] : operand;
  if (surplus !== undefined) throw new UsageError(`containers ${verb}: ${surplus}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  try {
    if (verb === 'rootfs') {
      const programs = await makeRootfs(operand ?? '');
      io.stdout.write(`Made ${operand ?? ''} of ${programs.length} programs. Name it in containers.rootfs.\n`);
    } else if (verb === 'doctor') {
      const { name, enforces } = await openConfiguredRuntime(config, io.env);
      io.stdout.write(`${name} holds: ${enforces.join(', ')}.\n`);
    } else {
      const none = { run: () => Promise.reject(new Error('Nothing is run here.')) };
      const containers = openConfiguredContainers(config, none, systemClock, () => undefined);
      if (verb === 'list')
        for (const { folder, manifest, lastActiveAtMs } of await containers.list())
          io.stdout.write(
            `${folder}  ${manifest === undefined ? 'unknown' : `${manifest.id} of ${manifest.workspaceId}`}  last used ${new Date(lastActiveAtMs).toISOString()}\n`,
          );
      else if (!(await containers.remove(operand ?? '')))
        throw new CommandError(`There is no container ${operand ?? ''}.`);
    }
    return 0;
  } catch (error) {
    if (error instanceof ContainerError) throw new CommandError(error.message);
    throw error;
  }
}
